// Registers the samples of samples/creation.def with PyTorch's answers.
#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

const Registered creation_samples{{
    "creation",
    {
#include "tests/conformance/ops/samples/creation.def"
    },
#include "tests/conformance/ops/samples/creation.inc"
}};

}  // namespace
}  // namespace gradus::test
