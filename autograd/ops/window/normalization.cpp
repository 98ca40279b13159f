// batch_norm, layer_norm and group_norm, of other functions of tensors. They compute in float32 or
// float64, and round once.
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

Tensor wide(const Tensor& x) { return x.defined() ? x.to(computed_type(x.dtype())) : x; }

// x times weight, + bias, of which either may be undefined, in the dtype of `like`.
Tensor scaled(Tensor x, const Tensor& weight, const Tensor& bias, IntArrayRef shape,
              const Tensor& like) {
  if (weight.defined()) x = x * wide(weight).view(shape);
  if (bias.defined()) x = x + wide(bias).view(shape);
  return x.to(like.dtype());
}

Tensor normalized(const Tensor& x, const Tensor& mean, const Tensor& variance, double eps) {
  return (x - mean) * (variance + eps).rsqrt();
}
Tensor normalized(const Tensor& x, IntArrayRef dims, double eps) {
  return normalized(x, x.mean(dims, true), x.var(dims, false, true), eps);
}

void check_floating(const char* op, const Tensor& x) {
  check<TypeError>(x.is_floating_point(), op, ": dtype ", x.dtype(),
                   " is not supported; convert with .to(kFloat)");
}

// (1, C, 1, ...) for x (N, C, ...).
Dims channel_shape(const Tensor& x) {
  Dims out = Dims::filled(x.dim(), 1);
  out[1] = x.size(1);
  return out;
}

void check_channels(const char* op, const char* name, const Tensor& x, int64_t channels) {
  check(!x.defined() || x.numel() == channels, op, ": ", name, " should contain ", channels,
        " elements not ", x.defined() ? x.numel() : 0, "; it has one for each channel");
}

}  // namespace

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum, double eps, bool) {
  constexpr const char* kOp = "batch_norm";
  check_floating(kOp, input.operand(kOp, "input"));
  check(input.dim() >= 2, kOp, ": input has shape ", input.sizes(),
        "; expected (N, C, ...), at least 2 dimensions");
  const int64_t channels = input.size(1);
  check_channels(kOp, "weight", weight, channels), check_channels(kOp, "bias", bias, channels);
  check_channels(kOp, "running_mean", running_mean, channels);
  check_channels(kOp, "running_var", running_var, channels);
  check(training || (running_mean.defined() && running_var.defined()), kOp,
        ": running_mean and running_var must be defined in evaluation mode");
  const Dims shape = channel_shape(input);
  const Tensor x = wide(input);
  if (!training)
    return scaled(normalized(x, wide(running_mean).view(shape), wide(running_var).view(shape), eps),
                  weight, bias, shape, input);
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < input.dim(); ++d)
    if (d != 1) dims.push_back(d);
  const Tensor mean = x.mean(dims, true), variance = x.var(dims, false, true);
  if (running_mean.defined() || running_var.defined()) {
    const NoGradGuard guard;
    const auto move = [&](const Tensor& running, const Tensor& now) {
      if (!running.defined()) return;
      Tensor changed = running;
      changed.copy_(wide(running) * (1 - momentum) + now.view(running.sizes()) * momentum);
    };
    // The running variance is unbiased.
    const auto count = static_cast<double>(input.numel() / std::max<int64_t>(channels, 1));
    move(running_mean, mean.detach());
    move(running_var, variance.detach() * (count / (count - 1)));
  }
  return scaled(normalized(x, mean, variance, eps), weight, bias, shape, input);
}

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps, bool) {
  constexpr const char* kOp = "layer_norm";
  check_floating(kOp, input.operand(kOp, "input"));
  check(!normalized_shape.empty(), kOp,
        ": Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
        "element, but got normalized_shape = ",
        normalized_shape);
  const auto check_shape = [&](const char* name, const Tensor& x) {
    check(!x.defined() || x.sizes() == normalized_shape, kOp, ": Expected ", name,
          " to be of same shape as normalized_shape, but got ", name, " of shape ",
          x.defined() ? x.sizes() : IntArrayRef(), " and normalized_shape = ", normalized_shape);
  };
  check_shape("weight", weight), check_shape("bias", bias);
  const size_t count = normalized_shape.size();
  const IntArrayRef sizes = input.sizes();
  check(sizes.size() >= count && sizes.slice(sizes.size() - count, count) == normalized_shape, kOp,
        ": Given normalized_shape=", normalized_shape,
        ", expected input with this shape in its last dimensions, but got input of size",
        input.sizes());
  std::vector<int64_t> dims;
  for (size_t i = 1; i <= count; ++i) dims.push_back(-static_cast<int64_t>(i));
  return scaled(normalized(wide(input), dims, eps), weight, bias, normalized_shape, input);
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias,
                  double eps, bool) {
  constexpr const char* kOp = "group_norm";
  check_floating(kOp, input.operand(kOp, "input"));
  check(input.dim() >= 2, kOp, ": Expected at least 2 dimensions for input tensor but received ",
        input.dim(), "; expected (N, C, ...)");
  check(num_groups > 0 && input.size(1) % num_groups == 0, kOp,
        ": Expected number of channels in input to be divisible by num_groups, but got input of "
        "shape ",
        input.sizes(), " and num_groups=", num_groups);
  const auto check_vector = [&](const char* name, const Tensor& x) {
    check(!x.defined() || (x.dim() == 1 && x.size(0) == input.size(1)), kOp, ": Expected ", name,
          " to be a vector of size equal to the number of channels in input, but got ", name,
          " of shape ", x.defined() ? x.sizes() : IntArrayRef(), " and input of shape ",
          input.sizes());
  };
  check_vector("weight", weight), check_vector("bias", bias);
  const int64_t rows = input.size(0) * num_groups;
  const Tensor x = wide(input).reshape({rows, rows > 0 ? input.numel() / rows : 0});
  return scaled(normalized(x, 1, eps).view(input.sizes()), weight, bias, channel_shape(input),
                input);
}

}  // namespace gradus
