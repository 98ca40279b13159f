// Given: operations on tensors that record themselves in a graph. The numbers come from module 1, the
// derivatives from module 2.
//
//   Tensor w = leaf(make({2, 1}, 0.5f));
//   Tensor loss = sum(square(matmul(x, w) - y));
//   backward(loss.node.get(), make(loss.sizes, 1));
//   ... w.node->gradient ...
#pragma once

#include "core/autodiff.h"

namespace course {

// x as a leaf: backward() adds to the gradient of its node.
Tensor leaf(Tensor x);

Tensor map(Op1 op, const Tensor& x);
Tensor zip(Op2 op, const Tensor& x, const Tensor& y);  // broadcasts
Tensor matmul(const Tensor& x, const Tensor& y);       // of two matrices
Tensor sum(const Tensor& x);                           // of all elements; the result has no dimensions

inline Tensor operator-(const Tensor& x) { return map(Op1::neg, x); }
inline Tensor exp(const Tensor& x) { return map(Op1::exp, x); }
inline Tensor log(const Tensor& x) { return map(Op1::log, x); }
inline Tensor relu(const Tensor& x) { return map(Op1::relu, x); }
inline Tensor sigmoid(const Tensor& x) { return map(Op1::sigmoid, x); }
inline Tensor tanh(const Tensor& x) { return map(Op1::tanh, x); }
inline Tensor square(const Tensor& x) { return map(Op1::square, x); }
inline Tensor operator+(const Tensor& x, const Tensor& y) { return zip(Op2::add, x, y); }
inline Tensor operator-(const Tensor& x, const Tensor& y) { return zip(Op2::sub, x, y); }
inline Tensor operator*(const Tensor& x, const Tensor& y) { return zip(Op2::mul, x, y); }
inline Tensor operator/(const Tensor& x, const Tensor& y) { return zip(Op2::div, x, y); }
inline Tensor maximum(const Tensor& x, const Tensor& y) { return zip(Op2::maximum, x, y); }

}  // namespace course
