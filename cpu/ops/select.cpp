// Elements at some places of a line's order, without sorting all of the line.
//
// The first few are kept while the line is read. Others are looked for between two keys. The order
// of a sample says between which ones they are likely to be (Floyd and Rivest, "Expected time
// bounds for selection", 1975). One reading of the line counts whether they are there, and another
// one collects them. Where those are still many, bins of equal width cut the range down; what is
// left is sorted. A sample that misleads costs time and no more.
#include <bit>
#include <cmath>
#include <optional>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/order_loops.h"
#include "gradus/cpu/walk/radix_sort.h"
#include "gradus/cpu/walk/walk.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

// Places of an order.
struct Places {
  int64_t first, count;
  int64_t end() const { return first + count; }
};

// So many first elements are kept while the line is read.
constexpr int64_t kKept = 16;
// Shorter lines are collected whole.
constexpr int64_t kSampled = 8192;
// The part of a long line that one thread reads.
constexpr int64_t kChunk = 32768;
constexpr int kMaxBinBits = 11;

// The keys of a sample between which the places lie with all but certainty: four standard
// deviations of what a sample's order says about that of the line, on either side.
template <class T>
KeyRange<SortKey<T>> guess(const T* x, int64_t n, bool descending, Places places) {
  using Key = SortKey<T>;
  const double root = std::cbrt(static_cast<double>(n));
  const auto size = static_cast<int64_t>(root * root);
  const int64_t apart = n / size;
  std::vector<Key> sample(static_cast<size_t>(size));
  uint64_t random = 1;
  for (int64_t i = 0; i < size; ++i) {
    // Multiplication by this number makes a sequence without short periods (Steele and Vigna,
    // "Computationally easy, spectrally good multipliers", 2021, table 6).
    random = random * 0xd1342543de82ef95u + 1;
    const auto place = static_cast<int64_t>((random >> 32) * static_cast<uint64_t>(apart) >> 32);
    sample[static_cast<size_t>(i)] = sort_key(x[i * apart + place], descending);
  }
  const auto rank = [&](int64_t place, int sign) {
    const double share = static_cast<double>(place) / static_cast<double>(n);
    const auto samples = static_cast<double>(size);
    const double margin = 4 * std::sqrt(samples * share * (1 - share)) + 4;
    return static_cast<int64_t>(share * samples + sign * margin);
  };
  const int64_t least = rank(places.first, -1), most = rank(places.end(), 1);
  KeyRange<Key> range{0, ~Key{0}};
  const auto begin = sample.begin(), end = sample.end();
  if (most < size) {
    std::nth_element(begin, begin + most, end);
    range.most = sample[static_cast<size_t>(most)];
  }
  if (least > 0) {
    std::nth_element(begin, begin + least, most < size ? begin + most : end);
    range.least = sample[static_cast<size_t>(least)];
  }
  return range;
}

template <class Key>
struct Narrowed {
  KeyRange<Key> range;
  int64_t below;
};

// The range of the bins that the places are in, of bins of equal width in the range of n keys,
// which key(i) gives. Nothing where most keys are in several such bins.
template <class Key, class F>
std::optional<Narrowed<Key>> narrow(int64_t n, KeyRange<Key> of, Places places, const F& key) {
  const Key width = of.most - of.least;
  const int bits = std::min(kMaxBinBits, static_cast<int>(std::bit_width(static_cast<Key>(n))) - 2);
  const int shift = std::max(static_cast<int>(std::bit_width(width)) - bits, 0);
  Key bins[1 << kMaxBinBits];
  std::fill_n(bins, (width >> shift) + 1, 0);
  for (int64_t i = 0; i < n; ++i) ++bins[(key(i) - of.least) >> shift];
  // The bin of a place, given one that is not behind it, and how many stand before that.
  const auto bin_of = [&](int64_t place, Key bin, int64_t& before) {
    for (; before + static_cast<int64_t>(bins[bin]) <= place; ++bin)
      before += static_cast<int64_t>(bins[bin]);
    return bin;
  };
  int64_t below = 0;
  const Key first = bin_of(places.first, 0, below);
  int64_t before_last = below;
  const Key last = bin_of(places.end() - 1, first, before_last);
  if (last > first && before_last + static_cast<int64_t>(bins[last]) - below > n / 4 * 3) return {};
  const Key end = (last << shift) + ((Key{1} << shift) - 1);
  return Narrowed<Key>{{of.least + (first << shift), of.least + std::min(end, width)}, below};
}

