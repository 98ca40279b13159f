// poisson and binomial: counts drawn by their rates or probabilities.
#include <cmath>

#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/math/philox.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

// Drawn with a block for the key, and one for each element. x and y have one shape.
Tensor counted(CountOp op, const Tensor& x, const Tensor& y,
               const std::optional<Generator>& generator) {
  const Tensor out = raw::empty_like(x);
  const PhiloxState state =
      raw::take(generator, x.device(), philox::kElementsPerBlock * (x.numel() + 1));
  if (x.numel() > 0)
    backend(x).count(op, state, raw::contiguous(x), y.defined() ? raw::contiguous(y) : y, out);
  return out;
}

// Not on a GPU, which would have to be waited for: it reports a wrong rate at a later wait.
void check_rates(const Tensor& rates) {
  if (rates.numel() == 0 || !rates.is_cpu()) return;
  const double least = raw::item(raw::reduce(ReduceOp::amin, rates, {})).toDouble();
  const double most = raw::item(raw::reduce(ReduceOp::amax, rates, {})).toDouble();
  check(least >= 0 && std::isfinite(most),
        "poisson: invalid Poisson rate, expected rate to be non-negative: the least one is ", least,
        ", the largest ", most, "; clamp them, and leave out NaN and infinities");
}

}  // namespace

Tensor poisson(const Tensor& self, std::optional<Generator> generator) {
  self.operand("poisson");
  check<TypeError>(self.is_floating_point(), "poisson: the rates have dtype ", self.scalar_type(),
                   ", expected a floating point one; convert with .to(kFloat)");
  check_rates(self);
  const Tensor out = counted(CountOp::poisson, self, {}, generator);
  if (recording(self))
    record("PoissonBackward0", out, {self}, {},
           [](Node&, const Tensor& grad) { return Tensors{zeros_like(grad)}; });
  return out;
}

Tensor binomial(const Tensor& count, const Tensor& prob, std::optional<Generator> generator) {
  count.operand("binomial", "count");
  check<TypeError>(count.is_floating_point(), "binomial: count has dtype ", count.scalar_type(),
                   ", expected a floating point one; convert with .to(kFloat)");
  check<TypeError>(prob.dtype() == count.dtype(), "binomial: prob has dtype ", prob.dtype(),
                   ", count ", count.dtype(), "; convert one with .to(...)");
  raw::check_same_device("binomial", count, "count", prob, "prob");
  const Dims sizes = broadcast_shapes("binomial", count.sizes(), prob.sizes());
  const Tensor out =
      counted(CountOp::binomial, raw::expand(count, sizes), raw::expand(prob, sizes), generator);
  if (recording(count, prob))
    record("BinomialBackward0", out, {count, prob}, {},
           [](Node&, const Tensor& grad) { return Tensors(2, zeros_like(grad)); });
  return out;
}

}  // namespace gradus
