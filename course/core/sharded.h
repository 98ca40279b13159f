// Task 5.7: an optimizer whose state is split over ranks, for extra points.
#pragma once

#include <vector>

namespace course {

// What a rank calls to work with all others. All ranks call the same functions in the same order,
// with the same n; a call returns when all have come. n numbers are split into size() parts as in
// core/parallel.h: part i has n / size() of them, and one more where i < n % size(). Empty parts
// are parts like others.
struct Group {
  virtual int rank() const = 0;  // 0 <= rank < size
  virtual int size() const = 0;
  // Replaces data by the sum of all ranks' data (task 5.2).
  virtual void all_reduce(float* data, long n) = 0;
  // out gets part rank() of the sum of all ranks' data (task 5.6). REQUIRES: part rank() has
  // `length` numbers.
  virtual void reduce_scatter(float* out, long length, const float* data, long n) = 0;
  // out gets n numbers, of which this rank has part rank(), in `part` (task 5.6); part may be that
  // place of out. REQUIRES: part rank() has `length` numbers.
  virtual void all_gather(float* out, long n, const float* part, long length) = 0;

 protected:
  ~Group() = default;
};

struct Adam {
  float lr = 1e-3f, beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
};

// Task 5.7. Adam for n weights, of which each rank has a copy. A rank keeps the moments of part
// rank() alone, and moves the weights of this part; then all ranks get all weights. Each number of
// the gradients and of the weights goes over a link as often as reduce_scatter and all_gather send
// it, in one call of each. Beside the moments a step holds at most two parts of numbers of its own.
class ShardedAdam {
 public:
  ShardedAdam(Group& group, long n, const Adam& adam);

  // Step number 1, 2, ... `weights`: n numbers, the same in all ranks. `gradient`: n numbers of
  // this rank, which stay as they are; the gradient of the step is the mean of all ranks'
  // gradients:
  //   first  = beta1 * first  + (1 - beta1) * mean
  //   second = beta2 * second + (1 - beta2) * mean^2              (both moments begin at 0)
  //   root   = sqrt(second / (1 - beta2^step))
  //   weight = weight - lr * (first / (1 - beta1^step)) / (root + epsilon)
  void step(float* weights, const float* gradient);

 private:
  Group& group_;
  const long n_;
  const Adam adam_;
  // For your use:
  long begin_ = 0, length_ = 0;        // part rank(): where it begins, and how many numbers it has
  long steps_ = 0;                     // that were done
  std::vector<float> first_, second_;  // the moments
};

}  // namespace course
