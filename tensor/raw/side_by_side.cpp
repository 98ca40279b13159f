// Copies of tensors in whose memory the elements of a row lie side by side.
#include "gradus/tensor/raw/side_by_side.h"

namespace gradus::raw {

namespace {
constexpr int64_t kVectorBytes = 16;
constexpr int64_t kVector = 16;  // elements of any dtype that are whole vectors

int64_t row_length(const Tensor& x, int64_t dims) {
  return numel_of(x.sizes().slice(static_cast<size_t>(x.dim() - dims), static_cast<size_t>(dims)));
}
}  // namespace

Tensor empty_rows_of(const Tensor& x, int64_t dims) {
  const int64_t n = row_length(x, dims);
  if (n % kVector == 0 || x.numel() == 0) return empty_like(x);
  const int64_t pitch = (n + kVector - 1) / kVector * kVector;
  Dims strides = x.impl().sizes;
  int64_t step = 1;
  for (int64_t d = x.dim(); d-- > 0;) {
    if (d == x.dim() - dims - 1) step = pitch;
    strides[static_cast<size_t>(d)] = step;
    step *= x.size(d);
  }
  return as_strided(empty({x.numel() / n * pitch}, x.dtype(), x.device()), x.impl().sizes, strides,
                    0);
}

Tensor side_by_side(const Tensor& x, int64_t dims) {
  const int64_t size = static_cast<int64_t>(x.element_size());
  const bool begins_alike = row_length(x, dims) * size % kVectorBytes == 0 &&
                            x.storage_offset() * size % kVectorBytes == 0;
  if (x.is_contiguous() && begins_alike) return x;
  const Tensor out = empty_rows_of(x, dims);
  copy_(out, x);
  return out;
}

}  // namespace gradus::raw
