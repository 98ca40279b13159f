// Convolutions: their parameters, and the function of so many dimensions.
#include "gradus/nn/modules/conv.h"

#include <cmath>

#include "gradus/autograd/ops/window/dims.h"
#include "gradus/nn/init.h"

namespace gradus::nn {

namespace functional {

namespace {
// f(padding): numbers, or a name.
template <size_t D, class F>
Tensor with_padding(const ConvPadding<D>& padding, const F& f) {
  if (!padding.name) return f(IntArrayRef(padding.amounts));
  return f(PaddingName(*padding.name == kSame ? "same" : "valid"));
}
}  // namespace

#define GRADUS_CONV(n)                                                                    \
  Tensor conv##n##d(const Tensor& input, const Tensor& weight,                            \
                    const Conv##n##dFuncOptions& options) {                               \
    return with_padding(options.padding(), [&](auto padding) {                            \
      return gradus::conv##n##d(input, weight, options.bias(), options.stride(), padding, \
                                options.dilation(), options.groups());                    \
    });                                                                                   \
  }                                                                                       \
  Tensor conv_transpose##n##d(const Tensor& input, const Tensor& weight,                  \
                              const ConvTranspose##n##dFuncOptions& options) {            \
    return gradus::conv_transpose##n##d(input, weight, options.bias(), options.stride(),  \
                                        options.padding(), options.output_padding(),      \
                                        options.groups(), options.dilation());            \
  }
GRADUS_CONV(1)
GRADUS_CONV(2)
GRADUS_CONV(3)
#undef GRADUS_CONV

}  // namespace functional

namespace {

template <class Layer>
void register_weights(Layer& layer, const char* name, int64_t first, int64_t second) {
  const auto& options = layer.options;
  const int64_t in = options.in_channels(), out = options.out_channels(), g = options.groups();
  check(in > 0 && out > 0 && g > 0, name,
        ": in_channels, out_channels and groups must be 1 or more, but they are ", in, ", ", out,
        " and ", g, "; give the channels of input and output");
  check(in % g == 0, name, ": in_channels must be divisible by groups, but they are ", in, " and ",
        g, "; give a divisor of both numbers of channels");
  check(out % g == 0, name, ": out_channels must be divisible by groups, but they are ", out,
        " and ", g, "; give a divisor of both numbers of channels");
  Dims shape{first, second / g};
  for (const int64_t size : options.kernel_size()) {
    check(size > 0, name, ": kernel_size must be 1 or more, but it is ",
          IntArrayRef(options.kernel_size()), "; give a size for each spatial dimension");
    shape.push_back(size);
  }
  layer.weight = layer.register_parameter("weight", empty(shape));
  layer.bias = options.bias() ? layer.register_parameter("bias", empty({out})) : Tensor();
  layer.reset_parameters();
}

void start_uniform(const Tensor& weight, const Tensor& bias) {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const double bound = 1 / std::sqrt(static_cast<double>(weight.numel() / weight.size(0)));
  init::uniform_(bias, -bound, bound);
}

const char* text_of(PaddingMode mode) {
  return mode == kReflect ? "kReflect" : mode == kReplicate ? "kReplicate" : "kCircular";
}

// Prints a convolution as libtorch does: options that differ from their defaults.
template <size_t D, class Options, class Padding>
void print_conv(std::ostream& stream, const std::type_info& type, const Options& options,
                const Padding& print_padding) {
  const ExpandingArray<D> ones = 1;
  stream << class_name(type) << '(' << options.in_channels() << ", " << options.out_channels()
         << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride();
  print_padding();
  if (options.dilation() != ones) stream << ", dilation=" << options.dilation();
  if constexpr (requires { options.output_padding(); })
    if (options.output_padding() != ExpandingArray<D>(0))
      stream << ", output_padding=" << options.output_padding();
  if (options.groups() != 1) stream << ", groups=" << options.groups();
  if (!options.bias()) stream << ", bias=" << std::boolalpha << false;
  if (options.padding_mode() != kZeros)
    stream << ", padding_mode=" << text_of(options.padding_mode());
  stream << ')';
}

// The padding that a convolution does by itself, as numbers for F::pad: the last dimension first.
template <size_t D>
std::vector<int64_t> pads_of(const ConvOptions<D>& options) {
  std::vector<int64_t> out;
  for (size_t d = D; d-- > 0;) {
    int64_t before = options.padding().amounts[d], after = before;
    if (options.padding().name) {
      const bool same = options.padding().name == kSame;
      const int64_t total =
          same ? autograd::window_extent("pad", options.kernel_size()[d], options.dilation()[d]) - 1
               : 0;
      before = total / 2, after = total - before;
    }
    out.push_back(before), out.push_back(after);
  }
  return out;
}

template <size_t D>
Tensor convolved(const Tensor& input, const Tensor& weight,
                 const functional::ConvFuncOptions<D>& options) {
  if constexpr (D == 1) return functional::conv1d(input, weight, options);
  if constexpr (D == 2) return functional::conv2d(input, weight, options);
  if constexpr (D == 3) return functional::conv3d(input, weight, options);
}
template <size_t D>
Tensor convolved(const Tensor& input, const Tensor& weight,
                 const functional::ConvTransposeFuncOptions<D>& options) {
  if constexpr (D == 1) return functional::conv_transpose1d(input, weight, options);
  if constexpr (D == 2) return functional::conv_transpose2d(input, weight, options);
  if constexpr (D == 3) return functional::conv_transpose3d(input, weight, options);
}

}  // namespace

