// Norms of channels, and activations with weights, against PyTorch's: rows/channel.def.
#include "tests/nn/rows.h"

namespace gradus::test {

static const ModuleRows channel(
    "channel", {
#include "tests/nn/rows/channel.def"
    },
#include "tests/conformance/golden/rows/channel.inc"
);

}  // namespace gradus::test
