#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk.h"
#include "gradus/tensor/dispatch.h"

namespace gradus::cpu {

namespace {

// Errors: IndexError unless every index lies in [0, size).
void check_indices(std::string_view op, const Tensor& index, int64_t dim, int64_t size) {
  const Strided<1> view = collapse<1>(index.sizes(), {index.strides()});
  const int64_t step = inner_strides(view)[0];
  const int64_t* const values = static_cast<const int64_t*>(index.data_ptr());
  parallel_for(0, view.numel, kGrain, [&](int64_t begin, int64_t end) {
    walk(view, begin, end, [&](const auto& at, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        const int64_t value = values[at[0] + i * step];
        check<IndexError>(value >= 0 && value < size, op, ": index ", value,
                          " is out of range for dimension ", dim, " of size ", size,
                          "; expected 0 <= index < ", size);
      }
    });
  });
}

// The strides of `tensor` where dim is not walked but indexed.
Dims without(const Tensor& tensor, int64_t dim) {
  Dims out(tensor.strides().data(), tensor.strides().size());
  if (!out.empty()) out[dim] = 0;
  return out;
}

int64_t size_of(const Tensor& tensor, int64_t dim) {
  return tensor.dim() ? tensor.sizes()[dim] : 1;
}
int64_t step_of(const Tensor& tensor, int64_t dim) {
  return tensor.dim() ? tensor.strides()[dim] : 0;
}

}  // namespace

void CpuBackend::gather(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& out) {
  check_indices("gather", index, dim, size_of(x, dim));
  const int64_t jump = step_of(x, dim);
  const Strided<3> view =
      collapse<3>(out.sizes(), {out.strides(), index.strides(), without(x, dim)});
  const auto step = inner_strides(view);
  visit_bits(out.element_size(), [&]<class T>(TypeTag<T>) {
    const T* const from = static_cast<const T*>(x.data_ptr());
    const int64_t* const which = static_cast<const int64_t*>(index.data_ptr());
    T* const to = static_cast<T*>(out.data_ptr());
    parallel_for(0, view.numel, kGrain, [&](int64_t begin, int64_t end) {
      walk(view, begin, end, [&](const auto& at, int64_t n) {
        for (int64_t i = 0; i < n; ++i)
          to[at[0] + i * step[0]] = from[at[2] + i * step[2] + which[at[1] + i * step[1]] * jump];
      });
    });
  });
}

void CpuBackend::scatter_add(int64_t dim, const Tensor& index, const Tensor& src,
                             const Tensor& out) {
  check_indices("scatter_add", index, dim, size_of(out, dim));
  const int64_t jump = step_of(out, dim);
  const Strided<3> view =
      collapse<3>(index.sizes(), {without(out, dim), index.strides(), src.strides()});
  const auto step = inner_strides(view);
  visit_numbers("scatter_add", out.dtype(), [&]<class T>(TypeTag<T>) {
    const T* const from = static_cast<const T*>(src.data_ptr());
    const int64_t* const which = static_cast<const int64_t*>(index.data_ptr());
    T* const to = static_cast<T*>(out.data_ptr());
    // One thread: the walk visits dim in increasing order, and so is the order of every sum.
    walk(view, 0, view.numel, [&](const auto& at, int64_t n) {
      for (int64_t i = 0; i < n; ++i)
        to[at[0] + i * step[0] + which[at[1] + i * step[1]] * jump] += from[at[2] + i * step[2]];
    });
  });
}

}  // namespace gradus::cpu
