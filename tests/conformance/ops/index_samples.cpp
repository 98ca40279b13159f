// Registers the samples of samples/index.def with PyTorch's answers.
#include <cmath>

#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

using namespace indexing;  // Slice, None, Ellipsis

const Registered index_samples{{
    "index",
    {
#include "tests/conformance/ops/samples/index.def"
    },
#include "tests/conformance/ops/samples/index.inc"
}};

}  // namespace
}  // namespace gradus::test
