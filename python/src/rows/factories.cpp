// Rows of functions.def as functions of Python: those that make tensors.
#include "rows/macros.h"

namespace gradus::python {

void bind_factories(const Scopes& scopes) {
#include "gradus/tensor/table/functions/creation.def"
#include "gradus/tensor/table/functions/random.def"
}

}  // namespace gradus::python
