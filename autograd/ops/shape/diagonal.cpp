// diagonal, diag, diag_embed, trace, tril, triu and their indices, with their gradients.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/ops/embed.h"
#include "gradus/tensor/base/checked.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

Tensor triangle(const char* op, const char* node, const Tensor& self, bool upper,
                int64_t diagonal) {
  const Tensor out = raw::triangle(op, upper, diagonal, self);
  if (recording(self))
    record(node, out, {self}, {}, [upper, diagonal](Node&, const Tensor& grad) {
      return Tensors{upper ? grad.triu(diagonal) : grad.tril(diagonal)};
    });
  return out;
}

// Where a triangle of a row x col matrix lies.
Tensor triangle_indices(const char* op, bool upper, int64_t row, int64_t col, int64_t offset,
                        const TensorOptions& options) {
  check(row >= 0 && col >= 0, op, ": row is ", row, " and col ", col,
        "; expected no negative number");
  check<TypeError>(isIntegralType(options.dtype()), op, ": dtype ", options.dtype(),
                   " is not an integer type");
  const Tensor whole = ones({row, col}, options.dtype(kBool));
  return raw::nonzero(raw::triangle(op, upper, offset, whole)).t().contiguous().to(options.dtype());
}

}  // namespace

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t rows = wrap_dim("diagonal", dim1, self);
  const int64_t columns = wrap_dim("diagonal", dim2, self);
  check(rows != columns, "diagonal: dim1 and dim2 are both ", rows, "; expected two dimensions");
  const int64_t row = -std::clamp<int64_t>(offset, -INT64_MAX, 0);
  const int64_t column = std::max<int64_t>(0, offset);
  const int64_t length =
      std::max<int64_t>(0, std::min(self.sizes()[rows] - row, self.sizes()[columns] - column));
  Dims sizes = self.impl().sizes, strides = self.impl().strides;
  const int64_t step = strides[rows] + strides[columns];
  const int64_t start = length ? row * strides[rows] + column * strides[columns] : 0;
  for (const int64_t d : {std::max(rows, columns), std::min(rows, columns)})
    sizes.erase(d), strides.erase(d);
  sizes.push_back(length), strides.push_back(step);
  return record_view("DiagonalBackward0", self,
                     raw::as_strided(self, sizes, strides, self.storage_offset() + start),
                     [=](const Tensor& x) { return x.diagonal(offset, dim1, dim2); });
}

Tensor& Tensor::fill_diagonal_(const Scalar& fill_value, bool wrap) const {
  check(dim() >= 2, "fill_diagonal_: the tensor has shape ", sizes(),
        ", expected at least two dimensions");
  int64_t step = 0, length = size(0);
  for (int64_t d = 0; d < dim(); ++d) {
    check(dim() == 2 || size(d) == size(0), "fill_diagonal_: the tensor has shape ", sizes(),
          ", expected equal sizes, or a matrix");
    step += stride(d), length = std::min(length, size(d));
  }
  for (int64_t row = 0; row < size(0); row += size(1) + 1) {
    const int64_t start = storage_offset() + row * stride(0);
    as_strided({std::min(length, size(0) - row)}, {step}, start).fill_(fill_value);
    if (!wrap) break;
  }
  return handle();
}

Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1,
                        int64_t dim2) {
  return replaced("diagonal_scatter", "DiagonalScatterBackward0", self, src,
                  [=](const Tensor& x) { return x.diagonal(offset, dim1, dim2); });
}

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  check<IndexError>(self.operand("diag_embed").dim() > 0,
                    "diag_embed: the tensor has no dimensions; unsqueeze it first");
  const int64_t a = wrap_dim("diag_embed", dim1, self.dim() + 1);
  const int64_t b = wrap_dim("diag_embed", dim2, self.dim() + 1);
  check(a != b, "diag_embed: dim1 and dim2 are both ", a, "; expected two dimensions");
  Dims sizes(self.sizes().data(), self.sizes().size() - 1);
  const Checked away = offset < 0 ? Checked(0) - offset : offset;
  const int64_t n = (away + self.size(-1)).get("diag_embed", "the size of the matrix");
  sizes.insert(std::min(a, b), n);
  sizes.insert(std::max(a, b), n);
  return embed(self, sizes, [=](const Tensor& x) { return x.diagonal(offset, a, b); });
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  check(self.dim() == 1 || self.dim() == 2, "diag: the tensor has shape ", self.sizes(),
        ", expected a vector or a matrix");
  return self.dim() == 1 ? self.diag_embed(diagonal) : self.diagonal(diagonal).clone();
}
Tensor diagflat(const Tensor& self, int64_t offset) {
  return self.reshape({-1}).diag_embed(offset);
}

Tensor trace(const Tensor& self) {
  GRADUS_AUTOCAST(trace, self);
  check(self.operand("trace").dim() == 2, "trace: the tensor has shape ", self.sizes(),
        ", expected a matrix");
  raw::check_number("trace", self);
  return self.diagonal().sum();
}

Tensor tril(const Tensor& self, int64_t diagonal) {
  return triangle("tril", "TrilBackward0", self, false, diagonal);
}
Tensor triu(const Tensor& self, int64_t diagonal) {
  return triangle("triu", "TriuBackward0", self, true, diagonal);
}

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) {
  return triangle_indices("tril_indices", false, row, col, offset, options);
}
Tensor triu_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) {
  return triangle_indices("triu_indices", true, row, col, offset, options);
}

}  // namespace gradus