template <class Key>
KeyRange<Key> range_of(const Item<Key>* items, int64_t n) {
  KeyRange<Key> range = {~Key{0}, 0};
  for (int64_t i = 0; i < n; ++i) {
    range.least = std::min(range.least, items[i].key);
    range.most = std::max(range.most, items[i].key);
  }
  return range;
}

// Keeps the items of the range, in their order. Returns how many there are.
template <class Key>
int64_t keep(Item<Key>* items, int64_t n, KeyRange<Key> range) {
  int64_t kept = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Item<Key> item = items[i];
    items[kept] = item;
    kept += range.holds(item.key);
  }
  return kept;
}

// Lines of n elements, one after the other.
template <class T>
class Selector {
 public:
  using Key = SortKey<T>;

  Selector(int64_t n, bool descending) : n_(n), descending_(descending) {}

  // The items at these places of the order of a line, until the next call. REQUIRES: there are
  // some.
  const Item<Key>* select(const T* x, Places places) {
    if (places.end() <= kKept) return least(x, places.end()) + places.first;
    int64_t n = n_ <= kSampled ? collect_by_bins(x, places) : collect_by_sample(x, places);
    Item<Key>* const items = sorter_->items();
    while (n > kFewItems && n > 2 * places.count) {
      const auto narrowed =
          narrow(n, range_of(items, n), places, [&](int64_t i) { return items[i].key; });
      if (!narrowed) break;
      n = keep(items, n, narrowed->range);
      places.first -= narrowed->below;
      if (narrowed->range.least == narrowed->range.most) return items + places.first;
    }
    sorter_->sort(n);
    return sorter_->items() + places.first;
  }

  // The place of the median: the lower one of the two in the middle. NaN stands behind all numbers,
  // so that the first one has as many elements before it as there are numbers.
  int64_t middle(const T* x, bool ignores_nan) {
    int64_t numbers = n_;
    if constexpr (std::is_floating_point_v<T>) numbers -= count(x, {~Key{0}, ~Key{0}}).within;
    if (ignores_nan) return std::max<int64_t>(numbers - 1, 0) / 2;
    return numbers == n_ ? (n_ - 1) / 2 : numbers;
  }

 private:
  static constexpr KeyRange<Key> kAll = {0, ~Key{0}};

  void reserve(int64_t capacity) {
    if (capacity > capacity_) sorter_.emplace(capacity_ = capacity);
  }

  // The first items in order, of each thread's part, and then of all.
  const Item<Key>* least(const T* x, int64_t wanted) {
    const int64_t share = share_of(n_, kChunk);
    kept_.resize(static_cast<size_t>(divide_up(n_, share) * wanted));
    parallel_for(0, n_, share, [&](int64_t first, int64_t last) {
      Item<Key>* const part = kept_.data() + first / share * wanted;
      const int64_t count =
          loops_.least(last - first, x + first, descending_, wanted, static_cast<Key>(first), part);
      // These items sort behind all others.
      std::fill(part + count, part + wanted, Item<Key>{~Key{0}, ~Key{0}});
    });
    if (n_ > share)
      std::sort(kept_.begin(), kept_.end(), [](const Item<Key>& a, const Item<Key>& b) {
        return a.key != b.key ? a.key < b.key : a.index < b.index;
      });
    return kept_.data();
  }

  // How many keys the whole line has below a range and within it; counts_ says it of each chunk.
  KeyCounts count(const T* x, KeyRange<Key> range) {
    counts_.resize(static_cast<size_t>(divide_up(n_, kChunk)));
    parallel_for(0, n_, kChunk, [&](int64_t first, int64_t last) {
      counts_[static_cast<size_t>(first / kChunk)] =
          loops_.count(last - first, x + first, descending_, range);
    });
    KeyCounts all{};
    for (const KeyCounts& some : counts_) all.below += some.below, all.within += some.within;
    return all;
  }

