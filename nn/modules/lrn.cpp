// LocalResponseNorm and CrossMapLRN2d: sums over windows of channels.
#include "gradus/nn/modules/lrn.h"

namespace gradus::nn {

namespace {

// input / (k + alpha / size * sum of input^2 over channels c - before to c + after)^beta
template <class Options>
Tensor normalized(const Tensor& input, int64_t before, int64_t after, const Options& options) {
  std::vector<int64_t> padding(static_cast<size_t>(input.dim() - 2) * 2, 0);
  padding.push_back(before), padding.push_back(after);
  const Tensor sums = gradus::pad(input.square(), padding).unfold(1, before + after + 1, 1).sum(-1);
  const double share = options.alpha() / static_cast<double>(options.size());
  return input / (sums * share + static_cast<double>(options.k())).pow(options.beta());
}

void check_size(const char* op, int64_t size) {
  check(size > 0, op, ": size must be 1 or more, but it is ", size,
        "; give the number of channels to sum over");
}

template <class Layer>
void print_lrn(std::ostream& stream, const Layer& layer) {
  const auto& options = layer.options;
  stream << class_name(typeid(layer)) << '(' << options.size() << ", alpha=" << options.alpha()
         << ", beta=" << options.beta() << ", k=" << options.k() << ')';
}

}  // namespace

Tensor functional::local_response_norm(const Tensor& input,
                                       const LocalResponseNormFuncOptions& options) {
  input.operand("local_response_norm");
  check(input.dim() >= 3, "local_response_norm: Expected 3D or higher dimensionality input (got ",
        input.dim(), " dimensions), (N, C, ...); it has shape ", input.sizes(), ", unsqueeze it");
  check_size("local_response_norm", options.size());
  return normalized(input, options.size() / 2, (options.size() - 1) / 2, options);
}

void LocalResponseNormImpl::pretty_print(std::ostream& stream) const { print_lrn(stream, *this); }

void CrossMapLRN2dImpl::pretty_print(std::ostream& stream) const { print_lrn(stream, *this); }
Tensor CrossMapLRN2dImpl::forward(const Tensor& input) {
  check_defined(input, "input");
  check(input.dim() == 4, "CrossMapLRN2d: expected 4D input (got ", input.dim(),
        "D input); it has shape ", input.sizes(), ", expected (N, C, H, W), unsqueeze it");
  check_size("CrossMapLRN2d", options.size());
  const int64_t side = (options.size() - 1) / 2;
  return normalized(input, side, side, options);
}

}  // namespace gradus::nn
