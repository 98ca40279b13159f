#include "tests/ops/samples.h"

namespace gradus::test {
namespace {

const Registered family{{
    "creation",
    {
#include "tests/ops/samples/creation.def"
    },
#include "tests/ops/samples/creation.inc"
}};

}  // namespace
}  // namespace gradus::test
