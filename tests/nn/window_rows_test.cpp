// Convolutions and pools against PyTorch's: the rows of rows/window.def.
#include "tests/nn/rows.h"

namespace gradus::test {

static const ModuleRows window(
    "window", {
#include "tests/nn/rows/window.def"
    },
#include "tests/conformance/golden/rows/window.inc"
);

}  // namespace gradus::test
