#include "tests/ops/samples.h"

namespace gradus::test {
namespace {

const Registered family{{
    "order",
    {
#include "tests/ops/samples/order.def"
    },
#include "tests/ops/samples/order.inc"
}};

}  // namespace
}  // namespace gradus::test
