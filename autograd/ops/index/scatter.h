// gather and scatter along one dimension, recorded under the name of the function that uses them.
#pragma once

#include "gradus/tensor/backend.h"

namespace gradus {

Tensor gathered(const char* op, const char* node_name, const Tensor& self, int64_t dim,
                const Tensor& index);

// A copy of self in which src is set or added along dim at the places of index.
struct Scattering {
  const char *op, *node_name;
  ScatterOp how;          // set or sum
  bool distinct = false;  // no place is set twice

  // src may be a number, which is set.
  Tensor operator()(const Tensor& self, int64_t dim, const Tensor& index, const Operand& src) const;
  // The same into self.
  Tensor& update(const Tensor& self, int64_t dim, const Tensor& index, const Operand& src) const;
};

// The part of src under the index, in its shape. REQUIRES: raw::scatter_ takes them.
Tensor part_under(const Tensor& index, const Tensor& src);

// scatter_reduce; errors name `op`.
Tensor scatter_reduced(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                       const Tensor& src, std::string_view reduce, bool include_self);
// The same into self.
Tensor& scatter_reduced_(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                         const Tensor& src, std::string_view reduce, bool include_self);

}  // namespace gradus
