// Registers the samples of samples/random.def with PyTorch's answers.
#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

const Registered random_samples{{
    "random",
    {
#include "tests/conformance/ops/samples/random.def"
    },
#include "tests/conformance/ops/samples/random.inc"
}};

}  // namespace
}  // namespace gradus::test
