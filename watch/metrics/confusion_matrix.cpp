// ConfusionMatrix: pairs of classes, counted by a scatter.
#include "gradus/watch/metrics/confusion_matrix.h"

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"
#include "gradus/watch/metrics/classes.h"

namespace gradus::metrics {

ConfusionMatrix::ConfusionMatrix(const char* name, ConfusionMatrixOptions options)
    : name_(name), options_(options) {
  check(options.num_classes() >= 2, name, ": num_classes is ", options.num_classes(),
        ", expected 2 or more");
}

void ConfusionMatrix::update(const Tensor& preds, const Tensor& target) {
  const std::string op = std::string(name_) + ".update";
  const NoGradGuard no_grad;
  const int64_t classes = options_.num_classes();
  const auto [predictions, targets, counted] =
      detail::class_pairs(op.c_str(), preds, target, options_.threshold(), options_.ignore_index());
  check(preds.dim() == target.dim() || preds.size(1) == classes, op, ": preds has ",
        preds.dim() > 1 ? preds.size(1) : 0, " classes, expected the ", classes, " of num_classes");
  detail::check_classes(op.c_str(), "target", targets, classes);
  detail::check_classes(op.c_str(), "preds", predictions, classes);
  const Tensor ones = counted.defined() ? counted.to(kLong) : ones_like(targets);
  const Tensor places = (targets * classes + predictions).reshape({-1});
  const Tensor counts = zeros({classes * classes}, targets.options());
  counts_ = detail::added(counts_, counts.scatter_add(0, places, ones.reshape({-1})));
}

Tensor ConfusionMatrix::compute() const {
  detail::check_counted(name_, counts_.defined());
  return counts_.to(Device(kCPU)).view({options_.num_classes(), options_.num_classes()});
}

void ConfusionMatrix::reset() { counts_.reset(); }

Tensor ConfusionMatrix::state() const {
  return detail::listed({counts_}, options_.num_classes() * options_.num_classes());
}
void ConfusionMatrix::take_states(const Tensors& of_ranks) {
  counts_ = detail::total(of_ranks).to(kLong);
}

}  // namespace gradus::metrics
