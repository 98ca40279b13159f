// The public functions on tensors: they compute through raw:: and record the graph.
// Most are methods of Tensor as well; each function is documented here once.
#pragma once

#include <optional>
#include <tuple>

#include "gradus/tensor/tensor.h"

namespace gradus {

// --- Pointwise, broadcasting (tensor/elementwise.def)
#define UNARY(name, ...) Tensor name(const Tensor& self);
#define BINARY(name, ...)                               \
  Tensor name(const Tensor& self, const Tensor& other); \
  Tensor name(const Tensor& self, const Scalar& other); \
  Tensor name(const Scalar& self, const Tensor& other);
#define COMPARISON(name, ...)                           \
  Tensor name(const Tensor& self, const Tensor& other); \
  Tensor name(const Tensor& self, const Scalar& other);
#include "gradus/tensor/elementwise.def"
Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha);
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha);

#define GRADUS_OPERATOR(op, name)                                                    \
  inline Tensor operator op(const Tensor& x, const Tensor& y) { return name(x, y); } \
  inline Tensor operator op(const Tensor& x, const Scalar& y) { return name(x, y); }
#define GRADUS_ARITHMETIC(op, name) \
  GRADUS_OPERATOR(op, name)         \
  inline Tensor operator op(const Scalar& x, const Tensor& y) { return name(x, y); }
#define GRADUS_COMPARISON(op, name, mirrored) \
  GRADUS_OPERATOR(op, name)                   \
  inline Tensor operator op(const Scalar& x, const Tensor& y) { return mirrored(y, x); }
GRADUS_ARITHMETIC(+, add)
GRADUS_ARITHMETIC(-, sub)
GRADUS_ARITHMETIC(*, mul)
GRADUS_ARITHMETIC(/, div)
GRADUS_COMPARISON(==, eq, eq)
GRADUS_COMPARISON(!=, ne, ne)
GRADUS_COMPARISON(<, lt, gt)
GRADUS_COMPARISON(<=, le, ge)
GRADUS_COMPARISON(>, gt, lt)
GRADUS_COMPARISON(>=, ge, le)
#undef GRADUS_OPERATOR
#undef GRADUS_ARITHMETIC
#undef GRADUS_COMPARISON

// --- Reductions
// Over the
// listed dimensions (all where none is listed), which stay as size 1 where keepdim. sum counts
// bools and integers in int64; mean takes floating point only. An empty sum is 0, an empty mean
// NaN. Gradients of amax and amin are shared evenly among equal elements. Errors: IndexError for a
// dimension out of range, ValueError for one listed twice.
Tensor sum(const Tensor& self, std::optional<ScalarType> dtype = std::nullopt);
Tensor sum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim = false,
           std::optional<ScalarType> dtype = std::nullopt);
Tensor mean(const Tensor& self, std::optional<ScalarType> dtype = std::nullopt);
Tensor mean(const Tensor& self, OptionalIntArrayRef dim, bool keepdim = false,
            std::optional<ScalarType> dtype = std::nullopt);
Tensor amax(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false);
Tensor amin(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false);
Tensor max(const Tensor& self);
Tensor min(const Tensor& self);
// (values, indices) along dim; of equal elements the first, which alone gets the gradient.
std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim = false);
std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim = false);
inline Tensor max(const Tensor& self, const Tensor& other) { return maximum(self, other); }
inline Tensor min(const Tensor& self, const Tensor& other) { return minimum(self, other); }
// The index (int64) along dim, or in row-major order over all elements.
Tensor argmax(const Tensor& self, std::optional<int64_t> dim = std::nullopt, bool keepdim = false);
Tensor argmin(const Tensor& self, std::optional<int64_t> dim = std::nullopt, bool keepdim = false);
// x - log(sum(e^x)) along dim, computed about the largest element; softmax is its exponential.
Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = std::nullopt);
Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = std::nullopt);

// --- Products
// torch.matmul: (K)(K), (M,K)(K), (K)(K,N), (M,K)(K,N) and batches (..., M, K)(..., K, N) whose
// leading dimensions broadcast. Any strides; a transposed operand is not copied.
// Complexity: 2 M N K operations per product. Errors: ValueError where the shapes do not multiply.
Tensor matmul(const Tensor& self, const Tensor& other);
// The same for two matrices; two batches of matrices; matrix and vector; two vectors.
Tensor mm(const Tensor& self, const Tensor& mat2);
Tensor bmm(const Tensor& self, const Tensor& mat2);
Tensor mv(const Tensor& self, const Tensor& vec);
Tensor dot(const Tensor& self, const Tensor& other);
// input weight^T + bias: input (..., in), weight (out, in), bias (out) or undefined -> (..., out).
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});

// --- Shape
// A view;
// one size may be -1. Errors: ValueError where the memory does not allow a view.
Tensor view(const Tensor& self, IntArrayRef size);
// A view where the memory allows it, otherwise a copy.
Tensor reshape(const Tensor& self, IntArrayRef shape);
Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1);
Tensor permute(const Tensor& self, IntArrayRef dims);
Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
Tensor t(const Tensor& self);
Tensor unsqueeze(const Tensor& self, int64_t dim);
Tensor squeeze(const Tensor& self);
Tensor squeeze(const Tensor& self, int64_t dim);
Tensor expand(const Tensor& self, IntArrayRef size);
Tensor select(const Tensor& self, int64_t dim, int64_t index);
Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length);
// The sum over the dimensions in which `size` is 1 or missing: the adjoint of expand.
Tensor sum_to_size(const Tensor& self, IntArrayRef size);

// --- Indexing
// out[i][j][k] = self[index[i][j][k]][j][k] for dim 0, and so on. index: int64, out's shape.
// Errors: IndexError for an index out of range; on a GPU it is raised at the next synchronisation.
Tensor gather(const Tensor& self, int64_t dim, const Tensor& index);
// self, with src added at those places, in the order of the index (reproducibly).
Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);

Tensor clone(const Tensor& self);

}  // namespace gradus
