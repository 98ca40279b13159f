// SimpleImputer: what it learns of columns.
#include "gradus/data/transforms/imputer.h"

#include <utility>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

namespace gradus::data {

SimpleImputer::SimpleImputer(std::string strategy, double fill_value)
    : strategy_(std::move(strategy)), fill_value_(fill_value) {
  check(strategy_ == "mean" || strategy_ == "median" || strategy_ == "constant",
        "SimpleImputer: strategy is \"", strategy_,
        "\", expected \"mean\", \"median\" or \"constant\"");
}

SimpleImputer& SimpleImputer::fit(const Tensor& x) {
  constexpr const char* kOp = "SimpleImputer.fit";
  check(x.operand(kOp, "x").dim() > 0, kOp, ": x has no dimensions, expected rows in dimension 0");
  check<TypeError>(x.dtype() == kFloat || x.dtype() == kDouble, kOp, ": x has dtype ", x.dtype(),
                   ", expected float32 or float64, which hold NaN; convert with .to(kFloat)");
  const NoGradGuard guard;
  if (strategy_ == "constant") {
    statistics_ = full(x.sizes().slice(1), fill_value_, x.options());
    return *this;
  }
  const Tensor there = x.isnan().logical_not().any(0).reshape({-1});
  for (int64_t column = 0; column < there.numel(); ++column)
    check(there[column].item<bool>(), kOp, ": column ", column,
          " has no number to learn from; leave it out, or use \"constant\"");
  statistics_ = strategy_ == "mean" ? nanmean(x, 0) : nanquantile(x, 0.5, 0);
  return *this;
}

Tensor SimpleImputer::transform(const Tensor& x) const {
  constexpr const char* kOp = "SimpleImputer.transform";
  check(statistics_.defined(), kOp, ": nothing is learned yet; call fit() first");
  check(x.operand(kOp, "x").dim() > 0 && x.sizes().slice(1) == statistics_.sizes(), kOp,
        ": x has shape ", x.sizes(), ", and fit() saw columns of shape ", statistics_.sizes(),
        "; give it the same columns");
  return where(x.isnan(), statistics_.to(x.device(), x.scalar_type()), x);
}

}  // namespace gradus::data
