// Sorting along one dimension: pairs of a key and an index, by a stable radix sort of 8 bits a
// pass.
//
// A pass counts how often each digit occurs in each chunk; from that follows where the items of
// each chunk with each digit go; and the items go there, in their order. Every chunk counts and
// moves alone, so a long row keeps all cores busy.
#include <vector>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk.h"
#include "gradus/tensor/dispatch.h"
#include "gradus/tensor/sort_key.h"

namespace gradus::cpu {

namespace {

constexpr int kDigitBits = 8;
constexpr int64_t kDigits = 1 << kDigitBits;
// Rows up to here are sorted by comparisons, which are quicker than several passes over all digits.
constexpr int64_t kFewItems = 64;
// Chunks of a longer row; at most so many, for each pass has a table of them.
constexpr int64_t kChunk = 65536;
constexpr int64_t kMaxChunks = 256;

template <class Word>
struct Item {
  Word key, index;
};

template <class Word>
class Sorter {
 public:
  using Counts = std::array<int64_t, kDigits>;

  explicit Sorter(int64_t n)
      : n_(n),
        chunk_(std::max(kChunk, (n - 1) / kMaxChunks + 1)),
        memory_(
            cpu_backend().allocate(2 * static_cast<size_t>(n) * sizeof(Item<Word>), Device(kCPU))),
        items_(static_cast<Item<Word>*>(memory_->data())),
        spare_(items_ + n),
        counts_(static_cast<size_t>((n - 1) / chunk_ + 1)) {}

  // The items: to be filled in, and in order after sort().
  Item<Word>* items() { return items_; }

  void sort() {
    if (n_ <= kFewItems) {
      std::sort(items_, items_ + n_, [](const Item<Word>& a, const Item<Word>& b) {
        return a.key != b.key ? a.key < b.key : a.index < b.index;
      });
      return;
    }
    for (int shift = 0; shift < 8 * static_cast<int>(sizeof(Word)); shift += kDigitBits)
      sort_by_digit(shift);
  }

 private:
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

  int64_t n_, chunk_;
  StoragePtr memory_;
  Item<Word>*items_, *spare_;
  std::vector<Counts> counts_;  // of each chunk: how many items; then where the next one goes
};

template <class T>
struct Row {
  const T* x;
  T* values;
  int64_t* indices;
  int64_t x_step, values_step, indices_step;
};

template <class T, class Word>
void sort_row(Sorter<Word>& sorter, const Row<T>& row, int64_t n, bool descending) {
  parallel_for(0, n, kGrain, [&](int64_t first, int64_t last) {
    Item<Word>* const items = sorter.items();
    for (int64_t i = first; i < last; ++i)
      items[i] = {sort_key(row.x[i * row.x_step], descending), static_cast<Word>(i)};
  });
  sorter.sort();
  parallel_for(0, n, kGrain, [&](int64_t first, int64_t last) {
    const Item<Word>* const items = sorter.items();
    for (int64_t i = first; i < last; ++i) {
      const auto index = static_cast<int64_t>(items[i].index);
      row.values[i * row.values_step] =
          sorted_value<T>(static_cast<SortKey<T>>(items[i].key), descending,
                          [&] { return row.x[index * row.x_step]; });
      row.indices[i * row.indices_step] = index;
    }
  });
}

template <class T, class Word>
void sort_tensor(const Tensor& x, int64_t dim, bool descending, const Tensor& values,
                 const Tensor& indices) {
  const int64_t n = x.sizes()[dim];
  Dims sizes = values.impl().sizes;
  sizes[dim] = 1;
  const Strided<3> rows = collapse<3>(sizes, {values.strides(), indices.strides(), x.strides()});
  const auto apart = inner_strides(rows);
  const auto sort_rows = [&](int64_t first, int64_t last) {
    Sorter<Word> sorter(n);
    walk(rows, first, last, [&](const auto& at, int64_t count) {
      for (int64_t r = 0; r < count; ++r)
        sort_row(sorter,
                 Row<T>{static_cast<const T*>(x.data_ptr()) + at[2] + r * apart[2],
                        static_cast<T*>(values.data_ptr()) + at[0] + r * apart[0],
                        indices.data_ptr<int64_t>() + at[1] + r * apart[1], x.strides()[dim],
                        values.strides()[dim], indices.strides()[dim]},
                 n, descending);
    });
  };
  // Long rows one after the other, each on all cores.
  if (n > kChunk) return sort_rows(0, rows.numel);
  parallel_for(0, rows.numel, std::max<int64_t>(kGrain / 4 / n, 1), sort_rows);
}

}  // namespace

void CpuBackend::sort(const Tensor& x, int64_t dim, bool descending, const Tensor& values,
                      const Tensor& indices) {
  visit_numbers("sort", x.dtype(), [&]<class T>(TypeTag<T>) {
    // Beside a key of 32 bits there is room for an index of as many.
    if (x.sizes()[dim] <= int64_t{1} << 32)
      sort_tensor<T, SortKey<T>>(x, dim, descending, values, indices);
    else
      sort_tensor<T, uint64_t>(x, dim, descending, values, indices);
  });
}

}  // namespace gradus::cpu
