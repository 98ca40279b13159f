#include "gradus/cuda/kernels/sgd.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/grid.h"

namespace gradus::cuda {

namespace {

// One launch. REQUIRES: at most kSgdTensors parameters, all of type T and on one device.
template <class T>
void step(const SgdSettings& settings, ArrayRef<SgdParameter> parameters) {
  SgdTable<T> table;
  unsigned blocks = 0;
  for (const SgdParameter& one : parameters) {
    const int i = table.count++;
    table.numel[i] = one.parameter.numel();
    table.parameter[i] = static_cast<T*>(one.parameter.data_ptr());
    table.gradient[i] = static_cast<const T*>(one.gradient.data_ptr());
    table.buffer[i] = one.buffer.defined() ? static_cast<T*>(one.buffer.data_ptr()) : nullptr;
    blocks += static_cast<unsigned>(ceil_div(table.numel[i], int64_t{kSgdChunk}));
    table.first_block[table.count] = blocks;
  }
  static_assert(sizeof(table) + sizeof(SgdCoefficients<T>) <= 4096);
  const Context context(parameters[0].parameter);
  launch(sgd_kernel<T>, {dim3(blocks), kSgdThreads, 0, context.stream}, table,
         SgdCoefficients<T>(settings));
}

bool alike(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.device() == b.device();
}

}  // namespace

void CudaBackend::sgd(const SgdSettings& settings, ArrayRef<SgdParameter> parameters) {
  for (size_t begin = 0, end; begin < parameters.size(); begin = end) {
    const Tensor& first = parameters[begin].parameter;
    end = begin + 1;
    while (end < parameters.size() && end - begin < kSgdTensors &&
           alike(parameters[end].parameter, first))
      ++end;
    visit_floating("sgd", first.dtype(), [&]<class T>(TypeTag<T>) {
      step<T>(settings, parameters.slice(begin, end - begin));
    });
  }
}

}  // namespace gradus::cuda
