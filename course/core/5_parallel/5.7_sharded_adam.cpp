// Task 5.7: Adam, of which each rank keeps a part.
#include <algorithm>
#include <cmath>

#include "core/sharded.h"
#include "core/types.h"

namespace course {

ShardedAdam::ShardedAdam(Group& group, long n, const Adam& adam)
    : group_(group), n_(n), adam_(adam) {
  // BEGIN SOLUTION 5.7
  const long rank = group.rank(), size = group.size();
  begin_ = rank * (n / size) + std::min(rank, n % size);
  length_ = n / size + (rank < n % size);
  first_.resize(static_cast<size_t>(length_));
  second_.resize(static_cast<size_t>(length_));
  // END SOLUTION 5.7
}

void ShardedAdam::step(float* weights, const float* gradient) {
  // BEGIN SOLUTION 5.7
  std::vector<float> sum(static_cast<size_t>(length_));
  group_.reduce_scatter(sum.data(), length_, gradient, n_);
  ++steps_;
  const auto correction = [this](double beta) {
    return static_cast<float>(1 - std::pow(beta, static_cast<double>(steps_)));
  };
  const float first_part = correction(adam_.beta1), second_part = correction(adam_.beta2);
  float* const own = weights + begin_;
  for (size_t i = 0; i < sum.size(); ++i) {
    const float mean = sum[i] / static_cast<float>(group_.size());
    first_[i] = adam_.beta1 * first_[i] + (1 - adam_.beta1) * mean;
    second_[i] = adam_.beta2 * second_[i] + (1 - adam_.beta2) * mean * mean;
    const float root = std::sqrt(second_[i] / second_part);
    own[i] -= adam_.lr * (first_[i] / first_part) / (root + adam_.epsilon);
  }
  group_.all_gather(weights, n_, own, length_);
  // END SOLUTION 5.7
}

}  // namespace course
