// What the writers of kernels' texts share: types, values, and arguments.
#pragma once

#include "gradus/tensor/fused/formulas.h"
#include "gradus/tensor/fused/source.h"

namespace gradus::fused {

// One argument of a kernel: where an input is read, or an output written.
struct Argument {
  int node;
  bool is_output;
  Dims strides;  // by dimensions of the joined domain; 0 where the value repeats
};

class Writer {
 public:
  Writer(const Kernel& kernel, int most_vector);
  virtual ~Writer() = default;

  // Errors: NotFusable.
  Source write();

 protected:
  // The body of the kernel. Fills source_ but for its text, inputs and numbers.
  virtual std::string body() = 0;
  // What the body needs in front of all functions.
  virtual std::string helpers() const { return ""; }

  template <class Integer>
  static std::string str(Integer x) {
    return std::to_string(x);
  }
  static std::string times(int width) { return width > 1 ? " * " + str(width) : ""; }

  // --- Types: of the numbers that are computed with, and of several elements in memory.
  static std::string type(ScalarType dtype);
  std::string vector_type(ScalarType dtype);
  // x, as it is kept in memory, as a number, and the other way.
  std::string loaded(ScalarType dtype, const std::string& x);
  std::string stored(ScalarType dtype, const std::string& x);

  // --- Values
  std::string name(int node) const;
  // An operand as a number of the type.
  std::string operand(const Node& node, int i, const std::string& of_type) const;
  // "const float v3 = v1 + v2;", and with another expression.
  std::string line(int node, const std::string& indent);
  std::string line(int node, const std::string& indent, const std::string& value) const;

  // --- Arguments
  size_t argument_of(int input) const;
  std::string pointer(size_t argument) const;
  // The element of the argument, or the vector from it on, at `column` in the last dimension.
  std::string element(size_t argument);
  std::string vector(size_t argument);
  // A number that the kernel is given.
  std::string number(const std::string& name, int64_t value);
  // Moves the pointers along the first `dims` dimensions, of which `from` is the row-major number.
  std::string offsets(const std::string& from, size_t dims);
  int64_t size_before(size_t dim) const;  // the product of the sizes of the dimensions before

  const Kernel& kernel_;
  const std::vector<Node>& nodes_;
  std::vector<Argument> arguments_;
  Dims domain_;      // with neighbouring dimensions joined that all arguments walk as one
  int columns_ = 0;  // how many of its last dimensions are reduced
  int width_ = 1;    // neighbours in the last dimension that a thread moves at once
  Source source_;
  Formulas formulas_;

 private:
  std::string expression(const Node& node);
  std::string computed_in(const Node& node) const;
  void collect_arguments();
  void join_dimensions();
  Dims strides_of(const Node& node) const;
  int vector_width(int most) const;
  std::string parameters() const;

  std::string numbers_;
  bool uses_vector_ = false, uses_half_ = false, uses_bfloat16_ = false;
};

Source write_elements(const Kernel& kernel, int most_vector);
// Of a kernel with reductions.
Source write_rows(const Kernel& kernel, int most_vector);

}  // namespace gradus::fused
