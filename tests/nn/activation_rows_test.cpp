// Activations and dropouts against PyTorch's: the rows of rows/activation.def.
#include "tests/nn/rows.h"

namespace gradus::test {

static const ModuleRows activation(
    "activation", {
#include "tests/nn/rows/activation.def"
    },
#include "tests/conformance/golden/rows/activation.inc"
);

}  // namespace gradus::test
