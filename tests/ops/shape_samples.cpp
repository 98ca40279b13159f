#include "tests/ops/samples.h"

namespace gradus::test {
namespace {

const Registered family{{
    "shape",
    {
#include "tests/ops/samples/shape.def"
    },
#include "tests/ops/samples/shape.inc"
}};

}  // namespace
}  // namespace gradus::test
