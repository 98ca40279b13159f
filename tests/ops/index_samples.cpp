#include <cmath>

#include "tests/ops/samples.h"

namespace gradus::test {
namespace {

using namespace indexing;  // Slice, None, Ellipsis

const Registered family{{
    "index",
    {
#include "tests/ops/samples/index.def"
    },
#include "tests/ops/samples/index.inc"
}};

}  // namespace
}  // namespace gradus::test
