// The plain types that every task uses: sizes, layouts, matrices, and the operations on numbers.
#pragma once

#include <cmath>
#include <stdexcept>
#include <vector>

#ifdef __CUDACC__
#define COURSE_HD __host__ __device__
#else
#define COURSE_HD
#endif

namespace course {

// The sizes, strides or position of a tensor: one number for each dimension, the outermost first.
using Dims = std::vector<long>;

constexpr int kMaxRank = 4;

// Sizes and strides in a form that a kernel can take as an argument. The element at position
// (i0, i1, ...) is data[i0 * strides[0] + i1 * strides[1] + ...]. A stride of 0 repeats an element
// along its dimension: so an operand is broadcast without a copy. Strides are never below 0, as in PyTorch.
struct Layout {
  int rank = 0;
  long sizes[kMaxRank] = {}, strides[kMaxRank] = {};

  COURSE_HD long count() const {
    long n = 1;
    for (int d = 0; d < rank; ++d) n *= sizes[d];
    return n;
  }
};

// A matrix in memory: element (i, j) is data[i * row + j * column]. The transposed matrix is the
// same memory with row and column exchanged.
struct Mat {
  const float* data = nullptr;
  long row = 0, column = 0;
};

// Operations on one number, and on two.
enum class Op1 : int { neg, exp, log, relu, sigmoid, tanh, square, identity };
enum class Op2 : int { add, sub, mul, div, maximum };

COURSE_HD inline float apply(Op1 op, float x) {
  switch (op) {
    case Op1::neg: return -x;
    case Op1::exp: return expf(x);
    case Op1::log: return logf(x);
    case Op1::relu: return x > 0 ? x : 0;
    case Op1::sigmoid: return 1 / (1 + expf(-x));
    case Op1::tanh: return tanhf(x);
    case Op1::square: return x * x;
    case Op1::identity: return x;
  }
  return 0;
}

COURSE_HD inline float apply(Op2 op, float x, float y) {
  switch (op) {
    case Op2::add: return x + y;
    case Op2::sub: return x - y;
    case Op2::mul: return x * y;
    case Op2::div: return x / y;
    case Op2::maximum: return x > y ? x : y;
  }
  return 0;
}

// What a stub throws. The message is "task 3.7 is not implemented yet".
struct NotImplemented : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[noreturn]] void not_implemented(const char* task);

}  // namespace course
