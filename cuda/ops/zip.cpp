#include "gradus/cuda/ops/zip.h"

#include "gradus/cuda/backend.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

void CudaBackend::zip(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) {
  const ScalarType dtype = computed_type((x.is_number() ? y : x).tensor->dtype());
  visit_numbers(name_of(op), dtype, [&]<class T>(TypeTag<T>) { zip_of<T>(op, x, y, out); });
}

}  // namespace gradus::cuda
