// Activations as modules, from the rows of activations.def: of each element, but for GLU and the
// softmaxes, which work along a dimension.
#pragma once

#include "gradus/nn/functional/activation.h"
#include "gradus/nn/options_module.h"

namespace gradus::nn {

#define MODULE(Name, Options, ...)                              \
  struct Name##Impl : OptionsModule<Name##Impl, Options> {      \
    static constexpr const char* kName = #Name;                 \
    using OptionsModule::OptionsModule;                         \
    Tensor forward(const Tensor& input) { return __VA_ARGS__; } \
  };                                                            \
  GRADUS_MODULE(Name);
#define INPLACE(Name, function, ...) \
  MODULE(Name, Name##Options, functional::function(input, options))
#define ACTIVATION INPLACE
#define PLAIN(Name, function, ...) MODULE(Name, NoOptions, functional::function(input))
#include "gradus/nn/activations.def"

}  // namespace gradus::nn
