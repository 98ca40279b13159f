// A stable radix sort of pairs of a key and an index. The bits between the lowest and the highest
// one in which keys differ are divided evenly among the passes.
//
// A pass counts how often each digit occurs in each chunk. The counts say where each chunk puts its
// items of each digit. The chunk moves them there in their order. Every chunk counts and moves by
// itself, so that a long row keeps all cores busy.
#pragma once

#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/order_loops.h"

namespace gradus::cpu {

template <class Word>
class Sorter {
 public:
  // Sorts at most `capacity` items. REQUIRES: capacity > 0.
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
    chunks_.resize(static_cast<size_t>((n - 1) / chunk_ + 1));
    const Word varying = varying_bits();
    const auto end = static_cast<int>(std::bit_width(varying));
    int shift = std::countr_zero(varying);
    for (int passes = (end - shift + kMostDigitBits - 1) / kMostDigitBits; passes > 0; --passes) {
      const int digit_bits = (end - shift + passes - 1) / passes;
      sort_by_digit(shift, size_t{1} << digit_bits);
      shift += digit_bits;
    }
  }

 private:
  static constexpr int kMostDigitBits = 9;
  // Chunks of a longer row; at most so many, for each pass has a table of them.
  static constexpr int64_t kChunk = 65536, kMaxChunks = 256;
  struct Chunk {
    Word varying;  // the bits in which its keys differ from the first one of all
    std::array<int64_t, 1 << kMostDigitBits> count;  // of each digit; then where the next one goes
  };

  // f(first item, last item, chunk) for each chunk.
  template <class F>
  void for_chunks(const F& f) {
    parallel_for(0, n_, chunk_, [&](int64_t first, int64_t last) {
      f(first, last, chunks_[static_cast<size_t>(first / chunk_)]);
    });
  }

  Word varying_bits() {
    for_chunks([&, key = items_[0].key](int64_t first, int64_t last, Chunk& chunk) {
      chunk.varying = 0;
      for (int64_t i = first; i < last; ++i) chunk.varying |= items_[i].key ^ key;
    });
    Word out = 0;
    for (const Chunk& chunk : chunks_) out |= chunk.varying;
    return out;
  }

  void sort_by_digit(int shift, size_t digits) {
    const auto digit = [shift, mask = digits - 1](const Item<Word>& item) {
      return item.key >> shift & mask;
    };
    for_chunks([&](int64_t first, int64_t last, Chunk& chunk) {
      std::fill_n(chunk.count.begin(), digits, 0);
      for (int64_t i = first; i < last; ++i) ++chunk.count[digit(items_[i])];
    });
    int64_t before = 0;
    for (size_t d = 0; d < digits; ++d) {
      const int64_t begin = before;
      for (Chunk& chunk : chunks_) before += std::exchange(chunk.count[d], before);
      if (before - begin == n_) return;  // all items have this digit: they stay
    }
    for_chunks([&](int64_t first, int64_t last, Chunk& chunk) {
      for (int64_t i = first; i < last; ++i) spare_[chunk.count[digit(items_[i])]++] = items_[i];
    });
    std::swap(items_, spare_);
  }

  int64_t n_ = 0, chunk_ = 0;
  StoragePtr memory_;
  Item<Word>*items_, *spare_;
  // Sorts items of any type with such keys.
  void (*sort_few_)(int64_t n, Item<Word>* items) =
      table_of<OrderLoops<std::conditional_t<sizeof(Word) == 4, float, int64_t>>>().sort_few;
  std::vector<Chunk> chunks_;
};

}  // namespace gradus::cpu
