// Registers the samples of samples/slice.def with PyTorch's answers.
#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

const Registered slice_samples{{
    "slice",
    {
#include "tests/conformance/ops/samples/slice.def"
    },
#include "tests/conformance/ops/samples/slice.inc"
}};

}  // namespace
}  // namespace gradus::test
