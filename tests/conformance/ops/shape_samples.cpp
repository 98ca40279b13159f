// Registers the samples of samples/shape.def with PyTorch's answers.
#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

const Registered shape_samples{{
    "shape",
    {
#include "tests/conformance/ops/samples/shape.def"
    },
#include "tests/conformance/ops/samples/shape.inc"
}};

}  // namespace
}  // namespace gradus::test
