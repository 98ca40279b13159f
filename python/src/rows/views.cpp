// Rows of functions.def as functions of Python: alias copy shape slice index join order compare.
#include "rows/macros.h"

namespace gradus::python {

void bind_views(const Scopes& scopes) {
#include "gradus/tensor/table/functions/alias.def"
#include "gradus/tensor/table/functions/compare.def"
#include "gradus/tensor/table/functions/copy.def"
#include "gradus/tensor/table/functions/index.def"
#include "gradus/tensor/table/functions/join.def"
#include "gradus/tensor/table/functions/order.def"
#include "gradus/tensor/table/functions/shape.def"
#include "gradus/tensor/table/functions/slice.def"
}

}  // namespace gradus::python