template <class Derived, size_t D>
void ConvImpl<Derived, D>::reset() {
  const std::string name = short_class_name(typeid(Derived));
  check(options.padding().name != kSame || options.stride() == ExpandingArray<D>(1), name,
        ": padding='same' is not supported for strided convolutions, and stride is ",
        options.stride(), "; use stride 1, or say how much to pad");
  register_weights(*this, name.c_str(), options.out_channels(), options.in_channels());
}
template <class Derived, size_t D>
void ConvImpl<Derived, D>::reset_parameters() {
  start_uniform(weight, bias);
}
template <class Derived, size_t D>
void ConvImpl<Derived, D>::pretty_print(std::ostream& stream) const {
  const auto& padding = options.padding();
  print_conv<D>(stream, typeid(Derived), options, [&] {
    if (padding.name)
      stream << ", padding=" << (*padding.name == kSame ? "'same'" : "'valid'");
    else if (padding.amounts != ExpandingArray<D>(0))
      stream << ", padding=" << padding.amounts;
  });
}

template <class Derived, size_t D>
Tensor ConvImpl<Derived, D>::forward(const Tensor& input) {
  this->check_defined(input, "input");
  auto with = functional::ConvFuncOptions<D>()
                  .bias(bias)
                  .stride(options.stride())
                  .dilation(options.dilation())
                  .groups(options.groups());
  if (options.padding_mode() == kZeros)
    return convolved(input, weight, with.padding(options.padding()));
  return convolved(
      functional::pad(input,
                      functional::PadFuncOptions(pads_of(options)).mode(options.padding_mode())),
      weight, with);
}

template <class Derived, size_t D>
void ConvTransposeImpl<Derived, D>::reset() {
  register_weights(*this, short_class_name(typeid(Derived)).c_str(), options.in_channels(),
                   options.out_channels());
}
template <class Derived, size_t D>
void ConvTransposeImpl<Derived, D>::reset_parameters() {
  start_uniform(weight, bias);
}
template <class Derived, size_t D>
void ConvTransposeImpl<Derived, D>::pretty_print(std::ostream& stream) const {
  const auto& padding = options.padding();
  print_conv<D>(stream, typeid(Derived), options, [&] {
    if (padding != ExpandingArray<D>(0)) stream << ", padding=" << padding;
  });
}

template <class Derived, size_t D>
Tensor ConvTransposeImpl<Derived, D>::forward(
    const Tensor& input, const std::optional<std::vector<int64_t>>& output_size) {
  this->check_defined(input, "input");
  check(options.padding_mode() == kZeros, this->name(),
        ": Only `zeros` padding mode is supported for ", short_class_name(typeid(Derived)),
        "; use kZeros");
  ExpandingArray<D> more = options.output_padding();
  if (output_size) {
    check(output_size->size() >= D, this->name(), ": output_size is ", IntArrayRef(*output_size),
          ", expected a size for each of ", D, " spatial dimensions; give all of them");
    const ExpandingArray<D> wanted =
        IntArrayRef(*output_size)
            .slice(output_size->size() > D ? output_size->size() - D : 0,
                   std::min(output_size->size(), D));
    for (size_t d = 0; d < D; ++d) {
      const int64_t size = input.size(static_cast<int64_t>(d) - static_cast<int64_t>(D));
      const Checked first = Checked(size - 1) * options.stride()[d] -
                            Checked(2) * options.padding()[d] +
                            Checked(options.dilation()[d]) * (options.kernel_size()[d] - 1) + 1;
      const int64_t least = first.get(this->name(), "the least output size");
      const int64_t most =
          (first + options.stride()[d] - 1).get(this->name(), "the greatest output size");
      check(wanted[d] >= least && wanted[d] <= most, this->name(), ": requested an output size of ",
            IntArrayRef(*output_size), ", but valid sizes range from ", least, " to ", most,
            " in dimension ", d, " (for an input of ", input.sizes(), "); give one of them");
      (*more)[d] = wanted[d] - least;
    }
  }
  return convolved(input, weight,
                   functional::ConvTransposeFuncOptions<D>()
                       .bias(bias)
                       .stride(options.stride())
                       .padding(options.padding())
                       .output_padding(more)
                       .groups(options.groups())
                       .dilation(options.dilation()));
}

#define GRADUS_CONV(n)                         \
  template struct ConvImpl<Conv##n##dImpl, n>; \
  template struct ConvTransposeImpl<ConvTranspose##n##dImpl, n>;
GRADUS_CONV(1)
GRADUS_CONV(2)
GRADUS_CONV(3)
#undef GRADUS_CONV

}  // namespace gradus::nn
