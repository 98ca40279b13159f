// The formulas of the tables' rows as text, for kernels that are compiled at run time.
#pragma once

#include <string>
#include <vector>

#include "gradus/tensor/table/ops.h"

namespace gradus::fused {

// The functions that a kernel calls: templates on a type T, in namespace gradus, where none of
// CUDA's has the name of a row.
class Formulas {
 public:
  // A row of a table, as text.
  struct Row {
    const char *name, *params, *result, *formula, *derivative;
  };

  // The row's value as an expression of these operands, each a name or a call: "v1 + v2",
  // "gradus::sigmoid(v1)". text() then holds the functions that it calls.
  // Errors: NotFusable where a row calls what kernels lack.
  using Operands = std::vector<std::string>;
  std::string call(UnaryOp op, const Operands& x);
  std::string call(BinaryOp op, const Operands& xy);
  std::string call(TernaryOp op, const Operands& xyzw);
  std::string derivative(UnaryOp op, const Operands& xy);  // of x and the result y
  // Adds NAME_start(), NAME_enter(x), NAME_combine(a, b) and NAME_finish(s, n).
  void use(ReduceOp op);

  // Empty without functions.
  std::string text() const;

 private:
  std::string call(const Row& row, const Operands& operands);
  // Adds what the formula calls.
  void need(const std::string& formula);
  void add(const std::string& name, const std::string& head, const std::string& formula);

  std::string text_, names_ = " ";
};

}  // namespace gradus::fused
