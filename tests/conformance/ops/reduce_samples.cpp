// Registers the samples of samples/reduce.def with PyTorch's answers.
#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

const Registered reduce_samples{{
    "reduce",
    {
#include "tests/conformance/ops/samples/reduce.def"
    },
#include "tests/conformance/ops/samples/reduce.inc"
}};

}  // namespace
}  // namespace gradus::test
