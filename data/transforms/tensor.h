// Transforms of the data of an example, whatever its target is: TensorTransform, TensorLambda,
// Normalize.
#pragma once

#include "gradus/data/example.h"
#include "gradus/data/transforms/lambda.h"
#include "gradus/tensor/shape.h"

namespace gradus::data::transforms {

// Derive from it and override operator(), which takes the data and returns new ones. The target
// stays as it is.
template <class Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  using E = Example<Tensor, Target>;
  virtual Tensor operator()(Tensor input) = 0;
  E apply(E input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }
};

// A function of the data.
template <class Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<Tensor(Tensor)>;
  explicit TensorLambda(FunctionType function) : function_(std::move(function)) {}
  Tensor operator()(Tensor input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

namespace detail {
// Moments as float32 of shape (channels, 1, 1). Errors: ValueError for a deviation of 0.
std::pair<Tensor, Tensor> moments(ArrayRef<double> mean, ArrayRef<double> stddev);
Tensor normalized(const Tensor& input, const Tensor& mean, const Tensor& stddev);
}  // namespace detail

// (x - mean) / stddev of images (channels, height, width): one number for all channels, or one for
// each. Errors: ValueError for a deviation of 0, and where numbers and channels do not fit;
// TypeError for integers, which would be normalized as numbers up to 255.
template <class Target = Tensor>
struct Normalize : TensorTransform<Target> {
  Normalize(ArrayRef<double> mean_values, ArrayRef<double> stddev_values) {
    std::tie(mean, stddev) = detail::moments(mean_values, stddev_values);
  }
  Tensor operator()(Tensor input) override { return detail::normalized(input, mean, stddev); }

  Tensor mean, stddev;
};

}  // namespace gradus::data::transforms
