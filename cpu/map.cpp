#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk.h"
#include "gradus/tensor/dispatch.h"
#include "gradus/tensor/elementwise.h"

namespace gradus::cpu {

namespace {

// Rows that make integers floating point call <cmath>, so fewer elements are worth a thread.
template <UnaryOp op>
constexpr int64_t grain = scalar::Unary<op>::integers ? kGrain : kGrain / 4;

template <UnaryOp op, class T, class R>
void map_run(int64_t n, R* out, int64_t out_step, const T* x, int64_t x_step) {
  if (out_step == 1 && x_step == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = scalar::Unary<op>::f(x[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i * out_step] = scalar::Unary<op>::f(x[i * x_step]);
  }
}

template <UnaryOp op, class T>
void map_tensor(const Tensor& x, const Tensor& out) {
  using R = std::conditional_t<scalar::Unary<op>::gives_bool, bool, T>;
  R* const to = static_cast<R*>(out.data_ptr());
  const T* const from = static_cast<const T*>(x.data_ptr());
  if (x.is_contiguous() && out.is_contiguous()) {
    parallel_for(0, out.numel(), grain<op>, [&](int64_t begin, int64_t end) {
      map_run<op>(end - begin, to + begin, 1, from + begin, 1);
    });
    return;
  }
  const Strided<2> view = collapse<2>(out.sizes(), {out.strides(), x.strides()});
  const auto step = inner_strides(view);
  parallel_for(0, view.numel, grain<op>, [&](int64_t begin, int64_t end) {
    walk(view, begin, end, [&](const auto& at, int64_t n) {
      map_run<op>(n, to + at[0], step[0], from + at[1], step[1]);
    });
  });
}

template <UnaryOp op, class T>
void map_grad_tensor(const Tensor& grad, const Tensor& x, const Tensor& y, const Tensor& out) {
  constexpr unsigned used = scalar::slope_uses<op>;
  // What the slope does not use is read as `grad`, whose value then changes nothing.
  const Tensor& x_read = used & scalar::kUsesX ? x : grad;
  const Tensor& y_read = used & scalar::kUsesY ? y : grad;
  T* const to = static_cast<T*>(out.data_ptr());
  const T* const g = static_cast<const T*>(grad.data_ptr());
  const T* const xs = static_cast<const T*>(x_read.data_ptr());
  const T* const ys = static_cast<const T*>(y_read.data_ptr());
  const auto term = [](T gradient, T x_value, T y_value) {
    return gradient * static_cast<T>(scalar::Unary<op>::slope(x_value, y_value));
  };
  const Strided<4> view =
      collapse<4>(out.sizes(), {out.strides(), grad.strides(), x_read.strides(), y_read.strides()});
  const auto step = inner_strides(view);
  parallel_for(0, view.numel, grain<op>, [&](int64_t begin, int64_t end) {
    if (view.contiguous()) {
      for (int64_t i = begin; i < end; ++i) to[i] = term(g[i], xs[i], ys[i]);
      return;
    }
    walk(view, begin, end, [&](const auto& at, int64_t n) {
      for (int64_t i = 0; i < n; ++i)
        to[at[0] + i * step[0]] =
            term(g[at[1] + i * step[1]], xs[at[2] + i * step[2]], ys[at[3] + i * step[3]]);
    });
  });
}

}  // namespace

void CpuBackend::map(UnaryOp op, const Tensor& x, const Tensor& out) {
  visit_op(op, [&](auto row) {
    visit_computed<scalar::Unary<row.value>>(
        x.dtype(), [&]<class T>(TypeTag<T>) { map_tensor<row.value, T>(x, out); });
  });
}

void CpuBackend::map_grad(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                          const Tensor& out) {
  visit_op(op, [&](auto row) {
    if constexpr (!scalar::Unary<row.value>::gives_bool)
      visit_floating(name_of(op), out.dtype(),
                     [&]<class T>(TypeTag<T>) { map_grad_tensor<row.value, T>(grad, x, y, out); });
  });
}

}  // namespace gradus::cpu
