#include "tests/ops/samples.h"

namespace gradus::test {
namespace {

const Registered family{{
    "compare",
    {
#include "tests/ops/samples/compare.def"
    },
#include "tests/ops/samples/compare.inc"
}};

}  // namespace
}  // namespace gradus::test
