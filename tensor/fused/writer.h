// The common part of the writers of fused kernels: the tensors of a kernel, and its statements.
#pragma once

#include "gradus/tensor/codegen/elements.h"
#include "gradus/tensor/fused/formulas.h"
#include "gradus/tensor/fused/kernel_text.h"

namespace gradus::fused {

class Writer {
 public:
  explicit Writer(const Kernel& kernel);

 protected:
  static constexpr int kMostVector = 8;  // elements that a thread moves at once

  // The position of the input among the tensors that the kernel reads or writes.
  size_t tensor_of(int input) const;

  template <class Integer>
  static std::string str(Integer x) {
    return std::to_string(x);
  }

  // --- Types: of the numbers that are computed with, and those in memory.
  static std::string type(ScalarType dtype);
  static std::string memory_type(ScalarType dtype);
  // x, as it is kept in memory, as a number, and the other way.
  static std::string loaded(ScalarType dtype, const std::string& x);
  static std::string stored(ScalarType dtype, const std::string& x);

  // --- Values
  std::string name(int expr) const;
  // An operand as a number of the type.
  std::string operand(const Expr& expr, int i, const std::string& of_type) const;
  // "const float v3 = v1 + v2;", and with another value.
  std::string line(int expr, const std::string& indent);
  std::string line(int expr, const std::string& indent, const std::string& value) const;

  // The headers, the walks and vectors, and the formulas that the lines so far call.
  std::string prelude(bool wide) const;

  const Kernel& kernel_;
  const std::vector<Expr>& exprs_;
  // Each list has an entry a tensor, the inputs first: the expression; the strides by dimension of
  // the kernel's domain, 0 where the value repeats; the bytes of an element; the parameter.
  std::vector<int> tensors_;
  std::vector<Dims> strides_;
  std::vector<size_t> element_sizes_;
  std::vector<codegen::ElementParameter> parameters_;
  KernelText out_;
  Formulas formulas_;

 private:
  std::string value(const Expr& expr);
  std::string computed_in(const Expr& expr) const;
  void add_tensor(int expr, codegen::ElementParameter::Kind kind, const std::string& letter);
};

KernelText write_elements(const Kernel& kernel, int most_vector);
// Of a kernel with reductions.
KernelText write_rows(const Kernel& kernel, int most_vector);

}  // namespace gradus::fused
