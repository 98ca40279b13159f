// Registers the samples of samples/activation.def with PyTorch's answers.
#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

const Registered activation_samples{{
    "activation",
    {
#include "tests/conformance/ops/samples/activation.def"
    },
#include "tests/conformance/ops/samples/activation.inc"
}};

}  // namespace
}  // namespace gradus::test
