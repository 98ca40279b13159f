// Rows of functions.def as functions of Python: window spectral.
#include "rows/macros.h"

namespace gradus::python {

void bind_windows(const Scopes& scopes) {
#include "gradus/tensor/table/functions/spectral.def"
#include "gradus/tensor/table/functions/window.def"
}

}  // namespace gradus::python
