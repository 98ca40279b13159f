// The functions of Backend for normalisations of columns (NormalizedRows::columns).
#pragma once

#include <type_traits>

#include "gradus/tensor/base/normalized_rows.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// x, identity, y, grad, passed and out are of any floating type; all others of the one that it is
// computed in. after: what made y, the gradient of which is grad. Where a sum with identity is
// clamped, passed becomes the gradient of this sum, from which that of x is made as after nothing.
// eps: kNoEps, or rstd is the variance.
void normalize_by_columns(const NormalizedRows& rows, const AfterNorm& after, double eps,
                          const Tensor& x, const Tensor& identity, const Tensor& weight,
                          const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                          const Tensor& out);
void moments_of_columns(const NormalizedRows& rows, const Tensor& x, const Tensor& mean,
                        const Tensor& variance);
void statistics_of_columns(const NormalizedRows& rows, double eps, double momentum, const Tensor& x,
                           const Tensor& running_mean, const Tensor& running_var,
                           const Tensor& count, const Tensor& mean, const Tensor& rstd);
void sums_of_columns(const NormalizedRows& rows, const AfterNorm& after, const Tensor& grad,
                     const Tensor& x, const Tensor& y, const Tensor& weight, const Tensor& bias,
                     const Tensor& mean, const Tensor& rstd, const Tensor& of_weight,
                     const Tensor& of_bias, const Tensor& passed);
void grad_by_columns(const NormalizedRows& rows, const AfterNorm& after, const Tensor& grad,
                     const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean,
                     const Tensor& rstd, const Tensor& of_weight, const Tensor& of_bias,
                     const Tensor& out);

// f(a constant) for what `flag` is.
template <class F>
void with_flag(bool flag, const F& f) {
  flag ? f(std::true_type()) : f(std::false_type());
}
// f(a constant, a constant): whether it adds and clamps.
template <class F>
void with_after(const AfterNorm& after, const F& f) {
  with_flag(after.adds,
            [&](auto adds) { with_flag(after.clamps, [&](auto clamps) { f(adds, clamps); }); });
}
// The same for the mask of a backward pass, to which a sum that is not clamped is nothing.
template <class F>
void with_mask(const AfterNorm& after, const F& f) {
  with_flag(after.clamps, [&](auto clamps) {
    if constexpr (clamps)
      with_flag(after.adds, [&](auto adds) { f(adds, clamps); });
    else
      f(std::false_type(), clamps);
  });
}
// The bounds as numbers of another type.
template <class T>
Bounds<T> bounds_as(const Bounds<double>& of) {
  return {static_cast<T>(of.low), static_cast<T>(of.high)};
}

}  // namespace gradus::cuda
