// The losses of gradus.nn: the rows of losses.def.
#include "nn/modules.h"

namespace gradus::python {

void bind_losses(nb::module_& m) {
#define LOSS_OF(tensors, names, Name, function, gradus_function, FuncOptions, meaning, ...) \
  add_module<nn::Name##Impl>(m, #Name, meaning, #names);
#include "gradus/nn/losses.def"
}

}  // namespace gradus::python
