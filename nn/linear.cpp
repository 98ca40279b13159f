#include "gradus/nn/linear.h"

#include <cmath>
#include <ostream>

#include "gradus/nn/init.h"

namespace gradus::nn {

LinearImpl::LinearImpl(const LinearOptions& options_) : Module("Linear"), options(options_) {
  check(options.in_features() > 0 && options.out_features() > 0,
        "Linear: in_features = ", options.in_features(),
        " and out_features = ", options.out_features(), "; both must be 1 or more");
  reset_parameters();
  weight = register_parameter("weight", weight);
  if (options.bias()) bias = register_parameter("bias", bias);
}

void LinearImpl::reset_parameters() {
  if (!weight.defined()) weight = empty({options.out_features(), options.in_features()});
  if (!bias.defined() && options.bias()) bias = empty({options.out_features()});
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  const double bound = 1 / std::sqrt(static_cast<double>(options.in_features()));
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

Tensor LinearImpl::forward(const Tensor& input) { return gradus::linear(input, weight, bias); }

void LinearImpl::pretty_print(std::ostream& stream) const {
  stream << "gradus::nn::Linear(in_features=" << options.in_features()
         << ", out_features=" << options.out_features()
         << ", bias=" << std::boolalpha << options.bias() << ')';
}

}  // namespace gradus::nn
