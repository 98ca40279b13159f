// Cross entropy of rows of logits against class numbers, and its gradient.
#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/softmax_loops.h"
#include "gradus/cpu/walk/index.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

// f(T(), the loops of a dtype, first, behind) for parts of the rows of x.
template <class F>
void for_rows(const Tensor& x, const F& f) {
  visit_floating("cross_entropy", x.dtype(), [&]<class T>(TypeTag<T>) {
    const int64_t rows = x.sizes()[0], grain = divide_up(kGrain / 8, x.sizes()[1]);
    parallel_for(0, rows, share_of(rows, grain), [&](int64_t begin, int64_t end) {
      f(T(), table_of<SoftmaxLoops<T>>(), begin, end);
    });
  });
}

// The sum of n losses over that of their factors, which are divided by it.
template <class T>
T averaged(int64_t n, const T* losses, T* factors) {
  double sum = 0, divisor = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += static_cast<double>(losses[i]);
    divisor += static_cast<double>(factors[i]);
  }
  for (int64_t i = 0; i < n; ++i) factors[i] /= static_cast<T>(divisor);
  return static_cast<T>(sum / divisor);
}

}  // namespace

void CpuBackend::cross_entropy(const CrossEntropyRule& rule, const Tensor& x, const Tensor& target,
                               const Tensor& weight, const Tensor& table, const Tensor& mean) {
  const int64_t count = x.sizes()[0], n = x.sizes()[1], apart = x.strides()[0];
  const int64_t* const targets = target.data_ptr<int64_t>();
  for_rows(x, [&]<class T>(T, const SoftmaxLoops<T>& loops, int64_t begin, int64_t end) {
    const T* const logits = x.data_ptr<T>();
    const T* const weights = weight.defined() ? weight.data_ptr<T>() : nullptr;
    T *const loss = table.data_ptr<T>(), *const factor = loss + count;  // loss: at first the mean
    T *const top = factor + count, *const log_sum = top + count;
    const T smoothing = static_cast<T>(rule.smoothing);
    loops.log_sums(n, end - begin, apart, logits + begin * apart, top + begin, log_sum + begin,
                   smoothing == 0 ? nullptr : loss + begin);
    for (int64_t i = begin; i < end; ++i) {
      const T smoothed = smoothing == 0 ? T(0) : smoothing * loss[i];
      factor[i] = loss[i] = 0;
      if (targets[i] == rule.ignored) continue;
      const int64_t place = checked_place(rule.classes, targets[i]);
      factor[i] = weights == nullptr ? T(1) : weights[place];
      const T hit = (1 - smoothing) * (logits[i * apart + place] - top[i]);
      loss[i] = factor[i] * (log_sum[i] - hit - smoothed);
    }
  });
  if (mean.defined())
    visit_floating("cross_entropy", x.dtype(), [&]<class T>(TypeTag<T>) {
      T* const loss = table.data_ptr<T>();
      *mean.data_ptr<T>() = averaged(count, loss, loss + count);
    });
}

void CpuBackend::cross_entropy_grad(const CrossEntropyRule& rule, const Tensor& grad,
                                    const Tensor& x, const Tensor& target, const Tensor& rows,
                                    const Tensor& out) {
  const int64_t count = x.sizes()[0], n = x.sizes()[1], apart = x.strides()[0];
  const int64_t* const targets = target.data_ptr<int64_t>();
  for_rows(x, [&]<class T>(T, const SoftmaxLoops<T>& loops, int64_t begin, int64_t end) {
    const T* const factor = rows.data_ptr<T>();
    const T *const top = factor + count, *const log_sum = top + count;
    const T smoothing = static_cast<T>(rule.smoothing);
    for (int64_t i = begin; i < end; ++i) {
      T* const to = out.data_ptr<T>() + i * n;
      if (targets[i] == rule.ignored) {
        std::fill_n(to, n, T(0));
        continue;
      }
      const T scale = factor[i] * grad.data_ptr<T>()[i * grad.strides()[0]];
      loops.less_than_share(n, x.data_ptr<T>() + i * apart, top[i], log_sum[i],
                            smoothing / static_cast<T>(n), scale, to);
      to[checked_place(rule.classes, targets[i])] -= scale * (1 - smoothing);
    }
  });
}

}  // namespace gradus::cpu