  // Collect the items of a range that the places are in, and make them places of its order. Return
  // their number.
  int64_t collect_by_bins(const T* x, Places& places) {
    reserve(n_);
    KeyRange<Key> range = kAll;
    if (n_ > kFewItems) {
      keys_.resize(static_cast<size_t>(n_));
      const KeyRange<Key> whole = loops_.keys(n_, x, descending_, keys_.data());
      const auto narrowed = narrow(n_, whole, places, [&](int64_t i) { return keys_[i]; });
      if (narrowed) range = narrowed->range, places.first -= narrowed->below;
    }
    return loops_.collect(n_, x, descending_, range, 0, sorter_->items()) - sorter_->items();
  }
  int64_t collect_by_sample(const T* x, Places& places) {
    KeyRange<Key> range = guess(x, n_, descending_, places);
    KeyCounts all = count(x, range);
    if (places.first < all.below || places.end() > all.below + all.within)
      all = count(x, range = kAll);
    reserve(all.within);
    int64_t before = 0;
    for (KeyCounts& some : counts_) before += std::exchange(some.within, before);
    parallel_for(0, n_, kChunk, [&](int64_t first, int64_t last) {
      loops_.collect(last - first, x + first, descending_, range, static_cast<Key>(first),
                     sorter_->items() + counts_[static_cast<size_t>(first / kChunk)].within);
    });
    places.first -= all.below;
    return all.within;
  }

  int64_t n_;
  bool descending_;
  const OrderLoops<T>& loops_ = table_of<OrderLoops<T>>();
  int64_t capacity_ = 0;
  std::optional<Sorter<Key>> sorter_;
  std::vector<Item<Key>> kept_;
  std::vector<Key> keys_;
  std::vector<KeyCounts> counts_;
};

// places_of(selector, line) says which of a line's places go to values and indices.
template <class T, class F>
void select_lines(const Tensor& any_layout, int64_t dim, bool descending, const Tensor& values,
                  const Tensor& indices, const F& places_of) {
  const int64_t n = any_layout.sizes()[dim], last_dim = any_layout.dim() - 1;
  // The elements of each line are made neighbours.
  const Tensor x = n == 1 || any_layout.strides()[dim] == 1
                       ? any_layout
                       : raw::transpose(raw::contiguous(raw::transpose(any_layout, dim, last_dim)),
                                        dim, last_dim);
  Dims sizes = values.impl().sizes;
  sizes[dim] = 1;
  const Strided<3> lines = collapse<3>(sizes, {values.strides(), indices.strides(), x.strides()});
  const auto apart = inner_strides(lines);
  const int64_t value_step = values.strides()[dim], index_step = indices.strides()[dim];
  const auto select = [&](int64_t first_line, int64_t last_line) {
    Selector<T> selector(n, descending);
    walk(lines, first_line, last_line, [&](const auto& at, int64_t count) {
      for (int64_t l = 0; l < count; ++l) {
        const T* const line = static_cast<const T*>(x.data_ptr()) + at[2] + l * apart[2];
        T* const value = static_cast<T*>(values.data_ptr()) + at[0] + l * apart[0];
        int64_t* const index = indices.data_ptr<int64_t>() + at[1] + l * apart[1];
        const Places places = places_of(selector, line);
        const auto* const items = selector.select(line, places);
        for (int64_t i = 0; i < places.count; ++i) {
          value[i * value_step] = line[items[i].index];
          index[i * index_step] = static_cast<int64_t>(items[i].index);
        }
      }
    });
  };
  // Long lines one after the other, each on all cores.
  if (n > kChunk) return select(0, lines.numel);
  parallel_for(0, lines.numel, std::max<int64_t>(kChunk / 4 / n, 1), select);
}

// A key of 32 bits leaves room for an index of as many.
bool fits(const Tensor& x, int64_t dim) {
  return x.element_size() == 8 || x.sizes()[dim] < int64_t{1} << 32;
}

}  // namespace

void CpuBackend::select(const Tensor& x, int64_t dim, bool descending, int64_t first,
                        const Tensor& values, const Tensor& indices) {
  if (!fits(x, dim)) return Backend::select(x, dim, descending, first, values, indices);
  visit_numbers("topk", x.dtype(), [&]<class T>(TypeTag<T>) {
    select_lines<T>(x, dim, descending, values, indices, [&](Selector<T>&, const T*) {
      return Places{first, values.sizes()[dim]};
    });
  });
}

void CpuBackend::median(bool ignores_nan, const Tensor& x, int64_t dim, const Tensor& values,
                        const Tensor& indices) {
  if (!fits(x, dim)) return Backend::median(ignores_nan, x, dim, values, indices);
  visit_numbers("median", x.dtype(), [&]<class T>(TypeTag<T>) {
    select_lines<T>(x, dim, false, values, indices, [&](Selector<T>& selector, const T* line) {
      return Places{selector.middle(line, ignores_nan), 1};
    });
  });
}

}  // namespace gradus::cpu
