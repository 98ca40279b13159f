// One sample for every row of elementwise.def; tests/autograd and tests/tensor have more for them.
#include "tests/conformance/ops/samples.h"

namespace gradus::test {
namespace {

const Registered elementwise_samples{{
    "elementwise",
    {
#define UNARY(name, doc, ints, lo, hi, ...) SAMPLE(name, "uniform(" #lo ", " #hi ", 2, 3)", a)
#define BINARY(name, doc, ints, xlo, xhi, ylo, yhi, ...) \
  SAMPLE(name, "uniform(" #xlo ", " #xhi ", 2, 3); uniform(" #ylo ", " #yhi ", 3)", a, b)
#define INTEGER(name, doc, ints, f, x, y, ...) \
  SAMPLE(name, "tensor([" #x ", 7, -9]); tensor([[" #y "], [4]])", a, b)
#define COMPARISON(name, ...) SAMPLE(name, "real([0, 1, 2]); real([0, 2, 1])", a, b)
#define PREDICATE(name, ...) SAMPLE(name, "real([0, -1, inf, -inf, nan])", a)
#include "gradus/tensor/table/elementwise.def"
    },
#include "tests/conformance/ops/samples/elementwise.inc"
}};

}  // namespace
}  // namespace gradus::test
