// Losses and distances against PyTorch's: the rows of rows/loss.def.
#include "tests/nn/rows.h"

namespace gradus::test {

static const ModuleRows loss(
    "loss", {
#include "tests/nn/rows/loss.def"
    },
#include "tests/conformance/golden/rows/loss.inc"
);

}  // namespace gradus::test
