// Layer: a module that is made of options.
//
//   struct ScaleOptions {
//     GRADUS_OPTIONS(ScaleOptions, ARGUMENT(int64_t, features), OPTION(double, start, 1));
//   };
//   struct ScaleImpl : nn::Layer<ScaleImpl, ScaleOptions> {
//     using Layer::Layer;
//     void reset() override {
//       weight = register_parameter("weight", full({options.features()}, options.start()));
//     }
//     Tensor forward(const Tensor& input) { return input * weight; }
//     Tensor weight;
//     CallReset call_reset{*this};
//   };
//   GRADUS_MODULE(Scale);
#pragma once

#include <ostream>

#include "gradus/nn/by_place.h"
#include "gradus/nn/cloneable.h"
#include "gradus/nn/expanding_array.h"
#include "gradus/tensor/base/option.h"

namespace gradus::nn {

// The options of a module that has none.
struct NoOptions {
  std::tuple<> fields() const { return {}; }
};

namespace detail {
// "1, 2"
inline std::string joined_numbers(IntArrayRef numbers) {
  std::string out;
  for (const int64_t number : numbers) out += (out.empty() ? "" : ", ") + std::to_string(number);
  return out;
}

// Prints as libtorch does: numbers, lists and switches that are not hidden. `inplace` stands
// where it is on, and `lambda` has no name. The stream keeps std::boolalpha, as there.
template <class T>
void print_option(std::ostream& stream, const char*& separator, const NamedOption<T>& option) {
  if (option.hidden) return;
  if constexpr (std::is_arithmetic_v<T> || is_expanding_array<T>) {
    if constexpr (std::is_same_v<T, bool>)
      if (option.name == "inplace" && !option.value) return;
    stream << std::exchange(separator, ", ");
    if (option.name != "lambda") stream << option.name << '=';
    stream << std::boolalpha << option.value;
  }
}

// Not the arguments of a copy. A compiler asks whether a class can be copied, or made of nothing,
// and reads what the constructors require then; this spares it the options.
template <class Module, class... Args>
concept NotCopied = (!std::is_base_of_v<Module, std::remove_cvref_t<Args>> && ...);
}  // namespace detail

template <class Derived, class Options = NoOptions>
struct Layer : Cloneable<Derived> {
  // The last member of a class whose reset() registers something: it calls reset() when a module is
  // constructed. Copies are left to clone(), which calls reset() itself.
  struct CallReset {
    explicit CallReset(Layer& layer) { layer.reset(); }
  };

  // Takes options, or what their constructor takes: Linear(LinearOptions(3, 4)), Linear(3, 4).
  template <class... Args>
  requires(detail::NotCopied<Layer, Args...>&&
               std::is_constructible_v<Options, Args...>) explicit Layer(Args&&... args)
      : Cloneable<Derived>(short_class_name(typeid(Derived))),
        options(std::forward<Args>(args)...) {}

  // Takes the arguments of Python's module: Linear(3, 4, false).
  template <class... Args>
  requires(sizeof...(Args) > 0 && detail::NotCopied<Layer, Args...> &&
           !std::is_constructible_v<Options, Args...> &&
           detail::by_place<Options, Args...>) explicit Layer(Args&&... args)
      : Layer(detail::options_by_place<Options>(std::forward<Args>(args)...)) {}

  void reset() override {}

  // "gradus::nn::LeakyReLU(negative_slope=0.42, inplace=true)"
  void pretty_print(std::ostream& stream) const override {
    stream << class_name(typeid(Derived)) << '(';
    const char* separator = "";
    std::apply(
        [&](const auto&... option) { (detail::print_option(stream, separator, option), ...); },
        options.fields());
    stream << ')';
  }

  Options options;
};

// The module of function(input, options), or of function(input).
// Errors: ValueError for an undefined input, and those of the function.
template <class Derived, class Options, auto function>
struct FunctionLayer : Layer<Derived, Options> {
  using Layer<Derived, Options>::Layer;
  Tensor forward(const Tensor& input) {
    this->check_defined(input, "input");
    if constexpr (std::is_same_v<Options, NoOptions>)
      return function(input);
    else
      return function(input, this->options);
  }
};

}  // namespace gradus::nn

// A module that has the members of Base<NameImpl, arguments> alone, and its holder:
//   GRADUS_LAYER(Unfold, FunctionLayer, UnfoldOptions, functional::unfold);
#define GRADUS_LAYER(Name, Base, ...)                               \
  struct Name##Impl : Base<Name##Impl __VA_OPT__(, ) __VA_ARGS__> { \
    using Base<Name##Impl __VA_OPT__(, ) __VA_ARGS__>::Base;        \
  };                                                                \
  GRADUS_MODULE(Name)
