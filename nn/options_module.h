// Modules that their options describe: constructors, printing, and the buffers of losses.
#pragma once

#include <tuple>
#include <utility>

#include "gradus/nn/cloneable.h"
#include "gradus/nn/options/field.h"

namespace gradus::nn {

// Derived has the name kName, and is constructed from what constructs its options. One with
// parameters has a constructor of its own, which calls reset().
template <class Derived, class Options>
class OptionsModule : public Cloneable<Derived> {
 public:
  template <class... Args>
  requires std::is_constructible_v<Options, Args...>
  explicit OptionsModule(Args&&... args)
      : Cloneable<Derived>(Derived::kName), options(std::forward<Args>(args)...) {}

  void reset() override {}
  // "gradus::nn::LeakyReLU(negative_slope=0.01)"
  void pretty_print(std::ostream& stream) const override {
    stream << "gradus::nn::" << Derived::kName << '(';
    print_fields(stream, options);
    stream << ')';
  }

  Options options;
};

// A loss whose options' tensors are the buffers that Derived::tensors() ties, in the same order.
// They move with the module, and the tensors of its options do not.
template <class Derived, class Options>
class LossModule : public OptionsModule<Derived, Options> {
 public:
  using OptionsModule<Derived, Options>::OptionsModule;

  void reset() override {
    for_each_buffer(this->options, [this](std::string_view name, const Tensor& given, Tensor& own) {
      own = this->register_buffer(std::string(name), given.defined() ? given.detach() : given);
    });
  }
  void pretty_print(std::ostream& stream) const override {
    stream << "gradus::nn::" << Derived::kName << "()";
  }

 protected:
  // The options with the module's own tensors.
  Options current() {
    Options out = this->options;
    for_each_buffer(out, [](std::string_view, Tensor& given, const Tensor& own) { given = own; });
    return out;
  }

 private:
  template <class F>
  void for_each_buffer(Options& of, const F& f) {
    std::vector<std::pair<std::string_view, Tensor*>> given;
    for_each_field(of, [&]<class T>(std::string_view name, T& value) {
      if constexpr (std::is_same_v<T, Tensor>) given.emplace_back(name, &value);
    });
    std::apply([&, next = given.begin()](
                   auto&... own) mutable { ((f(next->first, *next->second, own), ++next), ...); },
               static_cast<Derived&>(*this).tensors());
  }
};

}  // namespace gradus::nn
