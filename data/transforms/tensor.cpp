// Normalizing images.
#include "gradus/data/transforms/tensor.h"

#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/counted.h"
#include "gradus/tensor/factories.h"

namespace gradus::data::transforms::detail {

std::pair<Tensor, Tensor> moments(ArrayRef<double> mean, ArrayRef<double> stddev) {
  for (const double value : stddev)
    check(value != 0,
          "Normalize: stddev holds 0, by which no image can be divided; leave the channel out or "
          "use 1");
  const auto shaped = [](ArrayRef<double> values) {
    return tensor(values, kFloat).reshape({static_cast<int64_t>(values.size()), 1, 1});
  };
  return {shaped(mean), shaped(stddev)};
}

Tensor normalized(const Tensor& input, const Tensor& mean, const Tensor& stddev) {
  check<TypeError>(input.is_floating_point(), "Normalize: the picture is ", input.scalar_type(),
                   ", expected fractions from 0 to 1; use to(kFloat) / 255 first");
  const int64_t numbers = mean.numel();
  check(numbers == 1 || input.dim() < 3 || input.size(-3) == numbers, "Normalize: mean has ",
        counted(numbers, "number"), ", and the picture has ",
        counted(input.dim() < 3 ? 0 : input.size(-3), "channel"),
        "; give one number for all channels, or one for each");
  return input.sub(mean.to(input.device())).div(stddev.to(input.device()));
}

}  // namespace gradus::data::transforms::detail
