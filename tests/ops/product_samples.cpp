#include "tests/ops/samples.h"

namespace gradus::test {
namespace {

const Registered family{{
    "product",
    {
#include "tests/ops/samples/product.def"
    },
#include "tests/ops/samples/product.inc"
}};

}  // namespace
}  // namespace gradus::test
