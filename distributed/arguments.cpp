// Checks of groups, ranks, tensors and lists of them.
#include "gradus/distributed/arguments.h"

#include <algorithm>

#include "gradus/distributed/world.h"

namespace gradus::distributed {

ProcessGroup& resolve(std::string_view op, const Group& group) {
  ProcessGroup& chosen = group ? *group : *world_group(op);
  check(chosen.rank() >= 0, op, ": this rank is not in group '", chosen.name(),
        "'; only its members may call it");
  return chosen;
}

int place_in(const ProcessGroup& group, std::string_view op, const char* argument, int rank) {
  const auto& ranks = group.ranks();
  const auto at = std::find(ranks.begin(), ranks.end(), rank);
  check(at != ranks.end(), op, ": ", argument, " = ", rank, " is not a rank of group '",
        group.name(), "'; its ranks are ",
        IntArrayRef(std::vector<int64_t>(ranks.begin(), ranks.end())));
  return static_cast<int>(at - ranks.begin());
}

void check_tensor(const ProcessGroup& group, const char* op, const char* argument,
                  const Tensor& x) {
  check(x.defined(), op, ": ", argument, " is undefined, expected a tensor; assign it one first");
  group.check_device(op, x.device());
  check(x.is_contiguous(), op, ": ", argument, " of shape ", x.sizes(), " and strides ",
        x.strides(), " is not contiguous; pass ", argument, ".contiguous()");
}

void check_list(const ProcessGroup& group, const char* op, const char* argument,
                const Tensors& list, const Tensor& like) {
  check(list.size() == static_cast<size_t>(group.size()), op, ": ", argument, " has ", list.size(),
        " tensors; expected one for each of the ", group.size(), " ranks; give a list of ",
        group.size(), " tensors");
  for (const Tensor& x : list) {
    check_tensor(group, op, argument, x);
    check(x.sizes() == like.sizes() && x.dtype() == like.dtype() && x.device() == like.device(), op,
          ": ", argument, " has ", described(x), " on ", x.device(), ", expected ", described(like),
          " on ", like.device());
  }
}

void check_pair(const char* op, const char* argument, const Tensor& x, const Tensor& like) {
  check<TypeError>(x.dtype() == like.dtype(), op, ": ", argument, " has dtype ", x.dtype(),
                   ", and another tensor of the call has ", like.dtype());
  check(x.device() == like.device(), op, ": ", argument, " is on ", x.device(),
        ", and another tensor of the call on ", like.device());
}

ProcessGroup::Counts split_counts(const ProcessGroup& group, const char* op, const char* argument,
                                  const Tensor& x, const std::vector<int64_t>& rows) {
  const auto ranks = static_cast<size_t>(group.size());
  check(x.dim() > 0, op, ": ", argument, " has no dimension to be split along");
  const int64_t length = x.size(0);
  if (rows.empty()) {
    check(length % group.size() == 0, op, ": ", argument, " of shape ", x.sizes(), " has ", length,
          " rows, which ", group.size(), " ranks cannot share equally; pass the split sizes");
    return ProcessGroup::Counts(ranks, x.numel() / group.size());
  }
  check(rows.size() == ranks, op, ": ", rows.size(), " split sizes for ", argument,
        ", expected one for each of the ", ranks, " ranks");
  int64_t sum = 0;
  for (const int64_t count : rows) {
    check(count >= 0, op, ": a split size of ", argument, " is ", count);
    sum += count;
  }
  check(sum == length, op, ": the split sizes ", IntArrayRef(rows), " of ", argument, " sum to ",
        sum, ", and it has ", length, " rows");
  ProcessGroup::Counts counts;
  for (const int64_t count : rows) counts.push_back(length == 0 ? 0 : count * (x.numel() / length));
  return counts;
}

void check_reduction(const char* op, ReduceOp reduction, const Tensor& x) {
  check<TypeError>(reduction != ReduceOp::AVG || x.is_floating_point(), op, ": AVG of ", x.dtype(),
                   ", which has no fractions; convert to a floating type, "
                   "or use SUM");
}

std::string described(const Tensor& x) {
  std::string text;
  append(text, x.dtype());
  text += ' ';
  append(text, x.sizes());
  return text;
}

}  // namespace gradus::distributed
