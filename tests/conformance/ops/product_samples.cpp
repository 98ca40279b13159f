// Registers the samples of samples/product.def with PyTorch's answers.
#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

const Registered product_samples{{
    "product",
    {
#include "tests/conformance/ops/samples/product.def"
    },
#include "tests/conformance/ops/samples/product.inc"
}};

}  // namespace
}  // namespace gradus::test
