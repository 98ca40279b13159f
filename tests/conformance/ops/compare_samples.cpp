// Registers the samples of samples/compare.def with PyTorch's answers.
#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

const Registered compare_samples{{
    "compare",
    {
#include "tests/conformance/ops/samples/compare.def"
    },
#include "tests/conformance/ops/samples/compare.inc"
}};

}  // namespace
}  // namespace gradus::test
