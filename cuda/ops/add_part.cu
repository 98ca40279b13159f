// Starts the kernel that combines the parts of an all_reduce.
#include "gradus/cuda/ops/add_part.h"

#include "gradus/cuda/kernels/add_part.cuh"
#include "gradus/cuda/runtime/grid.h"

namespace gradus::cuda {

// So many for each multiprocessor: one has room beside a large product, all of them where it is
// idle.
constexpr int64_t kBlocks = 4;

bool takes_parts(const Tensor& x) {
  const bool computed = x.scalar_type() == kFloat || x.scalar_type() == kDouble;
  return computed && x.is_contiguous() &&
         reinterpret_cast<uintptr_t>(x.data_ptr()) % kAccessBytes == 0;
}

void add_part(void* sum, const void* part, int64_t numel, ScalarType dtype, double divisor,
              const Stream& stream) {
  visit_floating("add_part", dtype, [&]<class T>(TypeTag<T>) {
    const int64_t vectors = ceil_div(numel, int64_t{vector_width<T>});
    const DeviceGuard guard(stream.device_index());
    const int64_t most = kBlocks * getDeviceProperties(stream.device_index()).multiprocessors;
    const int64_t blocks = std::min(ceil_div(vectors, int64_t{kAddPartThreads}), most);
    launch_pdl(add_part_kernel<T>,
               {dim3(static_cast<unsigned>(blocks)), kAddPartThreads, 0,
                static_cast<cudaStream_t>(stream.handle())},
               static_cast<T*>(sum), static_cast<const T*>(part), numel, static_cast<T>(divisor));
  });
}

}  // namespace gradus::cuda
