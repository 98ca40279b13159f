// searchsorted: searches in lists that are in order.
#include <cstring>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

// Searches that run side by side, so that their waits for memory overlap.
constexpr int64_t kGroup = 64;

// Moves below[q] by `count` where the element `before` behind it is less than values[q], or right:
// not greater. Reading is apart from what is vector code, so that there is no branch.
template <bool right, class Place, class T>
void move_group(Place before, Place count, const T* x, const T* values, Place* below) {
  T found[kGroup];
  for (int64_t q = 0; q < kGroup; ++q) found[q] = x[below[q] + before];
  for (int64_t q = 0; q < kGroup; ++q)
    below[q] += count * static_cast<Place>(!(right ? found[q] > values[q] : found[q] >= values[q]));
}

// Place: as wide as an element, if it can be.
template <bool right, class Place, class T>
void search_group(Place n, const T* x, const T* values, Place* below) {
  std::fill_n(below, kGroup, 0);
  for (Place length = n; length > 1; length -= length / 2)
    move_group<right>(length / 2 - 1, length / 2, x, values, below);
  move_group<right, Place>(0, 1, x, values, below);
}

template <bool right, class Place, class T>
void search_all(Place n, const T* x, int64_t count, const T* values, int64_t* out) {
  Place below[kGroup];
  T wanted[kGroup] = {};
  for (int64_t i = 0; i < count; i += kGroup) {
    const int64_t some = std::min(kGroup, count - i);
    std::memcpy(wanted, values + i, static_cast<size_t>(some) * sizeof(T));
    search_group<right>(n, x, wanted, below);
    std::copy_n(below, some, out + i);
  }
}

template <bool right, class T>
void search(int64_t n, const T* x, int64_t count, const T* values, int64_t* out) {
  if (sizeof(T) == 4 && n <= INT32_MAX)
    search_all<right>(static_cast<int32_t>(n), x, count, values, out);
  else
    search_all<right>(n, x, count, values, out);
}

}  // namespace

void CpuBackend::searchsorted(bool right, const Tensor& list, const Tensor& values,
                              const Tensor& out) {
  visit_numbers("searchsorted", list.dtype(), [&]<class T>(TypeTag<T>) {
    const T* const lists = static_cast<const T*>(list.data_ptr());
    const T* const wanted = static_cast<const T*>(values.data_ptr());
    int64_t* const below = out.data_ptr<int64_t>();
    const int64_t n = list.sizes().back();
    const int64_t row = list.dim() == 1 ? values.numel() : values.sizes().back();
    // A search costs some ten times an addition.
    parallel_for(0, values.numel(), share_of(values.numel(), kGrain / 8),
                 [&](int64_t first, int64_t last) {
                   for (int64_t some; first < last; first += some) {
                     some = std::min(last - first, row - first % row);
                     (right ? search<true, T> : search<false, T>)(n, lists + first / row * n, some,
                                                                  wanted + first, below + first);
                   }
                 });
  });
}

}  // namespace gradus::cpu
