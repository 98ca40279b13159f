// Registers the samples of samples/pointwise.def with PyTorch's answers.
#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

const Registered pointwise_samples{{
    "pointwise",
    {
#include "tests/conformance/ops/samples/pointwise.def"
    },
#include "tests/conformance/ops/samples/pointwise.inc"
}};

}  // namespace
}  // namespace gradus::test
