// Registers the samples of samples/window.def with PyTorch's answers.
#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

const Registered window_samples{{
    "window",
    {
#include "tests/conformance/ops/samples/window.def"
    },
#include "tests/conformance/ops/samples/window.inc"
}};

}  // namespace
}  // namespace gradus::test
