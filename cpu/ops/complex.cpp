// Elementwise functions of complex numbers. A row is one function for a run of elements.
#include "gradus/cpu/ops/complex.h"

#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk/walk.h"
#include "gradus/tensor/math/complex_rows.h"
#include "gradus/tensor/raw/operand.h"

namespace gradus::cpu {

namespace {

constexpr int64_t kComplexGrain = kGrain / 8;

template <int N>
using ComplexRun = void (*)(int64_t n, const std::array<int64_t, N>& step,
                            const std::array<char*, N>& at);

// Elements after the first tensor's are read; Out is T or bool.
template <class Row, class Out, class T>
void map_complex_run(int64_t n, const std::array<int64_t, 2>& step,
                     const std::array<char*, 2>& at) {
  Out* const to = reinterpret_cast<Out*>(at[0]);
  const T* const x = reinterpret_cast<const T*>(at[1]);
  for (int64_t i = 0; i < n; ++i) to[i * step[0]] = Row::f(x[i * step[1]]);
}
template <class Row, class Out, class T>
void zip_complex_run(int64_t n, const std::array<int64_t, 3>& step,
                     const std::array<char*, 3>& at) {
  Out* const to = reinterpret_cast<Out*>(at[0]);
  const T* const x = reinterpret_cast<const T*>(at[1]);
  const T* const y = reinterpret_cast<const T*>(at[2]);
  for (int64_t i = 0; i < n; ++i) to[i * step[0]] = Row::f(x[i * step[1]], y[i * step[2]]);
}

template <int N>
void run_complex(ComplexRun<N> run, const std::array<const Tensor*, N>& tensors) {
  const Tensor& out = *tensors[0];
  std::array<IntArrayRef, N> strides;
  Dims broadcast[N];
  for (int i = 0; i < N; ++i) {
    broadcast[i] =
        broadcast_strides("zip", tensors[i]->sizes(), tensors[i]->strides(), out.sizes());
    strides[i] = broadcast[i];
  }
  const Strided<N> view = collapse<N>(out.sizes(), strides);
  const auto step = inner_strides(view);
  parallel_for(0, view.numel, share_of(view.numel, kComplexGrain), [&](int64_t begin, int64_t end) {
    walk(view, begin, end, [&](const auto& offset, int64_t n) {
      std::array<char*, N> at;
      for (int i = 0; i < N; ++i)
        at[i] = static_cast<char*>(tensors[i]->data_ptr()) + offset[i] * tensors[i]->element_size();
      run(n, step, at);
    });
  });
}

}  // namespace

void map_complex(UnaryOp op, const Tensor& x, const Tensor& out) {
  visit_complex_row(op, x.scalar_type(),
                    [&]<class Out, class T>(auto row, TypeTag<Out>, TypeTag<T>) {
                      run_complex<2>(map_complex_run<scalar::Unary<row.value>, Out, T>, {&out, &x});
                    });
}

void zip_complex(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) {
  const Tensor &a = *x.tensor, &b = *y.tensor;
  visit_complex_row(
      op, a.scalar_type(), [&]<class Out, class T>(auto row, TypeTag<Out>, TypeTag<T>) {
        run_complex<3>(zip_complex_run<scalar::Binary<row.value>, Out, T>, {&out, &a, &b});
      });
}

}  // namespace gradus::cpu
