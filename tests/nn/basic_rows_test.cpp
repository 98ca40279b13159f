// Linear layers, shapes and containers against PyTorch's: the rows of rows/basic.def.
#include "tests/nn/rows.h"

namespace gradus::test {

static const ModuleRows basic(
    "basic", {
#include "tests/nn/rows/basic.def"
    },
#include "tests/conformance/golden/rows/basic.inc"
);

}  // namespace gradus::test
