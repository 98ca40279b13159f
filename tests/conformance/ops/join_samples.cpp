// Registers the samples of samples/join.def with PyTorch's answers.
#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

const Registered join_samples{{
    "join",
    {
#include "tests/conformance/ops/samples/join.def"
    },
#include "tests/conformance/ops/samples/join.inc"
}};

}  // namespace
}  // namespace gradus::test
