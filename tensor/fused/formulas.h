// The formulas of the tables' rows as text, for kernels that are compiled at run time.
#pragma once

#include <string>

#include "gradus/tensor/table/ops.h"

namespace gradus::fused {

// A function of a kernel: templates on a type T, in the order in which they can be compiled.
class Formulas {
 public:
  // The name of the function of a row, which from here on is part of text().
  // Errors: NotFusable where the row has none.
  std::string use(UnaryOp op);
  std::string use_derivative(UnaryOp op);  // of T x and T y, the result
  std::string use(BinaryOp op);
  std::string use(TernaryOp op);
  // Adds NAME_start(), NAME_enter(x), NAME_combine(a, b) and NAME_finish(s, n).
  void use(ReduceOp op);

  const std::string& text() const { return text_; }

 private:
  std::string use_row(const char* name);
  // Adds what the formula calls.
  void need(const std::string& formula);
  void add(const std::string& name, const std::string& head, const std::string& formula);

  std::string text_, names_ = " ";
};

}  // namespace gradus::fused
