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

namespace {
double xavier_deviation(const Tensor& x) {
  check(x.dim() >= 2, "xavier: the tensor has shape ", x.sizes(),
        "; fans need at least 2 dimensions");
  const int64_t field = x.numel() / std::max<int64_t>(x.size(0) * x.size(1), 1);
  return std::sqrt(2.0 / static_cast<double>((x.size(0) + x.size(1)) * field));
}
}  // namespace

Tensor xavier_uniform_(Tensor tensor) {
  const double bound = std::sqrt(3.0) * xavier_deviation(tensor);
  return uniform_(std::move(tensor), -bound, bound);
}
Tensor xavier_normal_(Tensor tensor) {
  const double deviation = xavier_deviation(tensor);
  return normal_(std::move(tensor), 0, deviation);
}

}  // namespace gradus::nn::init
