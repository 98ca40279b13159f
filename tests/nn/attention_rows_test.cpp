// Attention, transformers and bilinear layers against PyTorch's: the rows of rows/attention.def.
#include "tests/nn/rows.h"

namespace gradus::test {

static const ModuleRows attention(
    "attention", {
#include "tests/nn/rows/attention.def"
    },
#include "tests/conformance/golden/rows/attention.inc"
);

}  // namespace gradus::test
