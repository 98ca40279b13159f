#include "tests/ops/samples.h"

namespace gradus::test {
namespace {

const Registered family{{
    "slice",
    {
#include "tests/ops/samples/slice.def"
    },
#include "tests/ops/samples/slice.inc"
}};

}  // namespace
}  // namespace gradus::test
