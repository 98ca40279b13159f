// ColumnParallelLinear and RowParallelLinear: layers divided among ranks. Each rank has a part of
// the weight and does a part of the work.
//
// Two functions do all communication (Shoeybi et al., "Megatron-LM", 2019). f is the identity in
// the forward pass, and adds up the ranks' gradients in the backward pass. g adds up the ranks'
// results in the forward pass, and is the identity in the backward pass. So
//
//   RowParallelLinear(activation(ColumnParallelLinear(x)))
//
// with gather_output(false) and input_is_parallel(true) runs f, this rank's outputs of the first
// layer, their activation, this rank's terms of the second layer's outputs, and g: one all_reduce
// in each direction.
#pragma once

#include "gradus/distributed/process_group.h"
#include "gradus/nn/module.h"
#include "gradus/tensor/base/option.h"

namespace gradus::distributed {

// f: forward x as it is, backward all_reduce.
Tensor copy_to_ranks(const Tensor& x, const Group& group = nullptr);
// g: forward all_reduce, backward the gradient as it is.
Tensor reduce_from_ranks(const Tensor& x, const Group& group = nullptr);
// The parts of all ranks along the last dimension; backward this rank's part of the gradient.
Tensor gather_from_ranks(const Tensor& x, const Group& group = nullptr);
// The part along the last dimension that belongs to this rank. The backward gathers the parts of
// all.
// Errors: ValueError where it does not divide.
Tensor scatter_to_ranks(const Tensor& x, const Group& group = nullptr);

struct ParallelLinearOptions {
  ParallelLinearOptions(int64_t in_features, int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}
  GRADUS_OPTION(ParallelLinearOptions, int64_t, in_features);
  GRADUS_OPTION(ParallelLinearOptions, int64_t, out_features);
  GRADUS_OPTION(ParallelLinearOptions, bool, bias) = true;
  // ColumnParallelLinear: whether all ranks get the whole output, or only their part.
  GRADUS_OPTION(ParallelLinearOptions, bool, gather_output) = true;
  // RowParallelLinear: whether the input is this rank's part already.
  GRADUS_OPTION(ParallelLinearOptions, bool, input_is_parallel) = false;
  GRADUS_OPTION(ParallelLinearOptions, Group, group) = nullptr;
};

// Each rank computes some of the outputs: rows of `weight` (out_features / ranks, in_features) and
// of `bias`. The parts are initialised from one nn::Linear made at the group's first rank.
// Errors: ValueError where the ranks cannot share out_features evenly.
struct ColumnParallelLinearImpl : nn::Module {
  ColumnParallelLinearImpl(int64_t in_features, int64_t out_features)
      : ColumnParallelLinearImpl(ParallelLinearOptions(in_features, out_features)) {}
  explicit ColumnParallelLinearImpl(const ParallelLinearOptions& options);
  Tensor forward(const Tensor& x);

  ParallelLinearOptions options;
  Tensor weight, bias;
};
GRADUS_MODULE(ColumnParallelLinear);

// Each rank computes a part of every output, from some of the inputs: columns of `weight`
// (out_features, in_features / ranks). All have the same `bias`, which is added to the sum.
// Errors: ValueError where the ranks cannot share in_features evenly.
struct RowParallelLinearImpl : nn::Module {
  RowParallelLinearImpl(int64_t in_features, int64_t out_features)
      : RowParallelLinearImpl(ParallelLinearOptions(in_features, out_features)) {}
  explicit RowParallelLinearImpl(const ParallelLinearOptions& options);
  Tensor forward(const Tensor& x);

  ParallelLinearOptions options;
  Tensor weight, bias;
};
GRADUS_MODULE(RowParallelLinear);

}  // namespace gradus::distributed
