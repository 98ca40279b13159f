// Initial values of parameters.
#include "gradus/nn/init.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

namespace gradus::nn::init {

namespace {
// The deviation of He et al.; 0 for a weight without inputs or outputs.
double kaiming_std(const Tensor& tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  const auto [in, out] = _calculate_fan_in_and_fan_out(tensor);
  const int64_t fan = mode == kFanIn ? in : out;
  return fan == 0 ? 0 : calculate_gain(nonlinearity, a) / std::sqrt(static_cast<double>(fan));
}
double xavier_std(const Tensor& tensor, double gain) {
  const auto [in, out] = _calculate_fan_in_and_fan_out(tensor);
  return gain * std::sqrt(2 / static_cast<double>(in + out));
}
// A uniform distribution reaches sqrt(3) times as far as its deviation.
Tensor uniform_of_(Tensor tensor, double std) {
  if (tensor.numel() == 0) return tensor;
  return uniform_(std::move(tensor), -std::sqrt(3.0) * std, std::sqrt(3.0) * std);
}

void check_dims(const char* name, const Tensor& tensor, int64_t least, int64_t most,
                const char* expected) {
  check(tensor.dim() >= least && tensor.dim() <= most, name, ": the tensor has shape ",
        tensor.sizes(), ", expected ", expected,
        " dimensions; initialise it with normal_ or uniform_");
}
constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
}  // namespace

double calculate_gain(NonlinearityType nonlinearity, double param) {
  switch (nonlinearity) {
    case kTanh:
      return 5.0 / 3;
    case kReLU:
      return std::sqrt(2.0);
    case kLeakyReLU:
      return std::sqrt(2 / (1 + param * param));
    case kGELU:
      fail("calculate_gain: kGELU has no gain; use that of kReLU, which is close");
    default:
      return 1;
  }
}

std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor) {
  check_dims("fan_in and fan_out", tensor, 2, kAny, "at least 2");
  int64_t window = 1;
  for (int64_t d = 2; d < tensor.dim(); ++d) window *= tensor.size(d);
  return {tensor.size(1) * window, tensor.size(0) * window};
}

Tensor uniform_(Tensor tensor, double low, double high) {
  const NoGradGuard guard;
  return tensor.uniform_(low, high);
}
Tensor normal_(Tensor tensor, double mean, double std) {
  const NoGradGuard guard;
  return tensor.normal_(mean, std);
}
Tensor constant_(Tensor tensor, const Scalar& value) {
  const NoGradGuard guard;
  return tensor.fill_(value);
}
Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }
Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }

Tensor eye_(Tensor matrix) {
  check_dims("eye_", matrix, 2, 2, "2");
  const NoGradGuard guard;
  matrix.zero_().diagonal().fill_(1);
  return matrix;
}

Tensor dirac_(Tensor tensor) {
  check_dims("dirac_", tensor, 3, 5, "3, 4 or 5");
  const NoGradGuard guard;
  tensor.zero_();
  Tensor middle = tensor;
  while (middle.dim() > 2) middle = middle.select(2, middle.size(2) / 2);
  middle.diagonal().fill_(1);
  return tensor;
}

Tensor xavier_uniform_(Tensor tensor, double gain) {
  const double std = xavier_std(tensor, gain);
  return uniform_of_(std::move(tensor), std);
}
Tensor xavier_normal_(Tensor tensor, double gain) {
  const double std = xavier_std(tensor, gain);
  return normal_(std::move(tensor), 0, std);
}

Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  const double std = kaiming_std(tensor, a, mode, nonlinearity);
  return std == 0 ? tensor : uniform_of_(std::move(tensor), std);
}
Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  const double std = kaiming_std(tensor, a, mode, nonlinearity);
  return std == 0 ? tensor : normal_(std::move(tensor), 0, std);
}

// Gram and Schmidt, on the CPU in double. Each vector goes through it twice, which makes it
// orthogonal up to rounding.
Tensor orthogonal_(Tensor tensor, double gain) {
  check_dims("orthogonal_", tensor, 2, kAny, "at least 2");
  if (tensor.numel() == 0) return tensor;
  const NoGradGuard guard;
  const int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  const int64_t vectors = std::min(rows, columns), length = std::max(rows, columns);
  const Tensor basis = randn({vectors, length}, tensor.options().dtype(kDouble)).to(kCPU);
  for (int64_t i = 0; i < vectors; ++i) {
    Tensor vector = basis[i];
    const Tensor before = basis.slice(0, 0, i);
    for (int pass = 0; pass < 2; ++pass) vector.sub_(before.matmul(vector).matmul(before));
    vector.div_(vector.norm());
  }
  const Tensor matrix = rows > columns ? basis.t() : basis;
  return tensor.copy_((matrix * gain).reshape(tensor.sizes()));
}

Tensor sparse_(Tensor tensor, double sparsity, double std) {
  check_dims("sparse_", tensor, 2, 2, "2");
  check(sparsity >= 0 && sparsity <= 1, "sparse_: sparsity is ", sparsity,
        ", expected a number from 0 to 1");
  const NoGradGuard guard;
  const double zeros = std::ceil(sparsity * static_cast<double>(tensor.size(0)));
  // A permutation of the rows for each column.
  const Tensor order = rand(tensor.sizes(), tensor.options().dtype(kDouble)).argsort(int64_t{0});
  return tensor.normal_(0, std).masked_fill_(order.lt(zeros), 0);
}
}  // namespace gradus::nn::init
