// Linear and Bilinear: their parameters and their initial values.
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

void BilinearImpl::reset() {
  const int64_t in1 = options.in1_features(), in2 = options.in2_features();
  const int64_t out = options.out_features();
  check(in1 > 0 && in2 > 0 && out > 0, "Bilinear: in1_features = ", in1, ", in2_features = ", in2,
        " and out_features = ", out, "; all must be 1 or more");
  weight = register_parameter("weight", empty({out, in1, in2}));
  bias = register_parameter("bias", options.bias() ? empty({out}) : Tensor(), options.bias());
  reset_parameters();
}

void BilinearImpl::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(options.in1_features()));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

Tensor BilinearImpl::forward(const Tensor& input1, const Tensor& input2) {
  check_defined(input1, "input1"), check_defined(input2, "input2");
  return gradus::bilinear(input1, input2, weight, bias);
}

}  // namespace gradus::nn
