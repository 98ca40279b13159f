// AdaptiveLogSoftmaxWithLoss: its clusters, the loss, and all probabilities.
#include "gradus/nn/modules/adaptive.h"

#include <algorithm>
#include <cmath>

namespace gradus::nn {

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  const int64_t classes = options.n_classes(), width = options.in_features();
  cutoffs = options.cutoffs();
  const bool increasing =
      std::ranges::adjacent_find(cutoffs, std::greater_equal()) == cutoffs.end();
  check(
      !cutoffs.empty() && increasing && cutoffs.front() > 0 && cutoffs.back() < classes, name(),
      ": cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
      "where each value is between 1 and n_classes-1, but they are ",
      IntArrayRef(cutoffs), ", and n_classes is ", classes,
      "; give the first class of each cluster");
  n_clusters = static_cast<int64_t>(cutoffs.size());
  shortlist_size = cutoffs[0];
  head_size = shortlist_size + n_clusters;
  cutoffs.push_back(classes);
  const auto features = [&](int64_t cluster) {
    return std::floor(static_cast<double>(width) /
                      std::pow(options.div_value(), static_cast<double>(cluster + 1)));
  };
  check(options.div_value() != 0, name(), ": div_value should not be equal to 0; give 1 or more");
  for (int64_t i = 0; i < n_clusters; ++i)
    check(features(i) >= 1, name(), ": cluster ", i, " has in_features / div_value^", i + 1, " = ",
          features(i), " features, for ", width, " and ", options.div_value(),
          "; give a smaller div_value or fewer cutoffs");

  head = register_module("head", Linear(LinearOptions(width, head_size).bias(options.head_bias())));
  tail = register_module("tail", ModuleList());
  for (int64_t i = 0; i < n_clusters; ++i) {
    const auto inner = static_cast<int64_t>(features(i));
    tail->push_back(
        Sequential(Linear(LinearOptions(width, inner).bias(false)),
                   Linear(LinearOptions(inner, cutoffs[i + 1] - cutoffs[i]).bias(false))));
  }
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  head->reset_parameters();
  for (const std::shared_ptr<Module>& cluster : *tail)
    for (const std::shared_ptr<Module>& layer : cluster->children())
      detail::module_as<LinearImpl>(layer).reset_parameters();
}

void AdaptiveLogSoftmaxWithLossImpl::pretty_print(std::ostream& stream) const {
  print_tree(stream, class_name(typeid(*this)));
}

void AdaptiveLogSoftmaxWithLossImpl::check_input(const Tensor& input) const {
  check_defined(input, "input");
  check(input.dim() == 2 && input.size(1) == options.in_features(), name(), ": input has shape ",
        input.sizes(), ", expected (N, ", options.in_features(), "); reshape it");
}

Tensor AdaptiveLogSoftmaxWithLossImpl::cluster_log_prob(int64_t cluster, const Tensor& input) {
  return tail->at<SequentialImpl>(static_cast<size_t>(cluster)).forward(input).log_softmax(1);
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input, const Tensor& target) {
  check_defined(input, "input"), check_defined(target, "target");
  if (input.dim() == 1 && target.dim() == 0) {
    const ASMoutput row = forward(input.unsqueeze(0), target.unsqueeze(0));
    return {row.output.squeeze(0), row.loss};
  }
  check_input(input);
  check(target.dim() == 1 && target.size(0) == input.size(0), name(),
        ": Input and target should have the same size in the batch dimension: input has shape ",
        input.sizes(), ", target ", target.sizes(), "; give a class for each row");
  check<TypeError>(target.dtype() == kLong, name(), ": target has dtype ", target.dtype(),
                   ", expected class numbers of int64; convert with .to(kLong)");
  const int64_t classes = options.n_classes(), rows = target.size(0);
  const bool all_classes = rows == 0 || ((target >= 0) & (target < classes)).all().item<bool>();
  check<IndexError>(all_classes, name(), ": Target values should be in [0, ", classes - 1,
                    "], but values in range [", all_classes ? 0 : target.min().item<int64_t>(),
                    ", ", all_classes ? 0 : target.max().item<int64_t>(),
                    "] were found; raise n_classes or mend the target");

  // A target of a cluster has the probability of the cluster times that within it.
  Tensor in_head = target, output = zeros({rows}, input.options());
  for (int64_t i = 0; i < n_clusters; ++i) {
    const Tensor places = ((target >= cutoffs[i]) & (target < cutoffs[i + 1])).nonzero().squeeze(1);
    if (places.size(0) == 0) continue;
    in_head = in_head.index_fill(0, places, shortlist_size + i);
    const Tensor within = target.index_select(0, places) - cutoffs[i];
    const Tensor logs = cluster_log_prob(i, input.index_select(0, places));
    output = output.index_add(0, places, logs.gather(1, within.unsqueeze(1)).squeeze(1));
  }
  const Tensor logs = head(input).log_softmax(1);
  output = output + logs.gather(1, in_head.unsqueeze(1)).squeeze(1);
  return {output, (-output).mean().item<double>()};
}

Tensor AdaptiveLogSoftmaxWithLossImpl::_get_full_log_prob(const Tensor& input,
                                                          const Tensor& head_output) {
  const Tensor logs = head_output.log_softmax(1);
  Tensors parts{logs.slice(1, 0, shortlist_size)};
  for (int64_t i = 0; i < n_clusters; ++i) {
    const int64_t place = shortlist_size + i;
    parts.push_back(cluster_log_prob(i, input) + logs.slice(1, place, place + 1));
  }
  return cat(parts, 1);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input) {
  check_input(input);
  return _get_full_log_prob(input, head(input));
}

Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input) {
  check_input(input);
  const Tensor logits = head(input), best = logits.argmax(1);
  // A class of the shortlist is more probable than each cluster, and so than each class in it.
  const Tensor rest = (best >= shortlist_size).nonzero().squeeze(1);
  if (rest.size(0) == 0) return best;
  const Tensor logs = _get_full_log_prob(input.index_select(0, rest), logits.index_select(0, rest));
  return best.index_copy(0, rest, logs.argmax(1));
}

}  // namespace gradus::nn
