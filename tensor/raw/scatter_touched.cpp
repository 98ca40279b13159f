// Sorted, the numbers of an index name each place in a run. The first one of a run stands for the
// place: there the copy is changed, and from there all of the run are written back alike.
#include "gradus/tensor/raw/scatter_touched.h"

namespace gradus::raw {

namespace {

// x without the dimensions over which it is the same, all but dim.
Tensor without_repeats(const Tensor& x, int64_t dim) {
  Dims sizes = x.impl().sizes;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (d != dim && x.strides()[d] == 0) sizes[d] = 1;
  return as_strided(x, sizes, x.impl().strides, x.storage_offset());
}

}  // namespace

bool touches_few(const Tensor& x, IntArrayRef index_sizes) {
  constexpr int64_t kTimes = 16, kLarge = 1 << 12;
  const int64_t named = numel_of(index_sizes);
  return x.numel() >= kLarge && named <= x.numel() / kTimes;
}

void change_touched(const IndexRule& rule, const Tensor& x, int64_t dim, const Tensor& index,
                    const std::function<Tensor(const Tensor& copy, const Tensor& places)>& f) {
  const Tensor given = without_repeats(index, dim);
  const Tensor numbers = empty(given.sizes(), kLong, x.device());
  fill_(numbers, 0);
  backend(x).add_offsets(rule, 1, given, numbers);  // counted from 0 on, and checked
  // Lines along the last dimension, as searchsorted takes them.
  const int64_t last = numbers.dim() - 1;
  const Tensor lines = raw::contiguous(raw::transpose(numbers, dim, last));
  const auto [sorted, order] = raw::sort(lines, last, false);
  const Tensor first = raw::searchsorted(
      given.numel() == given.sizes()[dim] ? *try_view(sorted, {-1}) : sorted, sorted, false);
  const Tensor places = empty(lines.sizes(), kLong, x.device());
  const IndexRule within{rule.op, dim, index.sizes()[dim]};
  scatter_into(ScatterOp::set, {rule.op, last, within.size}, last, order, first, places);

  const auto all = [&](const Tensor& line) {
    return raw::expand(raw::transpose(line, dim, last), index.sizes());
  };
  const Tensor from = all(sorted);
  const Tensor copy = empty(index.sizes(), x.dtype(), x.device());
  gather_into({rule.op, dim, rule.size}, x, dim, from, copy);
  const Tensor changed = f(copy, all(places));
  const Tensor back = empty(index.sizes(), x.dtype(), x.device());
  gather_into(within, changed, dim, all(first), back);
  scatter_into(ScatterOp::set, {rule.op, dim, rule.size}, dim, from, back, x);
}

}  // namespace gradus::raw
