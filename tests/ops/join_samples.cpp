#include "tests/ops/samples.h"

namespace gradus::test {
namespace {

const Registered family{{
    "join",
    {
#include "tests/ops/samples/join.def"
    },
#include "tests/ops/samples/join.inc"
}};

}  // namespace
}  // namespace gradus::test
