// How a kernel that is made at run time goes over tensors: dimensions, strides, vectors.
#pragma once

#include <string>
#include <vector>

#include "gradus/tensor/shape.h"

namespace gradus::codegen {

// Dimensions in row-major order, and the strides of several tensors along them.
struct Walk {
  // Dimensions of size 1 are left out, and neighbours joined that all tensors walk as one; at least
  // one dimension stays. A walk over some dimensions alone: all others are given as of size 1.
  Walk(IntArrayRef all_sizes, const std::vector<Dims>& all_strides);

  int64_t elements() const;
  int64_t reach() const;  // the most elements that a tensor's last one lies behind its first one
  // Whether a thread that moves several elements of the last dimension gets the same one of tensor
  // t for each of them.
  bool repeats(size_t t) const { return strides[t].back() == 0; }
  // "const gradus::Walk<2, 3> NAME": the parameter of a kernel (prelude.h), and its value. vector:
  // the last dimension is counted in so many elements.
  std::string parameter(const std::string& name) const;
  std::vector<char> bytes(bool wide, int vector = 1) const;

  Dims sizes;
  std::vector<Dims> strides;  // by tensor
};

// Whether indices need 64 bits.
bool is_wide(int64_t elements, int64_t reach);

// How many neighbours in the last dimension a thread moves at once: a power of two up to `most`, 1
// where they are no neighbours. around: a walk to the places where this one begins. A walk
// of one dimension without `around` may cut its last vector short. element_sizes: by tensor.
int vector_width(const Walk& walk, ArrayRef<size_t> element_sizes, int most,
                 const Walk* around = nullptr);

// The greatest power of two, up to kMostAligned, of which the address is a multiple in elements.
inline constexpr int kMostAligned = 16;
int alignment(const void* data, size_t element_size);

}  // namespace gradus::codegen
