#include "gradus/cuda/add_part.h"

#include "gradus/cuda/grid.h"
#include "gradus/cuda/kernels/add_part.cuh"

namespace gradus::cuda {

// So many blocks keep up with the copies that bring the parts.
constexpr int64_t kMostBlocks = 256;

void add_part(void* sum, const void* part, int64_t numel, ScalarType dtype, double divisor,
              const Stream& stream) {
  visit_floating("add_part", dtype, [&]<class T>(TypeTag<T>) {
    const int64_t vectors = ceil_div(numel, int64_t{vector_width<T>});
    const int64_t blocks = std::min(ceil_div(vectors, int64_t{kThreads}), kMostBlocks);
    const DeviceGuard guard(stream.device_index());
    launch(add_part_kernel<T>,
           {dim3(static_cast<unsigned>(blocks)), kThreads, 0,
            static_cast<cudaStream_t>(stream.handle())},
           static_cast<T*>(sum), static_cast<const T*>(part), numel, static_cast<T>(divisor));
  });
}

}  // namespace gradus::cuda
