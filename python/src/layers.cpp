// The layers of gradus.nn, a row each.
#include "modules.h"

namespace gradus::python {
#define LAYER(name, ...) add_module<nn::name##Impl>(m, #name, nullptr, "" __VA_ARGS__);
void bind_layers(nb::module_& m) {
  LAYER(Linear)
  LAYER(Bilinear)
  LAYER(Identity)
  LAYER(Flatten)
}
void bind_activations(nb::module_& m) {
#define ACTIVATION(Name, function, meaning, ...) add_module<nn::Name##Impl>(m, #Name, meaning, "");
#define IN_PLACE(...) ACTIVATION(__VA_ARGS__)
#define SWITCH(...) ACTIVATION(__VA_ARGS__)
#define PLAIN(...) ACTIVATION(__VA_ARGS__)
#include "gradus/nn/activations.def"
}
void bind_functional(nb::module_& ) {}
}
