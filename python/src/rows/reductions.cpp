// Rows of functions.def as functions of Python: reduce.
#include "rows/macros.h"

namespace gradus::python {

void bind_reductions(const Scopes& scopes) {
#include "gradus/tensor/table/functions/reduce.def"
}

}  // namespace gradus::python
