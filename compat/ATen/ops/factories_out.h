// The factories that write into a given tensor, of its dtype and device.
#pragma once

#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

namespace gradus {

inline Tensor& empty_out(Tensor& out, IntArrayRef size) { return out.resize_(size); }
inline Tensor& zeros_out(Tensor& out, IntArrayRef size) {
  return detail::write_out("zeros", out, zeros(size, out.options()));
}
inline Tensor& ones_out(Tensor& out, IntArrayRef size) {
  return detail::write_out("ones", out, ones(size, out.options()));
}
inline Tensor& full_out(Tensor& out, IntArrayRef size, const Scalar& fill_value) {
  return detail::write_out("full", out, full(size, fill_value, out.options()));
}
inline Tensor& eye_out(Tensor& out, int64_t n) {
  return detail::write_out("eye", out, eye(n, out.options()));
}
inline Tensor& eye_out(Tensor& out, int64_t n, int64_t m) {
  return detail::write_out("eye", out, eye(n, m, out.options()));
}
inline Tensor& arange_out(Tensor& out, const Scalar& end) {
  return detail::write_out("arange", out, arange(end, out.options()));
}
inline Tensor& arange_out(Tensor& out, const Scalar& start, const Scalar& end,
                          const Scalar& step = 1) {
  return detail::write_out("arange", out, arange(start, end, step, out.options()));
}
inline Tensor& linspace_out(Tensor& out, const Scalar& start, const Scalar& end, int64_t steps) {
  return detail::write_out("linspace", out, linspace(start, end, steps, out.options()));
}
inline Tensor& logspace_out(Tensor& out, const Scalar& start, const Scalar& end, int64_t steps,
                            double base = 10.0) {
  return detail::write_out("logspace", out, logspace(start, end, steps, base, out.options()));
}
inline Tensor& rand_out(Tensor& out, IntArrayRef size) {
  return detail::write_out("rand", out, rand(size, out.options()));
}
inline Tensor& randn_out(Tensor& out, IntArrayRef size) {
  return detail::write_out("randn", out, randn(size, out.options()));
}
inline Tensor& randperm_out(Tensor& out, int64_t n) {
  return detail::write_out("randperm", out, randperm(n, out.options()));
}

}  // namespace gradus
