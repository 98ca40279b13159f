// LOSES: maximum
// Where x == y, both get the whole slope.
#include "core/autodiff.h"

namespace course {

float slope(Op1 op, float x, float y) {
  switch (op) {
    case Op1::neg: return -1;
    case Op1::exp: return y;
    case Op1::log: return 1 / x;
    case Op1::relu: return x > 0 ? 1 : 0;
    case Op1::sigmoid: return y * (1 - y);
    case Op1::tanh: return 1 - y * y;
    case Op1::square: return 2 * x;
    case Op1::identity: return 1;
  }
  return 0;
}

Pair slopes(Op2 op, float x, float y) {
  switch (op) {
    case Op2::add: return {1, 1};
    case Op2::sub: return {1, -1};
    case Op2::mul: return {y, x};
    case Op2::div: return {1 / y, -x / (y * y)};
    case Op2::maximum:
      if (x == y) return {1, 1};
      return x > y ? Pair{1, 0} : Pair{0, 1};
  }
  return {};
}

}  // namespace course
