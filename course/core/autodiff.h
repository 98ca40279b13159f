// Module 2: automatic differentiation. Operations on tensors leave nodes behind, which form a graph;
// backward() walks it from a result to the leaves, and finds the derivative by each of them.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/types.h"

namespace course {

// Task 2.1. The derivative of apply(op, x) by x. y is apply(op, x), which is known already.
// The slope of relu at 0 is 0.
float slope(Op1 op, float x, float y);
struct Pair {
  float x, y;
};
// The derivatives of apply(op, x, y) by x and by y. Where x == y, each gets half of maximum's slope.
Pair slopes(Op2 op, float x, float y);

// Memory, which several tensors may share. The version counts how often somebody wrote to it.
struct Storage {
  std::vector<float> values;
  long version = 0;
};

struct Node;

// A contiguous row-major tensor: count() elements of the storage from `offset` on. A copy of a Tensor
// is another name for the same memory.
struct Tensor {
  Dims sizes;
  std::shared_ptr<Storage> storage;  // null: there is no tensor
  long offset = 0;
  std::shared_ptr<Node> node;  // what made it, or its leaf; null: nobody asks for its gradient

  bool empty() const { return storage == nullptr; }
  long count() const {
    long n = 1;
    for (const long size : sizes) n *= size;
    return n;
  }
  const float* read() const { return storage->values.data() + offset; }
  // For those who change elements: this is one write.
  float* write() const { return ++storage->version, storage->values.data() + offset; }
};

// A tensor with memory of its own, all of one value.
inline Tensor make(const Dims& sizes, float value = 0) {
  Tensor out{sizes, std::make_shared<Storage>(), 0, nullptr};
  out.storage->values.assign(static_cast<size_t>(out.count()), value);
  return out;
}

// Task 2.2. Undoes broadcasting: the sum of all elements of x that came from one element of a tensor
// of these sizes. Where the sizes are x's own, x itself, without a copy.
// Errors: std::invalid_argument where `sizes` do not broadcast to x.sizes.
Tensor sum_to(const Tensor& x, const Dims& sizes);

// An operation that was done, or a leaf: a tensor that the user wants the gradient of.
struct Node {
  // The nodes of the operands, in order; null for one whose gradient nobody asks for.
  std::vector<std::shared_ptr<Node>> inputs;
  // From the gradient of the result, the gradients of the operands, in order. It may give an empty
  // tensor where there is none, and the same memory more than once. A leaf has no such function.
  std::function<std::vector<Tensor>(const Tensor& gradient)> gradients;
  // Of a leaf: what backward() has added up so far; empty at first.
  Tensor gradient;

  Node() = default;
  ~Node();
};

// Node by node, since a graph may be deeper than the stack.
inline Node::~Node() {
  std::vector<std::shared_ptr<Node>> waiting = std::move(inputs);
  while (!waiting.empty()) {
    const std::shared_ptr<Node> node = std::move(waiting.back());
    waiting.pop_back();
    if (node == nullptr || node.use_count() > 1) continue;
    for (std::shared_ptr<Node>& each : node->inputs) waiting.push_back(std::move(each));
    node->inputs.clear();
  }
}

// Task 2.3. root and all nodes that it reaches by inputs, each once, and each before its own inputs.
// The graph may be 100,000 nodes deep, and a node may be reached in very many ways.
std::vector<Node*> order(Node* root);

// Task 2.4. gradient is that of root's result. Calls the function of each node that a gradient reaches
// once, with the sum of all that reaches it. What reaches a leaf is added to the leaf's gradient, which
// has memory of its own; what reaches another node is given back once its function was called. Changes no tensor
// that it was given. Uses order(); REQUIRES: no cycles.
void backward(Node* root, Tensor gradient);

// Task 2.5. A tensor that a node needs for its gradients, with the promise that it has not changed.
class Saved {
 public:
  // Keeps x's memory and its version of now; no copy of the elements, and not x.node.
  explicit Saved(const Tensor& x);
  // The tensor. Errors: std::runtime_error where the memory was written to since it was saved.
  Tensor get() const;

 private:
  Tensor tensor_;
  long version_ = 0;
};

// Task 2.6. A function of several numbers, and what somebody says its gradient is.
struct Function {
  std::function<double(const std::vector<double>& x)> value;
  std::function<std::vector<double>(const std::vector<double>& x)> gradient;
};
// Whether f's gradient at x is right: with h = step * max(1, |x[i]|), each element is within
// tolerance * max(1, |d|) of d = (f(x with x[i] + h) - f(x with x[i] - h)) / 2h. One number for each of x.
bool gradcheck(const Function& f, const std::vector<double>& x, double step = 1e-5, double tolerance = 1e-5);

}  // namespace course
