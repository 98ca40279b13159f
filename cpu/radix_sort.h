// A stable radix sort of pairs of a key and an index, 8 bits a pass.
//
// A pass counts how often each digit occurs in each chunk; from that follows where the items of
// each chunk with each digit go; and the items go there, in their order. Every chunk counts and
// moves alone, so a long row keeps all cores busy.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/order_loops.h"
#include "gradus/cpu/parallel.h"

namespace gradus::cpu {

template <class Word>
class Sorter {
 public:
  // Of at most so many items. REQUIRES: capacity > 0.
  explicit Sorter(int64_t capacity)
      : memory_(cpu_backend().allocate(2 * static_cast<size_t>(capacity) * sizeof(Item<Word>),
                                       Device(kCPU))),
        items_(static_cast<Item<Word>*>(memory_->data())),
        spare_(items_ + capacity) {}

  // The items: to be filled in, their indices rising, and in order after sort(n).
  Item<Word>* items() { return items_; }

  // REQUIRES: 0 < n <= capacity.
  void sort(int64_t n) {
    if (n <= kFewItems) return sort_few_(n, items_);
    n_ = n;
    chunk_ = std::max(kChunk, (n - 1) / kMaxChunks + 1);
    counts_.resize(static_cast<size_t>((n - 1) / chunk_ + 1));
    for (int shift = 0; shift < 8 * static_cast<int>(sizeof(Word)); shift += kDigitBits)
      sort_by_digit(shift);
  }

 private:
  static constexpr int kDigitBits = 8;
  static constexpr int64_t kDigits = 1 << kDigitBits;
  // Chunks of a longer row; at most so many, for each pass has a table of them.
  static constexpr int64_t kChunk = 65536, kMaxChunks = 256;
  using Counts = std::array<int64_t, kDigits>;

  // f(first item, last item, counts) for each chunk.
  template <class F>
  void for_chunks(const F& f) {
    parallel_for(0, n_, chunk_, [&](int64_t first, int64_t last) {
      f(first, last, counts_[static_cast<size_t>(first / chunk_)]);
    });
  }

  void sort_by_digit(int shift) {
    const auto digit = [shift](const Item<Word>& item) {
      return item.key >> shift & (kDigits - 1);
    };
    for_chunks([&](int64_t first, int64_t last, Counts& count) {
      count.fill(0);
      for (int64_t i = first; i < last; ++i) ++count[digit(items_[i])];
    });
    int64_t before = 0;
    for (size_t d = 0; d < kDigits; ++d) {
      const int64_t begin = before;
      for (Counts& count : counts_) before += std::exchange(count[d], before);
      if (before - begin == n_) return;  // all items have this digit: they stay
    }
    for_chunks([&](int64_t first, int64_t last, Counts& next) {
      for (int64_t i = first; i < last; ++i) spare_[next[digit(items_[i])]++] = items_[i];
    });
    std::swap(items_, spare_);
  }

  int64_t n_ = 0, chunk_ = 0;
  StoragePtr memory_;
  Item<Word>*items_, *spare_;
  // Of any type with such keys.
  void (*sort_few_)(int64_t n, Item<Word>* items) =
      order_loops<std::conditional_t<sizeof(Word) == 4, float, int64_t>>(instruction_set())
          .sort_few;
  std::vector<Counts> counts_;  // of each chunk: how many items; then where the next one goes
};

}  // namespace gradus::cpu
