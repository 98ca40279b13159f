// unique, unique_dim and unique_consecutive: the elements of a list that differ from the one
// before.
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

// The runs of equal neighbours in a list, or of equal rows of a matrix.
struct Runs {
  int64_t rows;
  Tensor starts;  // the places where they begin

  explicit Runs(const Tensor& x) : rows(x.size(0)) {
    starts = rows ? backend(x).run_starts(x) : empty({0}, x.options().dtype(kLong));
  }

  // The number of the run that each place is in.
  Tensor number() const {
    return zeros({rows}, starts.options()).index_fill_(0, starts, 1).cumsum(0) - 1;
  }
  Tensor lengths() const {
    const int64_t runs = starts.size(0);
    if (runs == 0) return starts;
    const Tensor end = full({1}, rows, starts.options());
    return cat({starts.narrow(0, 1, runs - 1), end}, 0) - starts;
  }
};

// The inverse and the counts of the rows that runs were found in. `order`, where defined, says
// where these rows were before.
struct InverseAndCounts {
  Tensor inverse, counts;

  InverseAndCounts(const Runs& runs, const Tensor& order, bool wants_inverse, bool wants_counts)
      : inverse(empty({0}, runs.starts.options())), counts(inverse) {
    if (wants_inverse) inverse = runs.number();
    if (wants_inverse && order.defined()) inverse = empty_like(order).scatter_(0, order, inverse);
    if (wants_counts) counts = runs.lengths();
  }
};

// Row-major matrices sort by the last column first, since sorting is stable.
Tensor lexicographic_order(const Tensor& rows) {
  Tensor order = arange(rows.size(0), rows.options().dtype(kLong));
  for (int64_t column = rows.size(1); column-- > 0;) {
    const Tensor keys = rows.select(1, column).index_select(0, order);
    order = order.index_select(0, raw::sort(keys, 0, false).indices);
  }
  return order;
}

TensorTriple unique_elements(const Tensor& self, bool consecutive, bool wants_inverse,
                             bool wants_counts) {
  Tensor list = self.detach().reshape({-1}), order;
  if (!consecutive) {
    const auto sorted = raw::sort(list, 0, false);
    list = sorted.values, order = sorted.indices;
  }
  if (!wants_inverse && !wants_counts) {
    const Tensor none = empty({0}, list.options().dtype(kLong));
    return {list.numel() ? backend(list).distinct(list) : list, none, none};
  }
  const Runs runs(list);
  const InverseAndCounts other(runs, order, wants_inverse, wants_counts);
  return {list.index_select(0, runs.starts),
          wants_inverse ? other.inverse.reshape(self.sizes()) : other.inverse, other.counts};
}

TensorTriple unique_slices(const char* op, const Tensor& self, int64_t dim, bool consecutive,
                           bool wants_inverse, bool wants_counts) {
  const int64_t d = wrap_dim(op, dim, self);
  const Tensor x = self.detach(), slices = self.dim() ? x.transpose(0, d) : x.reshape({1});
  const int64_t count = slices.size(0);
  check(self.numel() > 0 || count == 0, op, ": the slices of dimension ", d, " of shape ",
        self.sizes(), " have no elements to compare");
  const Tensor rows = slices.reshape({count, count ? slices.numel() / count : 0});
  const Tensor order = consecutive ? Tensor() : lexicographic_order(rows);
  const Runs runs(consecutive ? rows : rows.index_select(0, order));
  const InverseAndCounts other(runs, order, wants_inverse, wants_counts);
  const Tensor places = consecutive ? runs.starts : order.index_select(0, runs.starts);
  return {x.dim() ? x.index_select(d, places) : x, other.inverse, other.counts};
}

}  // namespace

TensorPair _unique(const Tensor& self, bool, bool return_inverse) {
  const auto [values, inverse, counts] = unique_elements(self, false, return_inverse, false);
  return {values, inverse};
}
TensorTriple _unique2(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  return unique_elements(self, false, return_inverse, return_counts);
}
TensorTriple unique_dim(const Tensor& self, int64_t dim, bool, bool return_inverse,
                        bool return_counts) {
  return unique_slices("unique_dim", self, dim, false, return_inverse, return_counts);
}
TensorTriple unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts,
                                std::optional<int64_t> dim) {
  if (!dim) return unique_elements(self, true, return_inverse, return_counts);
  return unique_slices("unique_consecutive", self, *dim, true, return_inverse, return_counts);
}
TensorTriple unique_dim_consecutive(const Tensor& self, int64_t dim, bool return_inverse,
                                    bool return_counts) {
  return unique_slices("unique_dim_consecutive", self, dim, true, return_inverse, return_counts);
}

}  // namespace gradus
