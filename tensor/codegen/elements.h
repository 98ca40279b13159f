// Elementwise kernels: the loop around a function of one element.
#pragma once

#include <string>
#include <vector>

#include "gradus/tensor/codegen/arguments.h"
#include "gradus/tensor/codegen/walk.h"

namespace gradus::codegen {

inline constexpr int kElementThreads = 256;  // of a block

// A parameter of the kernel, and of its function.
struct ElementParameter {
  // The function gets an element that it reads (read), writes (written) or both; or what
  // item(NAME, offset) makes of the element (item); or the parameter itself (whole).
  enum Kind { read, written, both, item, whole };
  Kind kind;
  std::string type;  // of an element, "float"; of item and whole that of the parameter
  std::string name;
};

// The text depends on this and on the parameters.
struct ElementsForm {
  // most_vector: of elements that a thread may move at once. element_sizes: by tensor.
  ElementsForm(const Walk& walk, ArrayRef<size_t> element_sizes, int most_vector);
  // Different forms have different keys.
  std::string key() const;
  // Adds what the kernel takes after its parameters.
  void add_to(KernelArguments& arguments, const Walk& walk) const;
  // A block has kElementThreads threads.
  int64_t blocks(const Walk& walk) const;

  int vector;                 // elements of a thread
  bool wide;                  // indices of 64 bits
  std::vector<bool> repeats;  // by tensor: a vector of it is one element
  // The parameter `walk`; empty where element i of each other tensor lies i behind its first one.
  std::string walk;
};

// "const float x, float& y": what the function of one element takes.
std::string element_parameters(const std::vector<ElementParameter>& parameters);
// "const float* x_data, float* y_data, ": what the kernel takes.
std::string kernel_parameters(const std::vector<ElementParameter>& parameters);

// The kernel NAME, which calls the function for each element, with its number i and their number n
// after the parameters where it is `counted`. The kernel takes its parameters, form.walk,
// and the number of elements.
std::string elements_text(const std::string& name, const std::vector<ElementParameter>& parameters,
                          const ElementsForm& form, const std::string& function, bool counted);

}  // namespace gradus::codegen
