// MixUp: batches of pictures mixed in pairs, as torchvision's.
#pragma once

#include "gradus/data/example.h"
#include "gradus/data/transforms/base.h"

namespace gradus::data::transforms {

// Mixes each example of a batch with the one before it: lambda x + (1 - lambda) x', where lambda is
// drawn once for the batch from the distribution Beta(alpha, alpha). Targets become shares of the
// classes, float32 (N, num_classes), which CrossEntropyLoss takes. See Zhang and others, "mixup:
// beyond empirical risk minimization" (2018).
//
//   for (auto& batch : loader) { auto [x, y] = mixup(batch); ... }
//   dataset.map(Stack<>()).map(MixUp(10))
class MixUp : public BatchTransform<Example<>, Example<>> {
 public:
  // Errors: ValueError for fewer than 1 class and for an alpha that is not positive.
  explicit MixUp(int64_t num_classes, double alpha = 1);
  // Data are floating point; targets are classes (N), or shares (N, num_classes). Errors:
  // ValueError where they do not belong together; TypeError for data of integers; those of one_hot.
  Example<> operator()(Example<> batch) const;
  Example<> apply_batch(Example<> batch) override { return (*this)(std::move(batch)); }

 private:
  int64_t num_classes_;
  double alpha_;
};

namespace detail {
// A number of the distribution Beta(alpha, alpha).
double beta(double alpha);
}  // namespace detail

}  // namespace gradus::data::transforms
