// FractionalMaxPool: the windows, gathered, and their maxima.
#include "gradus/nn/modules/fractionalpooling.h"
#include "gradus/autograd/engine/cast_operands.h"

namespace gradus::nn::functional {

namespace {

// The places of the elements of `out` windows in `in` elements, (N, C, out, kernel); u: (N, C).
Tensor window_places(const Tensor& u, int64_t in, int64_t out, int64_t kernel) {
  const TensorOptions longs = TensorOptions(kLong).device(u.device());
  Tensor starts = full({u.size(0), u.size(1), 1}, in - kernel, longs);
  if (out > 1) {
    const double step = static_cast<double>(in - kernel) / static_cast<double>(out - 1);
    const Tensor from = u.unsqueeze(-1);
    const Tensor others =
        ((from + arange(out - 1, longs)) * step).to(kLong) - (from * step).to(kLong);
    starts = cat({others, starts}, -1);
  }
  return starts.unsqueeze(-1) + arange(kernel, longs);
}

template <size_t D>
TensorPair fractional_max(const char* op, const Tensor& input,
                          const FractionalMaxPoolOptions<D>& options) {
  input.operand(op);
  detail::check_fractions(op, options);
  constexpr auto kSpatial = static_cast<int64_t>(D);
  check(input.dim() == kSpatial + 1 || input.dim() == kSpatial + 2, op, ": Expected ", D + 1,
        "D or ", D + 2, "D tensor, but got: ", input.sizes(), "; use unsqueeze or flatten");
  if (input.dim() == kSpatial + 1) {
    const auto [values, indices] = fractional_max(op, input.unsqueeze(0), options);
    return {values.squeeze(0), indices.squeeze(0)};
  }
  const int64_t batch = input.size(0), channels = input.size(1);
  Tensor samples = options._random_samples();
  if (!samples.defined())
    samples = rand({batch, channels, kSpatial}, TensorOptions(kFloat).device(input.device()));
  check(samples.sizes() == IntArrayRef({batch, channels, kSpatial}), op,
        ": _random_samples has shape ", samples.sizes(), ", expected [", batch, ", ", channels,
        ", ", D, "]; leave it out for random ones");
  // (N, C, out of each dimension, kernel of each dimension)
  Tensor index;
  std::vector<int64_t> out_shape{batch, channels};
  for (size_t d = 0; d < D; ++d) {
    const int64_t in = input.size(static_cast<int64_t>(d) + 2), kernel = options.kernel_size()[d];
    const int64_t out =
        options.output_size()
            ? (*options.output_size())[d]
            : static_cast<int64_t>(static_cast<double>(in) * (*options.output_ratio())[d]);
    check(kernel > 0 && out > 0 && kernel <= in && out <= in - kernel + 1, op, ": kernel_size ",
          kernel, " and output size ", out, " do not fit the input's size ", in, " in dimension ",
          d + 2, "; use smaller ones");
    // PyTorch takes the samples of two dimensions in the opposite order.
    const Tensor u = samples.select(-1, static_cast<int64_t>(D == 2 ? 1 - d : d));
    std::vector<int64_t> along(2 + 2 * D, 1);
    along[0] = batch, along[1] = channels, along[2 + d] = out, along[2 + D + d] = kernel;
    const Tensor places = window_places(u, in, out, kernel).view(along);
    index = index.defined() ? index * in + places : places;
    out_shape.push_back(out);
  }
  index = index.flatten(2 + kSpatial).flatten(2, 1 + kSpatial);
  const Tensor windows = input.flatten(2).gather(2, index.flatten(2)).view(index.sizes());
  const Tensor largest = windows.detach().argmax(-1, /*keepdim=*/true);
  return {windows.gather(-1, largest).view(out_shape), index.gather(-1, largest).view(out_shape)};
}

}  // namespace

TensorPair fractional_max_pool2d_with_indices(const Tensor& input,
                                              const FractionalMaxPool2dFuncOptions& options) {
  GRADUS_AUTOCAST(fractional_max_pool2d_with_indices, input, options);
  return fractional_max("fractional_max_pool2d", input, options);
}
TensorPair fractional_max_pool3d_with_indices(const Tensor& input,
                                              const FractionalMaxPool3dFuncOptions& options) {
  GRADUS_AUTOCAST(fractional_max_pool3d_with_indices, input, options);
  return fractional_max("fractional_max_pool3d", input, options);
}

}  // namespace gradus::nn::functional
