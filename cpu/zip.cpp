#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk.h"
#include "gradus/tensor/dispatch.h"
#include "gradus/tensor/elementwise.h"

namespace gradus::cpu {

namespace {

// An operand in memory: a number is an element that is read again and again.
template <class T>
class Source {
 public:
  explicit Source(const Operand& operand)
      : tensor_(operand.tensor), number_(tensor_ ? T{} : operand.number.to<T>()) {}

  const T* data() const { return tensor_ ? static_cast<const T*>(tensor_->data_ptr()) : &number_; }
  bool contiguous() const { return !tensor_ || tensor_->is_contiguous(); }
  int64_t step() const { return tensor_ != nullptr; }  // REQUIRES: contiguous()
  IntArrayRef strides() const { return tensor_ ? tensor_->strides() : IntArrayRef(kZeros); }

 private:
  static constexpr std::array<int64_t, kMaxDims> kZeros{};
  const Tensor* tensor_;
  T number_;
};

template <BinaryOp op, class T, class R>
void zip_run(int64_t n, R* out, int64_t out_step, const T* x, int64_t x_step, const T* y,
             int64_t y_step) {
  constexpr auto f = [](T a, T b) { return scalar::Binary<op>::f(a, b); };
  if (out_step == 1 && x_step == 1 && y_step == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = f(x[i], y[i]);
  } else if (out_step == 1 && x_step == 1 && y_step == 0) {
    const T number = *y;
    for (int64_t i = 0; i < n; ++i) out[i] = f(x[i], number);
  } else if (out_step == 1 && x_step == 0 && y_step == 1) {
    const T number = *x;
    for (int64_t i = 0; i < n; ++i) out[i] = f(number, y[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i * out_step] = f(x[i * x_step], y[i * y_step]);
  }
}

template <BinaryOp op, class T>
void zip_tensor(const Operand& x_operand, const Operand& y_operand, const Tensor& out) {
  using R = std::conditional_t<scalar::Binary<op>::gives_bool, bool, T>;
  const Source<T> x(x_operand), y(y_operand);
  R* const to = static_cast<R*>(out.data_ptr());
  const T* const xs = x.data();
  const T* const ys = y.data();
  if (out.is_contiguous() && x.contiguous() && y.contiguous()) {
    const int64_t x_step = x.step(), y_step = y.step();
    parallel_for(0, out.numel(), kGrain, [&](int64_t begin, int64_t end) {
      zip_run<op>(end - begin, to + begin, 1, xs + begin * x_step, x_step, ys + begin * y_step,
                  y_step);
    });
    return;
  }
  const Strided<3> view = collapse<3>(out.sizes(), {out.strides(), x.strides(), y.strides()});
  const auto step = inner_strides(view);
  parallel_for(0, view.numel, kGrain, [&](int64_t begin, int64_t end) {
    walk(view, begin, end, [&](const auto& at, int64_t n) {
      zip_run<op>(n, to + at[0], step[0], xs + at[1], step[1], ys + at[2], step[2]);
    });
  });
}

}  // namespace

void CpuBackend::zip(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) {
  const ScalarType dtype = (x.is_number() ? y : x).tensor->dtype();
  visit_op(op, [&](auto row) {
    visit_computed<scalar::Binary<row.value>>(
        dtype, [&]<class T>(TypeTag<T>) { zip_tensor<row.value, T>(x, y, out); });
  });
}

}  // namespace gradus::cpu
