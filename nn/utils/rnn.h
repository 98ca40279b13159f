// Sequences of different lengths in one tensor: padded, or packed step by step.
#pragma once

#include <optional>
#include <tuple>

#include "gradus/autograd/functions.h"

namespace gradus::nn::utils::rnn {

// The order that undoes a permutation; undefined for an undefined one.
Tensor invert_permutation(const Tensor& permutation);

// The steps of sequences one after the other, of the longest sequences first. Made by the functions
// below.
class PackedSequence {
 public:
  // unsorted_indices: the inverse of sorted_indices unless given.
  // Errors: TypeError where batch_sizes is not int64. ValueError where it is not on the CPU, does
  // not have one dimension, holds a number below 1 or above the one before, or does not sum to the
  // number of data's rows.
  explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {},
                          Tensor unsorted_indices = {});

  // (rows, ...): those of step t are of the batch_sizes[t] longest sequences.
  const Tensor& data() const { return data_; }
  const Tensor& batch_sizes() const { return batch_sizes_; }  // int64, on the CPU
  // Where the sequences were before they were sorted by length, and where they are now; undefined
  // where they had this order.
  const Tensor& sorted_indices() const { return sorted_indices_; }
  const Tensor& unsorted_indices() const { return unsorted_indices_; }

  PackedSequence pin_memory() const;
  PackedSequence to(TensorOptions options) const;
  PackedSequence cuda() const { return to(TensorOptions(kCUDA)); }
  PackedSequence cpu() const { return to(TensorOptions(kCPU)); }
  bool is_cuda() const { return data_.is_cuda(); }
  bool is_pinned() const { return data_.is_pinned(); }

 private:
  Tensor data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

// input (longest, batch, ...), or (batch, longest, ...); lengths (batch).
// Errors: ValueError for lengths that do not fit, and without enforce_sorted = false for lengths
// that are not in decreasing order.
PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first = false,
                                    bool enforce_sorted = true);
// The converse, and the lengths. total_length: at least so many steps.
std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence,
                                               bool batch_first = false, double padding_value = 0,
                                               std::optional<int64_t> total_length = std::nullopt);
// (longest, batch, ...), or (batch, longest, ...), of sequences (length, ...).
inline Tensor pad_sequence(ArrayRef<Tensor> sequences, bool batch_first = false,
                           double padding_value = 0) {
  return gradus::pad_sequence(sequences, batch_first, padding_value);
}
PackedSequence pack_sequence(ArrayRef<Tensor> sequences, bool enforce_sorted = true);

}  // namespace gradus::nn::utils::rnn
