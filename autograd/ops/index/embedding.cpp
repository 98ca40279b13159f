// embedding: rows of a table, by their numbers.
#include "gradus/autograd/engine/one_node.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

// The factor for the gradient of each row that was looked up: undefined for 1. The factor has the
// type that the weights are computed in, since half types do not count far.
Tensor row_scale(const Tensor& flat, int64_t rows, int64_t padding_idx, bool by_freq,
                 const TensorOptions& options) {
  Tensor out;
  if (by_freq) {
    const Tensor once = ones({flat.numel()}, options);
    out = once / zeros({rows}, options).index_add(0, flat, once).index_select(0, flat);
  }
  if (padding_idx >= 0) {
    const Tensor kept = (flat != padding_idx).to(options.dtype());
    out = out.defined() ? out * kept : kept;
  }
  return out;
}

// A GPU reports such a number at the next synchronisation, without the table's name.
void check_rows(const Tensor& numbers, int64_t rows) {
  if (!numbers.is_cpu()) return;
  const int64_t* const first = numbers.data_ptr<int64_t>();
  for (int64_t i = 0; i < numbers.numel(); ++i)
    check<IndexError>(first[i] >= 0 && first[i] < rows, "embedding: index ", first[i],
                      " is no row of weight, which has ", rows, " rows; expected 0 <= index < ",
                      rows, ", make the table larger or the numbers smaller");
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx,
                 bool scale_grad_by_freq, bool /*sparse*/) {
  check(weight.operand("embedding", "weight").dim() == 2,
        "embedding: 'weight' must be 2-D, but its shape is ", weight.sizes(),
        "; give a row for each number");
  check<TypeError>(weight.is_floating_point(), "embedding: weight has dtype ", weight.dtype(),
                   ", expected a floating point type; convert with .to(kFloat)");
  const ScalarType dtype = indices.operand("embedding", "indices").dtype();
  check<TypeError>(dtype == kLong || dtype == kInt, "embedding: indices have dtype ", dtype,
                   ", expected int64 or int32; convert with .to(kLong)");
  raw::check_same_device("embedding", weight, "weight", indices, "indices");
  const int64_t rows = weight.size(0);
  check(padding_idx < rows, "embedding: padding_idx is ", padding_idx, ", and weight has ", rows,
        " rows; expected -1 or the number of a row");
  Dims shape = indices.impl().sizes;
  shape.push_back(weight.size(1));
  const Tensor flat = raw::contiguous(raw::to(indices.reshape(-1), kLong));
  check_rows(flat, rows);
  const Tensor each = raw::expand(raw::unsqueeze(flat, 1), {flat.numel(), weight.size(1)});
  const Tensor out = raw::gather(weight, 0, each, "embedding").view(shape);
  if (!recording(weight)) return out;
  const Tensor scale = without_graph([&] {
    return row_scale(flat, rows, padding_idx, scale_grad_by_freq, as_computed(weight).options());
  });
  record("EmbeddingBackward0", out, {weight}, {flat, scale}, [rows](Node& n, const Tensor& grad) {
    const Tensor places = n.saved(0), by = n.saved(1);
    Tensor parts = grad.reshape({places.numel(), grad.size(-1)});
    if (by.defined()) parts = parts * by.unsqueeze(1);
    Tensor sums = zeros({rows, grad.size(-1)}, parts.options());
    if (GradMode::is_enabled())
      sums = sums.index_add(0, places, parts);
    else
      sums.index_add_(0, places, parts);
    return Tensors{sums.to(grad.dtype())};
  });
  return out;
}

}  // namespace gradus
