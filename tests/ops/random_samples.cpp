#include "tests/ops/samples.h"

namespace gradus::test {
namespace {

const Registered family{{
    "random",
    {
#include "tests/ops/samples/random.def"
    },
#include "tests/ops/samples/random.inc"
}};

}  // namespace
}  // namespace gradus::test
