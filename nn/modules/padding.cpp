// Padding: the modes by name.
#include "gradus/nn/modules/padding.h"

#include "gradus/autograd/functions.h"

namespace gradus::nn::functional {

namespace {
std::string_view name_of(PaddingMode mode) {
  switch (mode) {
    case PaddingMode::Constant:
      return "constant";
    case PaddingMode::Reflect:
      return "reflect";
    case PaddingMode::Replicate:
      return "replicate";
    case PaddingMode::Circular:
      return "circular";
  }
  return "";
}
}  // namespace

Tensor pad(const Tensor& input, const PadFuncOptions& options) {
  return gradus::pad(input, options.pad(), name_of(options.mode()), options.value());
}

}  // namespace gradus::nn::functional
