// gather, where, and the numbers that several index lists become (add_offsets).
#include "gradus/cuda/kernels/index.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

// Runs of elements that one number picks whole are copied 16 bytes at a time. Turns the walk and
// the jump of gather_kernel into those of such units, if all runs are made of them.
bool in_wide(Strided<3>& walk, int64_t& jump, const Tensor& out, const Tensor& x) {
  const auto unit = static_cast<int>(sizeof(Wide) / out.element_size());
  for (const Tensor* t : {&out, &x})
    if (reinterpret_cast<uintptr_t>(t->data_ptr()) % sizeof(Wide) != 0) return false;
  if (jump % unit != 0 || !widen<3>(walk, unit, {true, false, true})) return false;
  jump /= unit;
  return true;
}

}  // namespace

void CudaBackend::gather(const IndexRule& rule, const Tensor& x, int64_t dim, const Tensor& index,
                         const Tensor& out) {
  const Context context(out);
  Dims fixed = x.impl().strides;
  fixed[dim] = 0;
  auto walk = collapse<3>(out.sizes(), {out.strides(), index.strides(), fixed});
  int64_t jump = x.strides()[dim];
  const auto run = [&]<class T>(TypeTag<T>) {
    launch_pdl(gather_kernel<T>, linear_launch(context, ceil_div(walk.numel, int64_t{kIndexBatch})),
               walk, rule, jump, device_fault(), static_cast<T*>(out.data_ptr()),
               static_cast<const int64_t*>(index.data_ptr()), static_cast<const T*>(x.data_ptr()));
  };
  if (in_wide(walk, jump, out, x)) return run(TypeTag<Wide>{});
  visit_bits(out.element_size(), run);
}

void CudaBackend::add_offsets(const IndexRule& rule, int64_t stride, const Tensor& index,
                              const Tensor& out) {
  const Context context(out);  // whose device the record is of
  elementwise<int64_t, int64_t>(AddOffset{rule, stride, device_fault()}, out, out, index);
}

void CudaBackend::where(const Tensor& condition, const Operand& x, const Operand& y,
                        const Tensor& out) {
  if (out.numel() == 0) return;
  const Context context(out);
  const auto* const chosen = static_cast<const bool*>(condition.data_ptr());
  visit_bits(out.element_size(), [&]<class T>(TypeTag<T>) {
    T* const to = static_cast<T*>(out.data_ptr());
    if (x.is_number() || y.is_number()) {
      const Tensor& other = x.is_number() ? *y.tensor : *x.tensor;
      const auto walk =
          collapse<3>(out.sizes(), {out.strides(), condition.strides(), other.strides()});
      const Scalar& number = x.is_number() ? x.number : y.number;
      return launch_elementwise(
          context, WhereNumber<T>{bits_of<T>(number, out.scalar_type()), x.is_number()}, walk, to,
          chosen, static_cast<const T*>(other.data_ptr()));
    }
    const auto walk = collapse<4>(out.sizes(), {out.strides(), condition.strides(),
                                                x.tensor->strides(), y.tensor->strides()});
    launch_elementwise(context, Where{}, walk, to, chosen,
                       static_cast<const T*>(x.tensor->data_ptr()),
                       static_cast<const T*>(y.tensor->data_ptr()));
  });
}

}  // namespace gradus::cuda
