// histc and histogram.
#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/checked.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

#include <cmath>

namespace gradus {

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  raw::check_floating("histc", self);
  check(bins > 0, "histc: bins is ", bins, ", expected a positive number");
  const Tensor x = self.detach().reshape({-1}).to(computed_type(self.dtype()));
  double low = min.toDouble(), high = max.toDouble();
  const bool whole = low == high && x.numel() > 0;  // of x, in which all elements count
  if (whole) {
    const Tensor ends = raw::aminmax(x).to(kCPU, kDouble);
    low = ends[0].item<double>(), high = ends[1].item<double>();
  }
  if (low == high) low -= 1, high += 1;
  check(std::isfinite(low) && std::isfinite(high), "histc: the range [", low, ", ", high,
        "] is not finite; give min and max");
  check(low < high, "histc: min is ", low, ", max ", high, "; expected min <= max");
  const Tensor counts = raw::empty({bins}, kLong, x.device());
  backend(x).histc(whole, low, high, raw::contiguous(x), counts);
  return counts.to(self.dtype());
}

namespace {

void check_weight(const Tensor& self, const std::optional<Tensor>& weight) {
  raw::check_floating("histogram", self);
  if (!weight || !weight->defined()) return;
  raw::check_same_device("histogram", self, "self", *weight, "weight");
  check(weight->sizes() == self.sizes(), "histogram: weight has shape ", weight->sizes(), ", self ",
        self.sizes(), "; expected the same");
  check<TypeError>(weight->dtype() == self.dtype(), "histogram: weight has dtype ", weight->dtype(),
                   ", self ", self.dtype(), "; convert one with .to(...)");
}

// The last interval holds both its ends.
TensorPair counted(const Tensor& self, const Tensor& edges, const std::optional<Tensor>& weight,
                   bool density) {
  const int64_t bins = edges.numel() - 1;
  const Tensor x = self.detach().reshape({-1});
  const Tensor inside = logical_and(x >= edges[0], x <= edges[bins]);
  const Tensor bin = (searchsorted(edges, x, false, true) - 1).clamp(0, bins - 1);
  const TensorOptions wide = self.options().dtype(computed_type(self.dtype()));
  const Tensor worth = weight && weight->defined()
                           ? weight->detach().reshape({-1}).to(wide).masked_fill(~inside, 0)
                           : inside.to(wide);
  Tensor hist = zeros({bins}, wide).scatter_add(0, bin, worth);
  if (density) hist = hist / hist.sum() / edges.to(wide).diff();
  return {hist.to(self.dtype()), edges};
}

}  // namespace

TensorPair histogram(const Tensor& self, int64_t bins, std::optional<ArrayRef<double>> range,
                     const std::optional<Tensor>& weight, bool density) {
  check_weight(self, weight);
  check(bins > 0, "histogram: bins must be > 0, but got ", bins, "; give 1 or more");
  check(!range || range->size() == 2, "histogram: range has ", range ? range->size() : 0,
        " numbers, expected 2: the least and the greatest");
  double low = 0, high = 1;
  if (range)
    low = (*range)[0], high = (*range)[1];
  else if (self.numel() > 0)
    low = self.min().item<double>(), high = self.max().item<double>();
  check(std::isfinite(low) && std::isfinite(high), "histogram: range [", low, ", ", high,
        "] is not finite; give one");
  check(low <= high, "histogram: min should not exceed max, but got min ", low, " max ", high,
        "; swap the numbers of range");
  if (low == high) low -= 0.5, high += 0.5;
  return counted(self,
                 linspace(low, high, (Checked(bins) + 1).get("histogram", "the number of edges"),
                          self.options()),
                 weight, density);
}
TensorPair histogram(const Tensor& self, int64_t bins, std::optional<ArrayRef<double>> range) {
  return histogram(self, bins, range, std::nullopt, false);
}

TensorPair histogram(const Tensor& self, const Tensor& bins, const std::optional<Tensor>& weight,
                     bool density) {
  check_weight(self, weight);
  raw::check_same_device("histogram", self, "self", bins, "bins");
  check(bins.dim() == 1, "histogram: bins tensor should have one dimension, but got ", bins.dim(),
        " dimensions: shape ", bins.sizes(), "; flatten() it, or give a number of bins");
  check<TypeError>(bins.dtype() == self.dtype(), "histogram: bins has dtype ", bins.dtype(),
                   ", self ", self.dtype(), "; convert one with .to(...)");
  check(bins.numel() > 1, "histogram: bins has ", bins.numel(),
        " elements, expected 2 or more: the ends of intervals");
  return counted(self, bins.detach().clone(), weight, density);
}
TensorPair histogram(const Tensor& self, const Tensor& bins) {
  return histogram(self, bins, std::nullopt, false);
}

}  // namespace gradus
