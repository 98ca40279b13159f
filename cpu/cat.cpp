#include <cstring>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/tensor/small_list.h"

namespace gradus::cpu {

namespace {

// Beyond it the stores of a general copy, which go past the caches, are faster.
constexpr int64_t kCachedElements = int64_t{1} << 20;
// Fewer pieces of the output, each from one part, are better copied by several threads each.
constexpr int64_t kManyRows = 64;

bool lie_evenly(ArrayRef<Tensor> parts, const Tensor& out) {
  for (const Tensor& part : parts)
    if (!part.is_contiguous() || part.dtype() != out.dtype()) return false;
  return true;
}

}  // namespace

// Parts that lie evenly in memory are moved at once, row by row of the output: views of them would
// cost more, and the output is written from its beginning to its end.
void CpuBackend::cat(ArrayRef<Tensor> parts, int64_t dim, const Tensor& out) {
  int64_t rows = 1;
  for (int64_t d = 0; d < dim; ++d) rows *= out.impl().sizes[d];
  const int64_t numel = out.numel();
  const bool fits = numel <= kGrain || (numel <= kCachedElements && rows >= kManyRows);
  if (!fits || !lie_evenly(parts, out)) return Backend::cat(parts, dim, out);
  if (numel == 0) return;
  const size_t step = out.nbytes() / static_cast<size_t>(rows);
  char* const to = static_cast<char*>(out.data_ptr());
  struct Source {
    const char* from;
    size_t length;  // of a row
  };
  SmallList<Source, 4> sources;
  for (const Tensor& part : parts)
    sources.add() = {static_cast<const char*>(part.data_ptr()),
                     part.nbytes() / static_cast<size_t>(rows)};
  const int64_t row_numel = numel / rows;
  const auto copy_rows = [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      char* at = to + static_cast<size_t>(row) * step;
      for (size_t i = 0; i < sources.size(); ++i) {
        const auto [from, length] = sources[i];
        if (length > 0) std::memcpy(at, from + static_cast<size_t>(row) * length, length);
        at += length;
      }
    }
  };
  parallel_for(0, rows, std::max<int64_t>(1, share_of(numel, kGrain) / row_numel), copy_rows);
}

}  // namespace gradus::cpu
