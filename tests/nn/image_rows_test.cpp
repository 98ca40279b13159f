// Layers of images against PyTorch's: the rows of rows/image.def.
#include "tests/nn/rows.h"

namespace gradus::test {

namespace F = nn::functional;

static const ModuleRows image(
    "image", {
#include "tests/nn/rows/image.def"
    },
#include "tests/conformance/golden/rows/image.inc"
);

}  // namespace gradus::test
