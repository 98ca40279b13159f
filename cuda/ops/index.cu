// gather, where, and the numbers that several index lists become (add_offsets).
#include "gradus/cuda/kernels/index.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

struct alignas(16) Sixteen {
  int64_t half[2];
};

// Where one number picks whole runs of elements, these are copied 16 bytes at a time: turns the
// walk and the jump of gather_kernel into those of such units, if all runs are made of them.
bool in_sixteens(Strided<3>& walk, int64_t& jump, const Tensor& out, const Tensor& x) {
  const int last = walk.dims - 1;
  const auto unit = static_cast<int64_t>(sizeof(Sixteen) / out.element_size());
  if (last < 0 || walk.stride[0][last] != 1 || walk.stride[1][last] != 0 ||
      walk.stride[2][last] != 1 || walk.size[last] % unit != 0 || jump % unit != 0)
    return false;
  for (const Tensor* t : {&out, &x})
    if (reinterpret_cast<uintptr_t>(t->data_ptr()) % sizeof(Sixteen) != 0) return false;
  for (int d = 0; d < last; ++d)
    if (walk.stride[0][d] % unit != 0 || walk.stride[2][d] % unit != 0) return false;
  for (int d = 0; d < last; ++d) walk.stride[0][d] /= unit, walk.stride[2][d] /= unit;
  walk.size[last] /= unit, walk.numel /= unit, jump /= unit;
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
    launch_early(
        gather_kernel<T>, linear_launch(context, ceil_div(walk.numel, int64_t{kGatherBatch})), walk,
        rule, jump, device_fault(), static_cast<T*>(out.data_ptr()),
        static_cast<const int64_t*>(index.data_ptr()), static_cast<const T*>(x.data_ptr()));
  };
  if (in_sixteens(walk, jump, out, x)) return run(TypeTag<Sixteen>{});
  visit_bits(out.element_size(), run);
}

void CudaBackend::add_offsets(const IndexRule& rule, int64_t stride, const Tensor& index,
                              const Tensor& out) {
  const Context context(out);  // whose device the record is of
  elementwise<int64_t, int64_t>(AddOffset{rule, stride, device_fault()}, out, out, index);
}

void CudaBackend::where(const Tensor& condition, const Tensor& x, const Tensor& y,
                        const Tensor& out) {
  if (out.numel() == 0) return;
  const Context context(out);
  const auto walk =
      collapse<4>(out.sizes(), {out.strides(), condition.strides(), x.strides(), y.strides()});
  visit_bits(out.element_size(), [&]<class T>(TypeTag<T>) {
    launch_elementwise(context, Where{}, walk, static_cast<T*>(out.data_ptr()),
                       static_cast<const bool*>(condition.data_ptr()),
                       static_cast<const T*>(x.data_ptr()), static_cast<const T*>(y.data_ptr()));
  });
}

}  // namespace gradus::cuda
