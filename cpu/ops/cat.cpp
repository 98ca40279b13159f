// Concatenation: copies parts into a tensor, a run at a time.
#include <cstring>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/tensor/base/small_list.h"

namespace gradus::cpu {

namespace {

// The stores of a general copy, which go past the caches, are faster beyond this.
constexpr int64_t kCachedElements = int64_t{1} << 20;
// Fewer pieces of the output, each from one part, are better copied by several threads each.
constexpr int64_t kManyRows = 64;
// Bytes of the output that are written part by part: a page, which stays in the first-level cache.
constexpr size_t kNearBytes = 4096;

bool lie_evenly(ArrayRef<Tensor> parts, const Tensor& out) {
  for (const Tensor& part : parts)
    if (!part.is_contiguous() || part.dtype() != out.dtype()) return false;
  return true;
}

// A row of a part, of so many bytes, and where it goes; short ones by a load and a store each.
template <size_t length>
void copy_rows(int64_t rows, char* to, size_t to_step, const char* from) {
  for (int64_t row = 0; row < rows; ++row, to += to_step, from += length)
    std::memcpy(to, from, length);
}
void copy_rows(size_t length, int64_t rows, char* to, size_t to_step, const char* from) {
  if (length == 1) return copy_rows<1>(rows, to, to_step, from);
  if (length == 2) return copy_rows<2>(rows, to, to_step, from);
  if (length == 4) return copy_rows<4>(rows, to, to_step, from);
  if (length == 8) return copy_rows<8>(rows, to, to_step, from);
  if (length == 16) return copy_rows<16>(rows, to, to_step, from);
  for (int64_t row = 0; row < rows; ++row, to += to_step, from += length)
    std::memcpy(to, from, length);
}

}  // namespace

// Parts that lie evenly in memory are moved at once: views of them would cost more. The output is
// written from its beginning to its end in blocks of rows, and in a block part by part, so that a
// short row takes little but its copy.
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
  const auto block = static_cast<int64_t>(std::max<size_t>(1, kNearBytes / step));
  const auto copy_blocks = [=, &sources](int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end; first += block) {
      const int64_t last = std::min(first + block, end);
      char* start = to + static_cast<size_t>(first) * step;
      for (size_t i = 0; i < sources.size(); ++i) {
        const size_t length = sources[i].length;
        if (length == 0) continue;
        copy_rows(length, last - first, start, step,
                  sources[i].from + static_cast<size_t>(first) * length);
        start += length;
      }
    }
  };
  parallel_for(0, rows, std::max<int64_t>(1, share_of(numel, kGrain) / row_numel), copy_blocks);
}

}  // namespace gradus::cpu
