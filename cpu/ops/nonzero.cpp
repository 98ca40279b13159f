// The search for elements that are not 0. Each chunk counts its own. Then it writes them, or what a
// mask of them chooses, behind those of the chunks before it.
#include <cstring>
#include <vector>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

constexpr int64_t kSearchGrain = kGrain / 4;

// Contiguous elements, of which those count that have other bits than 0 among `value`.
template <class Bits>
class Search {
 public:
  Search(const Bits* x, int64_t n, Bits value)
      : x_(x), n_(n), share_(share_of(n, kSearchGrain)), value_(value) {
    before_.resize(static_cast<size_t>((n - 1) / share_ + 2));
    parallel_for(0, n, share_, [&](int64_t first, int64_t last) {
      before_[static_cast<size_t>(first / share_ + 1)] = count(first, last);
    });
    for (size_t i = 1; i < before_.size(); ++i) before_[i] += before_[i - 1];
    is_clear_ = std::min(found(), n - found()) < n / 32;
  }

  int64_t found() const { return before_.back(); }
  bool is_found(int64_t i) const { return (x_[i] & value_) != 0; }

  // f(first, last, place) for chunks; `place` counts those found before first.
  template <class F>
  void for_chunks(const F& f) const {
    parallel_for(0, n_, share_, [&](int64_t first, int64_t last) {
      f(first, last, before_[static_cast<size_t>(first / share_)]);
    });
  }

  // put(place, i) for elements [first, last) that are found, the first of which is the `place`-th;
  // returns the place behind them. Groups of which all are found, or none, are taken at once where
  // there are many. The other groups call put for all, and each put writes where the next one
  // comes. So there is no branch to be guessed wrong.
  template <class F>
  int64_t put(int64_t first, int64_t last, int64_t place, const F& put) const {
    for (; last > first && !is_found(last - 1); --last) {
    }
    constexpr int64_t kGroup = 32;
    for (; is_clear_ && first + kGroup <= last; first += kGroup) {
      Bits found = 0;
      for (int64_t i = 0; i < kGroup; ++i) found = static_cast<Bits>(found + is_found(first + i));
      if (found == kGroup) {
        for (int64_t i = 0; i < kGroup; ++i) put(place + i, first + i);
        place += kGroup;
      } else if (found > 0) {
        place = put_some(first, first + kGroup, place, put);
      }
    }
    return put_some(first, last, place, put);
  }

 private:
  template <class F>
  int64_t put_some(int64_t first, int64_t last, int64_t place, const F& put) const {
    for (int64_t i = first; i < last; ++i) {
      put(place, i);
      place += is_found(i);
    }
    return place;
  }

  // Counts by runs whose count fits into an element, so that it is vector code.
  int64_t count(int64_t first, int64_t last) const {
    constexpr int64_t kRun = 128;
    int64_t out = 0;
    for (; first < last; first += kRun) {
      const Bits* const run = x_ + first;
      Bits part = 0;
      for (int64_t i = 0, n = std::min(kRun, last - first); i < n; ++i)
        part = static_cast<Bits>(part + ((run[i] & value_) != 0));
      out += static_cast<int64_t>(part);
    }
    return out;
  }

  const Bits* x_;
  int64_t n_, share_;
  Bits value_;
  std::vector<int64_t> before_;
  bool is_clear_;  // nearly all are found, or nearly none
};

template <class Bits>
Search<Bits> search(const Tensor& dense) {
  return {static_cast<const Bits*>(dense.data_ptr()), dense.numel(),
          static_cast<Bits>(value_bits(dense.dtype()))};
}

template <class Bits>
Tensor find_nonzero(const Tensor& dense, IntArrayRef shape) {
  const Search found = search<Bits>(dense);
  const int64_t dims = static_cast<int64_t>(shape.size()), total = found.found();
  const Tensor out = raw::empty({dims, total}, kLong, dense.device());
  if (dims == 0) return out;
  int64_t* const to = out.data_ptr<int64_t>();
  int64_t* const innermost = to + (dims - 1) * total;
  const int64_t length = shape[shape.size() - 1];
  // Goes by rows of the last dimension, in which the other coordinates do not change.
  found.for_chunks([&](int64_t first, int64_t last, int64_t place) {
    while (first < last) {
      int64_t row = first / length;
      const int64_t start = row * length, end = std::min(start + length, last);
      const int64_t next =
          found.put(first, end, place, [&](int64_t at, int64_t i) { innermost[at] = i - start; });
      for (int64_t d = dims - 1; d-- > 0; row /= shape[static_cast<size_t>(d)])
        std::fill(to + d * total + place, to + d * total + next,
                  d ? row % shape[static_cast<size_t>(d)] : row);
      place = next;
      first = end;
    }
  });
  return out;
}

}  // namespace

Tensor CpuBackend::nonzero(const Tensor& x, IntArrayRef shape) {
  Tensor out;
  const Tensor dense = raw::contiguous(x);
  visit_real_bits(x.element_size(),
                  [&]<class Bits>(TypeTag<Bits>) { out = find_nonzero<Bits>(dense, shape); });
  return out;
}

void CpuBackend::count_nonzero(const Tensor& x, const Tensor& out) {
  const Tensor dense = raw::contiguous(x);
  visit_real_bits(x.element_size(), [&]<class Bits>(TypeTag<Bits>) {
    *out.data_ptr<int64_t>() = search<Bits>(dense).found();
  });
}

Tensor CpuBackend::masked_select(const Tensor& x, const Tensor& mask) {
  const Tensor from = raw::contiguous(x), dense = raw::contiguous(mask);
  const Search found = search<uint8_t>(dense);
  Dims sizes = {found.found()};
  for (int64_t d = mask.dim(); d < x.dim(); ++d) sizes.push_back(x.sizes()[d]);
  const Tensor out = raw::empty(sizes, x.dtype(), x.device());
  if (out.numel() == 0) return out;
  const int64_t row = out.numel() / found.found();
  visit_bits(x.element_size(), [&]<class T>(TypeTag<T>) {
    const T* const source = static_cast<const T*>(from.data_ptr());
    T* const to = static_cast<T*>(out.data_ptr());
    found.for_chunks([&](int64_t first, int64_t last, int64_t place) {
      if (row == 1)
        found.put(first, last, place, [&](int64_t at, int64_t i) { to[at] = source[i]; });
      else
        for (int64_t i = first; i < last; ++i)
          if (found.is_found(i)) std::copy_n(source + i * row, row, to + place++ * row);
    });
  });
  return out;
}

}  // namespace gradus::cpu
