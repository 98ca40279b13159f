// The CUDA C++ text of a kernel, for a compiler at run time and for readers.
#pragma once

#include <string>
#include <string_view>

#include "gradus/tensor/fused/program.h"

namespace gradus::fused {

// What a launch of `fused` takes beside its text: first the pointers, of the kernel's inputs in the
// order of `inputs` and then of its outputs, and after them the numbers.
struct Source {
  std::string text;
  std::vector<int> inputs;  // nodes
  std::vector<int64_t> numbers;
  int64_t blocks;
  int threads_x, threads_y;
  int vector;  // pointers are multiples of so many elements
};

// `most_vector`: the most elements that a thread may move at once; 1 where pointers are aligned to
// their own elements alone. The text depends on dtypes and on which dimensions repeat or lie apart,
// and for reductions on the order of magnitude of the columns, so that few sizes need a new one.
// Errors: NotFusable where there is no form of a node.
Source make_source(const Kernel& kernel, int most_vector = 16);

// The name of an element's type in the text of a kernel: "__half", "int64_t".
std::string_view cuda_name(ScalarType dtype);

}  // namespace gradus::fused
