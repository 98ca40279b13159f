// All samples (samples.h).
#include "tests/conformance/ops/samples.h"

namespace gradus::test {

using namespace indexing;  // Slice, None, Ellipsis

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"activation",
       {
#include "tests/conformance/ops/samples/activation.def"
       }},
      {"compare",
       {
#include "tests/conformance/ops/samples/compare.def"
       }},
      {"creation",
       {
#include "tests/conformance/ops/samples/creation.def"
       }},
      // One sample for every row of the table; tests/autograd and tests/tensor have more for them.
      {"elementwise",
       {
#define UNARY(name, doc, ints, complex, lo, hi, ...) \
  SAMPLE(name, "uniform(" #lo ", " #hi ", 2, 3)", a)
#define BINARY(name, doc, ints, complex, xlo, xhi, ylo, yhi, ...) \
  SAMPLE(name, "uniform(" #xlo ", " #xhi ", 2, 3); uniform(" #ylo ", " #yhi ", 3)", a, b)
#define INTEGER(name, doc, ints, f, x, y, ...) \
  SAMPLE(name, "tensor([" #x ", 7, -9]); tensor([[" #y "], [4]])", a, b)
#define COMPARISON(name, ...) SAMPLE(name, "real([0, 1, 2]); real([0, 2, 1])", a, b)
#define PREDICATE(name, ...) SAMPLE(name, "real([0, -1, inf, -inf, nan])", a)
#include "gradus/tensor/table/elementwise.def"
       }},
      {"index",
       {
#include "tests/conformance/ops/samples/index.def"
       }},
      {"join",
       {
#include "tests/conformance/ops/samples/join.def"
       }},
      {"linalg",
       {
#include "tests/conformance/ops/samples/linalg.def"
       }},
      {"order",
       {
#include "tests/conformance/ops/samples/order.def"
       }},
      {"pointwise",
       {
#include "tests/conformance/ops/samples/pointwise.def"
       }},
      {"product",
       {
#include "tests/conformance/ops/samples/product.def"
       }},
      {"random",
       {
#include "tests/conformance/ops/samples/random.def"
       }},
      {"reduce",
       {
#include "tests/conformance/ops/samples/reduce.def"
       }},
      {"shape",
       {
#include "tests/conformance/ops/samples/shape.def"
       }},
      {"slice",
       {
#include "tests/conformance/ops/samples/slice.def"
       }},
      {"window",
       {
#include "tests/conformance/ops/samples/window.def"
       }},
  };
  return all;
}

}  // namespace gradus::test
