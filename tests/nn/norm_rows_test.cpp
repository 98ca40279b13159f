// Normalisations against PyTorch's: the rows of rows/norm.def.
#include "tests/nn/rows.h"

namespace gradus::test {

static const ModuleRows norm(
    "norm", {
#include "tests/nn/rows/norm.def"
    },
#include "tests/conformance/golden/rows/norm.inc"
);

}  // namespace gradus::test
