// Registers the samples of samples/order.def with PyTorch's answers.
#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

const Registered order_samples{{
    "order",
    {
#include "tests/conformance/ops/samples/order.def"
    },
#include "tests/conformance/ops/samples/order.inc"
}};

}  // namespace
}  // namespace gradus::test
