// Rows of functions.def as functions of Python: product linalg pointwise activation.
#include "rows/macros.h"

namespace gradus::python {

void bind_products(const Scopes& scopes) {
#include "gradus/tensor/table/functions/activation.def"
#include "gradus/tensor/table/functions/linalg.def"
#include "gradus/tensor/table/functions/pointwise.def"
#include "gradus/tensor/table/functions/product.def"
}

}  // namespace gradus::python
