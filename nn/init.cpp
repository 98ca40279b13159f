// Initial values of parameters.
#include "gradus/nn/init.h"

#include <cmath>

#include "gradus/autograd/engine/grad_mode.h"

namespace gradus::nn::init {

Tensor uniform_(Tensor tensor, double low, double high) {
  const NoGradGuard guard;
  return tensor.uniform_(low, high);
}
Tensor normal_(Tensor tensor, double mean, double std) {
  const NoGradGuard guard;
  return tensor.normal_(mean, std);
}
Tensor constant_(Tensor tensor, const Scalar& value) {
  const NoGradGuard guard;
  return tensor.fill_(value);
}
Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }
Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }

Tensor kaiming_uniform_(Tensor tensor, double a) {
  check(tensor.dim() >= 2, "kaiming_uniform_: the tensor has shape ", tensor.sizes(),
        "; fan_in needs at least 2 dimensions");
  int64_t fan_in = 1;
  for (int64_t d = 1; d < tensor.dim(); ++d) fan_in *= tensor.size(d);
  if (fan_in == 0) return tensor;
  const double bound = std::sqrt(6.0 / ((1 + a * a) * static_cast<double>(fan_in)));
  return uniform_(std::move(tensor), -bound, bound);
}

}  // namespace gradus::nn::init
