// bartlett, blackman, hamming, hann and kaiser windows: functions of t = 2 x / N - 1, from -1 up
// to 1.
#include <cmath>

#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

namespace gradus {

namespace {
template <class F>
Tensor window(const char* op, int64_t length, bool periodic, const TensorOptions& options, F f) {
  check(length >= 0, op, ": ", op,
        " requires non-negative window_length, got window_length=", length);
  check<TypeError>(isFloatingType(options.dtype()), op, ": ", op,
                   " expects floating point dtypes, got: ", options.dtype(), "; use kFloat");
  if (length <= 1) return ones({length}, options);
  const auto end = static_cast<double>(periodic ? length : length - 1);
  const Tensor x = arange(length, options.dtype(kDouble).requires_grad(false));
  // So that both ends are exact.
  const Tensor t = (x * 2 - end) / end;
  return f(t).to(options.dtype()).set_requires_grad(options.requires_grad());
}

Tensor cosines(const char* op, int64_t length, bool periodic, double alpha, double beta,
               const TensorOptions& options) {
  return window(op, length, periodic, options,
                [=](const Tensor& t) { return (t * M_PI).cos() * beta + alpha; });
}
}  // namespace

Tensor hann_window(int64_t window_length, bool periodic, const TensorOptions& options) {
  return cosines("hann_window", window_length, periodic, 0.5, 0.5, options);
}
Tensor hamming_window(int64_t window_length, bool periodic, double alpha, double beta,
                      const TensorOptions& options) {
  return cosines("hamming_window", window_length, periodic, alpha, beta, options);
}
Tensor hamming_window(int64_t window_length, bool periodic, double alpha,
                      const TensorOptions& options) {
  return hamming_window(window_length, periodic, alpha, 0.46, options);
}
Tensor hamming_window(int64_t window_length, bool periodic, const TensorOptions& options) {
  return hamming_window(window_length, periodic, 0.54, options);
}

Tensor blackman_window(int64_t window_length, bool periodic, const TensorOptions& options) {
  return window("blackman_window", window_length, periodic, options, [](const Tensor& t) {
    return (t * M_PI).cos() * 0.5 + (t * (2 * M_PI)).cos() * 0.08 + 0.42;
  });
}

Tensor bartlett_window(int64_t window_length, bool periodic, const TensorOptions& options) {
  return window("bartlett_window", window_length, periodic, options,
                [](const Tensor& t) { return 1 - t.abs(); });
}

Tensor kaiser_window(int64_t window_length, bool periodic, double beta,
                     const TensorOptions& options) {
  return window("kaiser_window", window_length, periodic, options, [beta](const Tensor& t) {
    return i0((1 - t * t).sqrt() * beta) / i0(full({}, beta, t.options()));
  });
}
Tensor kaiser_window(int64_t window_length, bool periodic, const TensorOptions& options) {
  return kaiser_window(window_length, periodic, 12.0, options);
}

Tensor hann_window(int64_t window_length, const TensorOptions& options) {
  return hann_window(window_length, true, options);
}
Tensor hamming_window(int64_t window_length, const TensorOptions& options) {
  return hamming_window(window_length, true, options);
}
Tensor blackman_window(int64_t window_length, const TensorOptions& options) {
  return blackman_window(window_length, true, options);
}
Tensor bartlett_window(int64_t window_length, const TensorOptions& options) {
  return bartlett_window(window_length, true, options);
}
Tensor kaiser_window(int64_t window_length, const TensorOptions& options) {
  return kaiser_window(window_length, true, options);
}

}  // namespace gradus
