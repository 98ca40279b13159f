// Different elements: those of a sorted list that differ from the one before.
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw.h"

namespace gradus {

namespace {

// The runs of equal neighbours in a list.
struct Runs {
  Tensor starts;  // where each begins
  Tensor number;  // of the run that each place is in

  // begins: where a place differs from the one before; the first one always does.
  explicit Runs(const Tensor& begins)
      : starts(raw::flat_nonzero(begins)), number(begins.cumsum(0) - 1) {}

  Tensor lengths() const {
    const int64_t runs = starts.size(0);
    if (runs == 0) return starts;
    const Tensor end = full({1}, number.size(0), starts.options());
    return cat({starts.narrow(0, 1, runs - 1), end}, 0) - starts;
  }
};

// Rows of elements; a list is a matrix of one column. `order`: the place of each row in the list
// that was sorted, or undefined where none was.
Tensor begins_of(const Tensor& rows) {
  const int64_t n = rows.size(0);
  const Tensor first = full({std::min<int64_t>(n, 1)}, true, rows.options().dtype(kBool));
  if (n <= 1) return first;
  return cat({first, (rows.narrow(0, 1, n - 1) != rows.narrow(0, 0, n - 1)).any(1)}, 0);
}

// Row-major matrices sort by the last column first, since sorting is stable.
Tensor lexicographic_order(const Tensor& rows) {
  Tensor order = arange(rows.size(0), rows.options().dtype(kLong));
  for (int64_t column = rows.size(1); column-- > 0;) {
    const Tensor keys = rows.select(1, column).index_select(0, order);
    order = order.index_select(0, raw::sort(keys, 0, false).indices);
  }
  return order;
}

struct Found {
  Tensor places, inverse, counts;  // of the different rows, and for each row
};
Found different_rows(const Tensor& rows, bool consecutive, bool wants_inverse, bool wants_counts) {
  const Tensor none = empty({0}, rows.options().dtype(kLong));
  if (consecutive) {
    const Runs runs(begins_of(rows));
    return {runs.starts, wants_inverse ? runs.number : none, wants_counts ? runs.lengths() : none};
  }
  const Tensor order = lexicographic_order(rows);
  const Runs runs(begins_of(rows.index_select(0, order)));
  return {order.index_select(0, runs.starts),
          wants_inverse ? zeros_like(order).scatter_add(0, order, runs.number) : none,
          wants_counts ? runs.lengths() : none};
}

TensorTriple unique_elements(const Tensor& self, bool consecutive, bool wants_inverse,
                             bool wants_counts) {
  const Tensor list = self.detach().reshape({-1});
  const Found found = different_rows(list.unsqueeze(1), consecutive, wants_inverse, wants_counts);
  return {list.index_select(0, found.places),
          wants_inverse ? found.inverse.reshape(self.sizes()) : found.inverse, found.counts};
}

TensorTriple unique_slices(const char* op, const Tensor& self, int64_t dim, bool consecutive,
                           bool wants_inverse, bool wants_counts) {
  const int64_t d = wrap_dim(op, dim, self.dim());
  const Tensor x = self.detach(), slices = self.dim() ? x.transpose(0, d) : x.reshape({1});
  const int64_t count = slices.size(0);
  check(self.numel() > 0 || count == 0, op, ": the slices of dimension ", d, " of shape ",
        self.sizes(), " have no elements to compare");
  const Tensor rows = slices.reshape({count, count ? slices.numel() / count : 0});
  const Found found = different_rows(rows, consecutive, wants_inverse, wants_counts);
  return {x.dim() ? x.index_select(d, found.places) : x, found.inverse, found.counts};
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
