// ColumnParallelLinear, RowParallelLinear and the two functions between ranks.
#include "gradus/distributed/ddp/model_parallel.h"

#include "gradus/autograd/engine/record.h"
#include "gradus/distributed/arguments.h"
#include "gradus/distributed/collectives.h"
#include "gradus/distributed/world.h"
#include "gradus/nn/modules/linear.h"

namespace gradus::distributed {

namespace {

Group chosen(const Group& group) { return group ? group : world_group("model parallel"); }

Tensor summed(const Tensor& x, const Group& group) {
  const Tensor sum = x.detach().clone(MemoryFormat::Contiguous);
  all_reduce(sum, ReduceOp::SUM, group);
  return sum;
}

Tensor gathered(const Tensor& x, const Group& group) {
  Tensors parts;
  const Tensor mine = x.detach().contiguous();
  for (int r = 0; r < group->size(); ++r) parts.push_back(empty_like(mine));
  all_gather(parts, mine, group);
  return cat(parts, -1);
}

// The part of x along dim that belongs to this rank.
Tensor part(const Tensor& x, int64_t dim, const ProcessGroup& group) {
  const int64_t length = x.size(dim) / group.size();
  return x.narrow(dim, group.rank() * length, length);
}

void check_share(const char* op, const char* what, int64_t length, const ProcessGroup& group) {
  check(length % group.size() == 0, op, ": ", group.size(), " ranks cannot share ", what, " = ",
        length, " evenly; choose a multiple of ", group.size());
}

// The layer that the ranks' parts are of.
nn::Linear whole_layer(const ParallelLinearOptions& options, const Group& group) {
  nn::Linear layer(
      nn::LinearOptions(options.in_features(), options.out_features()).bias(options.bias()));
  for (const Tensor& x : layer->parameters()) broadcast(x.detach(), group->ranks()[0], group);
  return layer;
}

}  // namespace

Tensor copy_to_ranks(const Tensor& x, const Group& given) {
  const Group group = chosen(given);
  const Tensor y = x.detach();
  if (recording(x))
    record("CopyToRanks", y, {x}, {},
           [group](Node&, const Tensor& grad) { return Tensors{reduce_from_ranks(grad, group)}; });
  return y;
}

Tensor reduce_from_ranks(const Tensor& x, const Group& given) {
  const Group group = chosen(given);
  const Tensor y = summed(x, group);
  if (recording(x))
    record("ReduceFromRanks", y, {x}, {},
           [group](Node&, const Tensor& grad) { return Tensors{copy_to_ranks(grad, group)}; });
  return y;
}

Tensor gather_from_ranks(const Tensor& x, const Group& given) {
  const Group group = chosen(given);
  const Tensor y = gathered(x, group);
  if (recording(x))
    record("GatherFromRanks", y, {x}, {},
           [group](Node&, const Tensor& grad) { return Tensors{scatter_to_ranks(grad, group)}; });
  return y;
}

Tensor scatter_to_ranks(const Tensor& x, const Group& given) {
  const Group group = chosen(given);
  check_share("scatter_to_ranks", "the last dimension", x.size(-1), *group);
  const Tensor y = part(x.detach(), -1, *group).contiguous();
  if (recording(x))
    record("ScatterToRanks", y, {x}, {},
           [group](Node&, const Tensor& grad) { return Tensors{gather_from_ranks(grad, group)}; });
  return y;
}

ColumnParallelLinearImpl::ColumnParallelLinearImpl(const ParallelLinearOptions& options_)
    : Module("ColumnParallelLinear"), options(options_) {
  const Group group = chosen(options.group());
  check_share("ColumnParallelLinear", "out_features", options.out_features(), *group);
  const nn::Linear whole = whole_layer(options, group);
  weight = register_parameter(
      "weight", part(whole->weight.detach(), 0, *group).clone(MemoryFormat::Contiguous));
  if (options.bias())
    bias = register_parameter(
        "bias", part(whole->bias.detach(), 0, *group).clone(MemoryFormat::Contiguous));
}

Tensor ColumnParallelLinearImpl::forward(const Tensor& x) {
  const Tensor y = gradus::linear(copy_to_ranks(x, options.group()), weight, bias);
  return options.gather_output() ? gather_from_ranks(y, options.group()) : y;
}

RowParallelLinearImpl::RowParallelLinearImpl(const ParallelLinearOptions& options_)
    : Module("RowParallelLinear"), options(options_) {
  const Group group = chosen(options.group());
  check_share("RowParallelLinear", "in_features", options.in_features(), *group);
  const nn::Linear whole = whole_layer(options, group);
  weight = register_parameter(
      "weight", part(whole->weight.detach(), 1, *group).clone(MemoryFormat::Contiguous));
  if (options.bias()) bias = register_parameter("bias", whole->bias.detach());
}

Tensor RowParallelLinearImpl::forward(const Tensor& x) {
  const Tensor mine = options.input_is_parallel() ? x : scatter_to_ranks(x, options.group());
  const Tensor sum = reduce_from_ranks(gradus::linear(mine, weight, Tensor()), options.group());
  return bias.defined() ? sum + bias : sum;
}

}  // namespace gradus::distributed
