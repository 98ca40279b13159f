// Padded and packed sequences, of functions that join and cut.
#include "gradus/nn/utils/rnn.h"

#include "gradus/tensor/factories.h"

namespace gradus::nn::utils::rnn {

namespace {

std::vector<int64_t> numbers(const Tensor& x) {
  const Tensor flat = x.to(kCPU, kLong).contiguous();
  const int64_t* const first = flat.data_ptr<int64_t>();
  return {first, first + flat.numel()};
}

// Others would read and write beyond the rows of the data.
void check_batch_sizes(const Tensor& data, const Tensor& batch_sizes) {
  constexpr const char* kFix = "; make it with pack_sequence or pack_padded_sequence";
  check<TypeError>(batch_sizes.dtype() == kLong, "PackedSequence: batch_sizes have dtype ",
                   batch_sizes.dtype(), ", expected int64; convert with .to(kLong)");
  check(batch_sizes.dim() == 1, "PackedSequence: batch_sizes have shape ", batch_sizes.sizes(),
        ", expected one dimension, a number for each step", kFix);
  check(data.operand("PackedSequence", "data").dim() >= 1,
        "PackedSequence: data has shape [], expected (rows, ...)", kFix);
  int64_t rows = 0, last = data.size(0);
  for (const int64_t size : numbers(batch_sizes)) {
    check(size >= 1 && size <= last, "PackedSequence: batch_sizes have ", size,
          rows == 0 ? " first, expected 1 to the number of rows, " : " after ", last,
          rows == 0 ? "" : ", expected 1 or more, and never more than before", kFix);
    rows += size, last = size;
  }
  check(rows == data.size(0), "PackedSequence: batch_sizes sum to ", rows, ", and data has shape ",
        data.sizes(), "; expected as many rows", kFix);
}

}  // namespace

Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return {};
  return empty_like(permutation)
      .scatter_(0, permutation, arange(permutation.numel(), permutation.options()));
}

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices,
                               Tensor unsorted_indices)
    : data_(std::move(data)),
      batch_sizes_(std::move(batch_sizes)),
      sorted_indices_(std::move(sorted_indices)),
      unsorted_indices_(unsorted_indices.defined() ? std::move(unsorted_indices)
                                                   : invert_permutation(sorted_indices_)) {
  check(batch_sizes_.operand("PackedSequence", "batch_sizes").is_cpu(),
        "PackedSequence: batch_sizes should always be on CPU, but they are on ",
        batch_sizes_.device(), "; make it with pack_sequence or pack_padded_sequence");
  check_batch_sizes(data_, batch_sizes_);
}

PackedSequence PackedSequence::pin_memory() const {
  const auto pinned = [](const Tensor& x) { return x.defined() ? x.pin_memory() : x; };
  return PackedSequence(pinned(data_), batch_sizes_, pinned(sorted_indices_),
                        pinned(unsorted_indices_));
}

PackedSequence PackedSequence::to(TensorOptions options) const {
  const Tensor data = data_.to(options);
  if (data.is_same(data_)) return *this;
  const auto moved = [&](const Tensor& x) { return x.defined() ? x.to(data.device()) : x; };
  return PackedSequence(data, batch_sizes_, moved(sorted_indices_), moved(unsorted_indices_));
}

PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first,
                                    bool enforce_sorted) {
  constexpr const char* kOp = "pack_padded_sequence";
  check(input.operand(kOp, "input").dim() >= 2, kOp, ": input has shape ", input.sizes(),
        ", expected at least 2 dimensions, (length, batch, ...); unsqueeze it");
  check(lengths.operand(kOp, "lengths").dim() == 1, kOp, ": lengths have shape ", lengths.sizes(),
        ", expected one dimension, a length for each sequence; flatten them");
  lengths = lengths.to(kLong);
  Tensor order;
  const int64_t batch_dim = batch_first ? 0 : 1;
  if (!enforce_sorted) {
    std::tie(lengths, order) = lengths.sort(-1, /*descending=*/true);
    order = order.to(input.device());
    input = input.index_select(batch_dim, order);
  }
  if (batch_first) input = input.transpose(0, 1);
  const std::vector<int64_t> list = numbers(lengths);
  const auto batch = static_cast<int64_t>(list.size());
  check(input.numel() > 0, kOp, ": Cannot pack empty tensors, and input has shape ", input.sizes(),
        "; leave out empty sequences");
  check(batch == input.size(1), kOp,
        ": Expected `len(lengths)` to be equal to batch_size, but got ", batch,
        " (batch_size=", input.size(1),
        "); input has shape (length, batch, ...), or give batch_first");
  for (size_t i = 0; i < list.size(); ++i) {
    check(list[i] > 0, kOp,
          ": Length of all samples has to be greater than 0, but found an element in 'lengths' "
          "that is <= 0, ",
          list[i], " at place ", i, "; leave out empty sequences");
    check(i == 0 || list[i] <= list[i - 1], kOp,
          ": `lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You "
          "can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
          "sidestep this requirement; here ",
          list[i], " follows ", list[i == 0 ? 0 : i - 1]);
  }
  check(list[0] <= input.size(0), kOp, ": a sequence is ", list[0], " long, and input has ",
        input.size(0), " steps; give lengths of at most that");
  Tensors steps;
  std::vector<int64_t> sizes;
  int64_t running = batch;
  for (int64_t t = 0; t < list[0]; ++t) {
    while (list[static_cast<size_t>(running) - 1] <= t) --running;
    steps.push_back(input[t].narrow(0, 0, running));
    sizes.push_back(running);
  }
  return PackedSequence(cat(steps), tensor(sizes, kLong), order);
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first,
                                               double padding_value,
                                               std::optional<int64_t> total_length) {
  const std::vector<int64_t> sizes = numbers(sequence.batch_sizes());
  const auto longest = static_cast<int64_t>(sizes.size());
  check(longest > 0, "pad_packed_sequence: the sequence is empty, its data has shape ",
        sequence.data().sizes(), ", expected one step or more; leave it out");
  check(total_length.value_or(longest) >= longest,
        "pad_packed_sequence: Expected total_length to be at least the length of the longest "
        "sequence in input, but got total_length=",
        total_length.value_or(longest), " and max sequence length being ", longest,
        "; leave total_length out");
  const int64_t batch = sizes[0];
  std::vector<int64_t> lengths(static_cast<size_t>(batch));
  Tensors steps;
  int64_t row = 0;
  for (const int64_t size : sizes) {
    const Tensor step = sequence.data().narrow(0, row, size);
    std::vector<int64_t> pad(2 * static_cast<size_t>(step.dim()), 0);
    pad.back() = batch - size;
    steps.push_back(constant_pad_nd(step, pad, padding_value));
    for (int64_t i = 0; i < size; ++i) ++lengths[static_cast<size_t>(i)];
    row += size;
  }
  for (int64_t t = longest; t < total_length.value_or(longest); ++t)
    steps.push_back(full_like(steps[0], padding_value));
  const int64_t batch_dim = batch_first ? 0 : 1;
  Tensor padded = stack(steps, 1 - batch_dim), counts = tensor(lengths, kLong);
  if (const Tensor& order = sequence.unsorted_indices(); order.defined()) {
    padded = padded.index_select(batch_dim, order);
    counts = counts.index_select(0, order.to(kCPU));
  }
  return {padded, counts};
}

PackedSequence pack_sequence(ArrayRef<Tensor> sequences, bool enforce_sorted) {
  std::vector<int64_t> lengths;
  const Tensor padded = gradus::pad_sequence(sequences);
  for (const Tensor& sequence : sequences) lengths.push_back(sequence.size(0));
  return pack_padded_sequence(padded, tensor(lengths, kLong), false, enforce_sorted);
}

}  // namespace gradus::nn::utils::rnn
