#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

const Registered family{{
    "random",
    {
#include "tests/conformance/ops/samples/random.def"
    },
#include "tests/conformance/ops/samples/random.inc"
}};

}  // namespace
}  // namespace gradus::test
