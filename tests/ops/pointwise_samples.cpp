#include "tests/ops/samples.h"

namespace gradus::test {
namespace {

const Registered family{{
    "pointwise",
    {
#include "tests/ops/samples/pointwise.def"
    },
#include "tests/ops/samples/pointwise.inc"
}};

}  // namespace
}  // namespace gradus::test
