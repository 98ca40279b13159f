// The search for elements that are not 0: each chunk of fixed borders counts its own, and then
// writes them behind those of the chunks before it.
#include <vector>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk.h"
#include "gradus/tensor/dispatch.h"
#include "gradus/tensor/raw.h"

namespace gradus::cpu {

namespace {

// Column `column` of `out` becomes the coordinates of element i.
void write_coordinates(int64_t i, IntArrayRef shape, int64_t* out, int64_t apart) {
  for (size_t d = shape.size(); d-- > 1; i /= shape[d])
    out[static_cast<int64_t>(d) * apart] = i % shape[d];
  if (!shape.empty()) out[0] = i;
}

template <class Bits>
Tensor find_nonzero(const Tensor& x, IntArrayRef shape) {
  const Dims row_major = contiguous_strides(x.sizes());
  const Strided<2> view = collapse<2>(x.sizes(), {row_major, x.strides()});
  const int64_t step = inner_strides(view)[1];
  const Bits* const from = static_cast<const Bits*>(x.data_ptr());
  const auto mask = static_cast<Bits>(value_bits(x.dtype()));
  // f(chunk, i) for each element that is not 0, in order.
  const auto for_found = [&](const auto& f) {
    parallel_for(0, view.numel, kGrain, [&](int64_t first, int64_t last) {
      auto found = f(static_cast<size_t>(first / kGrain));
      int64_t i = first;
      walk(view, first, last, [&](const auto& at, int64_t n) {
        const Bits* const run = from + at[1];
        for (int64_t k = 0; k < n; ++k) found(i + k, (run[k * step] & mask) != 0);
        i += n;
      });
    });
  };
  std::vector<int64_t> before(static_cast<size_t>((view.numel - 1) / kGrain + 1));
  for_found([&](size_t chunk) {
    return [&count = before[chunk]](int64_t, bool nonzero) { count += nonzero; };
  });
  int64_t total = 0;
  for (int64_t& count : before) total += std::exchange(count, total);
  const Tensor out = raw::empty({static_cast<int64_t>(shape.size()), total}, kLong, x.device());
  int64_t* const to = out.data_ptr<int64_t>();
  for_found([&](size_t chunk) {
    return [&, next = to + before[chunk]](int64_t i, bool nonzero) mutable {
      if (nonzero) write_coordinates(i, shape, next++, total);
    };
  });
  return out;
}

}  // namespace

Tensor CpuBackend::nonzero(const Tensor& x, IntArrayRef shape) {
  Tensor out;
  visit_bits(x.element_size(),
             [&]<class Bits>(TypeTag<Bits>) { out = find_nonzero<Bits>(x, shape); });
  return out;
}

}  // namespace gradus::cpu
