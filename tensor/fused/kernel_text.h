// The CUDA C++ text of a kernel, for a compiler at run time and for readers.
#pragma once

#include <string>

#include "gradus/tensor/codegen/arguments.h"
#include "gradus/tensor/fused/computation.h"

namespace gradus::fused {

// The text of the kernel `fused`. A launch takes pointers to `inputs`, in this order, then to the
// outputs, then `more`.
struct KernelText {
  std::string text;
  std::vector<int> inputs;  // expressions
  codegen::KernelArguments more;
  int64_t blocks;
  int threads_x, threads_y;
  int vector;  // pointers are multiples of so many elements
};

// `most_vector`: the most elements that a thread may move at once; 1 where pointers are aligned to
// their own elements alone. The text depends on dtypes and on which dimensions repeat or lie apart,
// and for reductions on the order of magnitude of the columns, so that few sizes need a new one.
// Errors: NotFusable where there is no form of an expression.
KernelText make_text(const Kernel& kernel, int most_vector = 16);

}  // namespace gradus::fused
