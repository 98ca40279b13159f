// Registers the samples of samples/shape.def with PyTorch's answers.
#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

const Registered family{{
    "shape",
    {
#include "tests/conformance/ops/samples/shape.def"
    },
#include "tests/conformance/ops/samples/shape.inc"
}};

}  // namespace
}  // namespace gradus::test
