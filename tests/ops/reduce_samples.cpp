#include "tests/ops/samples.h"

namespace gradus::test {
namespace {

const Registered family{{
    "reduce",
    {
#include "tests/ops/samples/reduce.def"
    },
#include "tests/ops/samples/reduce.inc"
}};

}  // namespace
}  // namespace gradus::test
