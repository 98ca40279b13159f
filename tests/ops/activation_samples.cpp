#include "tests/ops/samples.h"

namespace gradus::test {
namespace {

const Registered family{{
    "activation",
    {
#include "tests/ops/samples/activation.def"
    },
#include "tests/ops/samples/activation.inc"
}};

}  // namespace
}  // namespace gradus::test
