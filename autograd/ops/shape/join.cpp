// cat, stack, hstack, vstack, block_diag, cartesian_prod: several tensors into one.
#include "gradus/autograd/engine/any_dtype.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

Tensor cat(ArrayRef<Tensor> tensors, int64_t dim) {
  Tensor out = raw::cat(tensors, dim);
  if (!recording(tensors)) return out;
  const int64_t d = wrap_dim("cat", dim, out);
  std::vector<int64_t> lengths;  // -1: of shape (0), which may stand beside tensors of another rank
  for (const Tensor& x : tensors) lengths.push_back(x.dim() == out.dim() ? x.sizes()[d] : -1);
  // Under autocast the gradient comes as a product makes it.
  record_lists_saying<TakesAnyDtype>(
      "CatBackward0", out, tensors,
      [d, lengths = std::move(lengths)](Node& n, const Tensors& grads) {
        Tensors parts(lengths.size());
        int64_t start = 0;
        for (size_t i = 0; i < parts.size(); ++i) {
          if (lengths[i] < 0) {
            parts[i] = grads[0].new_zeros({0});
            continue;
          }
          if (n.wants(i)) parts[i] = grads[0].narrow(d, start, lengths[i]);
          start += lengths[i];
        }
        return parts;
      });
  return out;
}
Tensor concat(ArrayRef<Tensor> tensors, int64_t dim) { return cat(tensors, dim); }
Tensor concatenate(ArrayRef<Tensor> tensors, int64_t dim) { return cat(tensors, dim); }

Tensor stack(ArrayRef<Tensor> tensors, int64_t dim) {
  check(!tensors.empty(), "stack: stack expects a non-empty TensorList; give one tensor at least");
  for (const Tensor& x : tensors) x.operand("stack", "one of the tensors");
  const int64_t d = wrap_dim("stack", dim, tensors[0].dim() + 1);
  Tensors rows;
  rows.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    check(tensors[i].sizes() == tensors[0].sizes(),
          "stack: stack expects each tensor to be equal size, but got ", tensors[0].sizes(),
          " at entry 0 and ", tensors[i].sizes(), " at entry ", i,
          "; use cat() for tensors that differ along one dimension");
    rows.push_back(raw::unsqueeze(tensors[i], d));
  }
  Tensor out = raw::cat(rows, d);
  if (recording(tensors))
    record_lists("StackBackward0", {out}, tensors,
                 [d](Node&, const Tensors& grads) { return grads[0].unbind(d); });
  return out;
}

Tensor hstack(ArrayRef<Tensor> tensors) {
  const Tensors rows = atleast_1d(tensors);
  return cat(rows, !rows.empty() && rows[0].dim() == 1 ? 0 : 1);
}
Tensor vstack(ArrayRef<Tensor> tensors) { return cat(atleast_2d(tensors), 0); }
Tensor row_stack(ArrayRef<Tensor> tensors) { return vstack(tensors); }
Tensor dstack(ArrayRef<Tensor> tensors) { return cat(atleast_3d(tensors), 2); }

Tensor column_stack(ArrayRef<Tensor> tensors) {
  Tensors columns;
  for (const Tensor& x : tensors) columns.push_back(x.dim() <= 1 ? x.reshape({x.numel(), 1}) : x);
  return cat(columns, 1);
}

Tensor block_diag(ArrayRef<Tensor> tensors) {
  if (tensors.empty()) return empty({1, 0});
  int64_t columns = 0, before = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    check(tensors[i].operand("block_diag", "one of the tensors").dim() <= 2,
          "block_diag: the tensor at position ", i, " has shape ", tensors[i].sizes(),
          ", expected at most 2 dimensions");
    columns += tensors[i].dim() == 0 ? 1 : tensors[i].size(-1);
  }
  Tensors rows;
  for (const Tensor& x : atleast_2d(tensors)) {
    const int64_t after = columns - before - x.size(1);
    rows.push_back(constant_pad_nd(x, {before, after}));
    before += x.size(1);
  }
  return cat(rows, 0);
}

Tensor cartesian_prod(ArrayRef<Tensor> tensors) {
  for (const Tensor& x : tensors)
    check(x.operand("cartesian_prod", "one of the tensors").dim() == 1,
          "cartesian_prod: a tensor has shape ", x.sizes(), ", expected vectors");
  check(!tensors.empty(), "cartesian_prod: the list of tensors is empty; give one or more");
  if (tensors.size() == 1) return tensors[0];
  Tensors columns = meshgrid(tensors);
  for (Tensor& column : columns) column = column.reshape({-1});
  return stack(columns, 1);
}

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  check(self.operand("combinations").dim() == 1, "combinations: self has shape ", self.sizes(),
        ", expected a vector");
  check(r >= 0, "combinations: r = ", r, " is negative; give 0 or more");
  if (r == 0) return empty({0}, self.options());
  // The choices in lexicographic order: increase the last index that has room, restart those after.
  const int64_t n = self.numel(), step = with_replacement ? 0 : 1;
  std::vector<int64_t> chosen, all;
  for (int64_t i = 0; i < r; ++i) chosen.push_back(i * step);
  for (bool more = n > 0 && chosen.back() < n; more;) {
    all.insert(all.end(), chosen.begin(), chosen.end());
    int64_t i = r - 1;
    while (i >= 0 && chosen[i] == n - 1 - (r - 1 - i) * step) --i;
    more = i >= 0;
    if (!more) break;
    ++chosen[i];
    for (int64_t j = i + 1; j < r; ++j) chosen[j] = chosen[j - 1] + step;
  }
  const Tensor index = tensor(all).to(self.device());
  return self.gather(0, index).view({-1, r});
}

}  // namespace gradus
