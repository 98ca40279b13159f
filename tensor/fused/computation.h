// A function of tensors as data: elementwise operations and reductions, one expression each. A
// Tracer records it, make_plan() cuts it into kernels, and Backend::fused runs a kernel in one
// pass.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "gradus/tensor/backend.h"

namespace gradus::fused {

// input: elements of a tensor. view: elements of an earlier value as they lie in memory once it is
// stored; so a view parts two kernels. product: of two matrices, or of two batches of them; it is
// no part of a kernel either. row_sums: of the first factor of a product, computed beside it.
enum class Kind : uint8_t {
  input,
  view,
  number,
  map,
  map_grad,
  zip,
  ternary,
  where,
  convert,
  reduce,
  product,
  row_sums
};

// A value that is computed from earlier ones. They broadcast to its sizes, except for product, and
// for reduce, whose result keeps size 1 in the reduced dimensions.
struct Expr {
  Kind kind = Kind::number;
  uint8_t op = 0;  // the row of the kind's table: a UnaryOp, BinaryOp, TernaryOp or ReduceOp
  ScalarType dtype = kFloat;
  Dims sizes = {};
  std::array<int, 3> operands = {-1, -1, -1};
  Scalar number = {};  // the value of a number; w of ternary
  int input = -1;      // of an input: which of the tensors
  // Where the elements lie, counted in elements: for an input or a view from the first of the
  // tensor, for other values in a tensor that keeps them.
  Dims strides = {};
  int64_t offset = 0;
};

// Expressions in an order in which each follows its operands.
struct Computation {
  std::vector<Expr> exprs;
  std::vector<int> outputs;
};

// What a backend has made of a kernel, kept with it.
class Forms {
 public:
  // The form of that number, which make() returns at the first call. Stays where it is.
  template <class T, class Make>
  const T& get(int number, Make make) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const void>& form = all_[number];
    if (!form) form = std::make_shared<const T>(make());
    return *static_cast<const T*>(form.get());
  }

 private:
  std::mutex mutex_;
  std::map<int, std::shared_ptr<const void>> all_;
};

// A computation whose expressions are computed together, for each element of the domain. What it
// reduces are the dimensions of the domain from `columns` on; where it reduces nothing that is
// their number.
struct Kernel {
  Computation computation;
  Dims domain;
  int64_t columns = 0;
  std::shared_ptr<Forms> forms = std::make_shared<Forms>();
};

// Whether the value is one that a kernel keeps for a row: with size 1 from kernel.columns on.
bool is_of_row(const Kernel& kernel, const Expr& expr);

// How a computation runs: by kernels, and by Backend::reduce and Backend::matmul of what they give.
// Tensors are numbered: the inputs of the computation first, then what the steps make.
struct Step {
  Kernel kernel = {};             // without exprs: the step is a reduction or a product
  std::vector<int> outputs = {};  // where the results go; of a product, row_sums may come second
  Kind kind = Kind::reduce;
  ReduceOp reduction = ReduceOp::sum;
  Expr operand = {};            // an input
  Expr factor = {}, bias = {};  // of a product: inputs, the bias perhaps none
};
struct Plan {
  std::vector<Step> steps;
  std::vector<Expr> made;     // the tensors that steps make
  std::vector<Expr> outputs;  // what the computation returns: inputs, of the tensors made
};

// The part of the tensors that an input names.
Tensor view_of(ArrayRef<Tensor> tensors, const Expr& input);

// `inputs`: how many tensors the computation reads.
Plan make_plan(const Computation& computation, int inputs);

// Makes inputs of products among the first `count` expressions, and of what they multiply, where
// the computation reads it; with numbers from `input` on. Returns the expressions: a backward pass
// reads what a forward pass kept.
std::vector<int> read_stored(Computation& computation, size_t count, int input);

// Runs the plan on the device of the inputs. The results are new tensors.
Tensors run(const Plan& plan, ArrayRef<Tensor> inputs);

}  // namespace gradus::fused
