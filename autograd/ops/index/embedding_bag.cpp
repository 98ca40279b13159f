// embedding_bag: sums, means or maxima of the rows of a table, for bags of their numbers.
#include <limits>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

namespace gradus {

namespace {

constexpr const char* kBag = "embedding_bag";

// Where each bag begins, as int64, and where the last one ends if that is included.
Tensor borders_of(const Tensor& offsets, int64_t numbers, bool include_last_offset) {
  check(offsets.operand(kBag, "offsets").dim() == 1, kBag,
        ": offsets has to be a 1D Tensor, but its shape is ", offsets.sizes(), "; flatten it");
  check(!include_last_offset || offsets.size(0) > 0, kBag,
        ": include_last_offset: number of offsets should be at least 1; give where the last bag "
        "ends");
  const Tensor borders = offsets.to(kLong).contiguous();
  if (!borders.is_cpu()) return borders;  // a GPU would have to wait for them
  const int64_t* const at = borders.data_ptr<int64_t>();
  for (int64_t i = 0; i < borders.numel(); ++i) {
    check(i > 0 || at[0] == 0, kBag,
          ": offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
          "position 0. However, got ",
          at[0], "; put a 0 before it");
    check(i == 0 || at[i - 1] <= at[i], kBag, ": offsets fall from ", at[i - 1], " to ", at[i],
          " at position ", i, ", expected each at least the one before it; sort the bags");
    check(at[i] <= numbers, kBag, ": offsets[-1] can not be greater than input's length ", numbers,
          " but got offsets[-1] of ", at[borders.numel() - 1], "; offsets say where bags begin");
  }
  return borders;
}

// Where the first of the largest numbers of each bag and column stands; the number of rows where
// none counts.
Tensor first_of_largest(const Tensor& rows, const Tensor& bags, const Tensor& counts,
                        int64_t count) {
  const NoGradGuard guard;
  const int64_t length = rows.size(0);
  const Tensor numbers = where(counts, rows, -std::numeric_limits<double>::infinity());
  const Dims shape{count, rows.size(1)};
  const Tensor largest = zeros(shape, rows.options()).index_reduce(0, bags, numbers, "amax", false);
  const Tensor is_largest = counts & ((rows == largest.index_select(0, bags)) | rows.isnan());
  const TensorOptions places = bags.options();
  const Tensor found = where(is_largest, arange(length, places).unsqueeze(1), length);
  return full(shape, length, places).index_reduce(0, bags, found, "amin");
}

}  // namespace

TensorQuadruple embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                              bool scale_grad_by_freq, int64_t mode, bool sparse,
                              const std::optional<Tensor>& per_sample_weights,
                              bool include_last_offset, std::optional<int64_t> padding_idx) {
  constexpr int64_t sum = 0, mean = 1, max = 2;
  check(mode == sum || mode == mean || mode == max, kBag, ": mode is ", mode,
        "; give 0 for sums, 1 for means or 2 for maxima");
  check(weight.operand(kBag, "weight").dim() == 2, kBag,
        ": 'weight' must be 2-D, but its shape is ", weight.sizes(),
        "; give a row for each number");
  check(indices.operand(kBag, "indices").dim() == 1, kBag, ": indices has shape ", indices.sizes(),
        ", expected one dimension; flatten it, and say by offsets where bags begin");
  const int64_t rows = weight.size(0), length = indices.size(0);
  const bool scaled = per_sample_weights && per_sample_weights->defined();
  check(!scaled || mode == sum, kBag,
        ": per_sample_weights was not null. per_sample_weights is only supported for mode='kSum'; "
        "leave them out, or take sums");
  check(!scaled || per_sample_weights->sizes() == indices.sizes(), kBag,
        ": per_sample_weights has shape ", scaled ? per_sample_weights->sizes() : indices.sizes(),
        ", indices ", indices.sizes(), "; give a weight for each index");
  check(mode != max || !scale_grad_by_freq, kBag,
        ": max mode does not support scaling the gradient by the frequency; leave "
        "scale_grad_by_freq off");
  check(mode != max || !sparse, kBag,
        ": max mode does not support sparse weights; leave sparse off");
  check(!padding_idx || (*padding_idx >= -rows && *padding_idx < rows), kBag,
        ": padding_idx must be within the number of embeddings, ", -rows, " through ", rows - 1,
        ", but got ", padding_idx.value_or(0), "; give the number of a row");
  const int64_t padding = !padding_idx ? -1 : *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
  const Tensor borders = borders_of(offsets, length, include_last_offset);

  const TensorOptions places = TensorOptions(kLong).device(indices.device());
  // Numbers behind a last offset are in a bag of their own, which the results leave out. So is all
  // of the input where there are no offsets.
  const int64_t bags_asked = borders.size(0) - static_cast<int64_t>(include_last_offset);
  const int64_t count = std::max<int64_t>(borders.size(0), 1);
  const auto asked = [&](const Tensor& of_bags) { return of_bags.narrow(0, 0, bags_asked); };
  const Tensor bags =
      borders.size(0) == 0
          ? zeros({length}, places)
          : searchsorted(borders, arange(length, places), /*out_int32=*/false, true) - 1;
  const Tensor counts = indices != padding;
  const Tensor bag_size = zeros({count}, places).index_add(0, bags, counts.to(kLong));
  Tensor each = embedding(weight, indices, padding, scale_grad_by_freq);
  if (mode == max) {
    const Tensor first = first_of_largest(each, bags, counts.unsqueeze(1), count);
    // An element more for the bags in which nothing counts.
    const auto chosen = [&first](const Tensor& x, const Tensor& nothing) {
      return cat({x, nothing}).gather(0, first);
    };
    const Tensor numbers = indices.to(kLong).unsqueeze(1).expand({length, weight.size(1)});
    return {asked(chosen(each, zeros({1, weight.size(1)}, each.options()))), bags, asked(bag_size),
            asked(chosen(numbers, zeros({1, weight.size(1)}, places)))};
  }
  if (padding >= 0) each = where(counts.unsqueeze(1), each, 0);
  if (scaled) each = each * per_sample_weights->unsqueeze(1);
  const ScalarType dtype = each.dtype();
  if (mode == mean) each = each.to(computed_type(dtype));  // half types count and add up less far
  Tensor out = zeros({count, weight.size(1)}, each.options()).index_add(0, bags, each);
  if (mode == mean) out = (out / bag_size.clamp_min(1).unsqueeze(1)).to(dtype);
  return {asked(out), bags, asked(bag_size), empty({0}, places)};
}

}  // namespace gradus
