// Embeddings and recurrent layers against PyTorch's: the rows of rows/sequence.def.
#include "tests/nn/rows.h"

namespace gradus::test {

static const ModuleRows sequence(
    "sequence", {
#include "tests/nn/rows/sequence.def"
    },
#include "tests/conformance/golden/rows/sequence.inc"
);

}  // namespace gradus::test
