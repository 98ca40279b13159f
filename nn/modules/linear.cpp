// Linear: its parameters and their initial values.
#include "gradus/nn/modules/linear.h"

#include <cmath>

#include "gradus/nn/init.h"

namespace gradus::nn {

void LinearImpl::reset() {
  check(options.in_features() > 0 && options.out_features() > 0,
        "Linear: in_features = ", options.in_features(),
        " and out_features = ", options.out_features(), "; both must be 1 or more");
  weight = register_parameter("weight", empty({options.out_features(), options.in_features()}));
  bias = options.bias() ? register_parameter("bias", empty({options.out_features()})) : Tensor();
  reset_parameters();
}

void LinearImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  const double bound = 1 / std::sqrt(static_cast<double>(options.in_features()));
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

Tensor LinearImpl::forward(const Tensor& input) {
  check_defined(input, "input");
  return gradus::linear(input, weight, bias);
}

}  // namespace gradus::nn
