#include <cstring>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"

namespace gradus::cpu {

// Small parts that lie evenly in memory are moved at once: views of them would cost more.
void CpuBackend::cat(ArrayRef<Tensor> parts, int64_t dim, const Tensor& out) {
  bool plain = out.numel() <= kGrain;
  for (const Tensor& part : parts)
    plain = plain && part.is_contiguous() && part.dtype() == out.dtype();
  if (!plain) return Backend::cat(parts, dim, out);
  if (out.numel() == 0) return;
  size_t rows = 1;
  for (int64_t d = 0; d < dim; ++d) rows *= static_cast<size_t>(out.impl().sizes[d]);
  const size_t step = out.nbytes() / rows;
  char* to = static_cast<char*>(out.data_ptr());
  for (const Tensor& part : parts) {
    const size_t length = part.nbytes() / rows;
    const char* from = static_cast<const char*>(part.data_ptr());
    if (length > 0)
      for (size_t row = 0; row < rows; ++row)
        std::memcpy(to + row * step, from + row * length, length);
    to += length;
  }
}

}  // namespace gradus::cpu
