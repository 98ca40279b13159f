// The pixels beyond the border of a picture, and the blur.
#include "gradus/data/transforms/border.h"

#include <algorithm>
#include <cmath>

#include "gradus/autograd/functions.h"
#include "gradus/nn/modules/conv.h"
#include "gradus/tensor/factories.h"

namespace gradus::data::transforms::detail {

namespace {

// The indices along a dimension of `size` that stand at -before to size + after - 1.
Tensor indices_around(const char* transform, int64_t size, int64_t before, int64_t after,
                      Border mode) {
  const int64_t most = mode == Border::kEdge      ? INT64_MAX
                       : mode == Border::kReflect ? size - 1
                                                  : size;
  check(std::max(before, after) <= most, transform, ": ", std::max(before, after),
        " pixels beyond the border of a picture with ", size, " along this side, expected at most ",
        most, "; take a smaller one, or Resize before");
  std::vector<int64_t> out;
  const int64_t twice = mode == Border::kSymmetric ? 1 : 0;
  for (int64_t at = -before; at < size + after; ++at)
    out.push_back(mode == Border::kEdge ? std::clamp<int64_t>(at, 0, size - 1)
                  : at < 0              ? -at - twice
                  : at >= size          ? 2 * size - 2 - at + twice
                                        : at);
  return tensor(out, kLong);
}

Tensor extended(const char* transform, const Tensor& image, const Margins& by, Border mode) {
  const auto along = [&](const Tensor& x, int64_t dim, int64_t before, int64_t after) {
    return x.index_select(
        dim, indices_around(transform, x.size(dim), before, after, mode).to(x.device()));
  };
  return along(along(image, -2, by.top, by.bottom), -1, by.left, by.right);
}

void check_has_pixels(const char* transform, const Tensor& image) {
  check(image.defined() && image.dim() >= 2 && image.size(-1) > 0 && image.size(-2) > 0, transform,
        ": the data have the shape ", image.defined() ? image.sizes() : IntArrayRef(),
        ", expected (channels, height, width); use unsqueeze() or another transform");
}

}  // namespace

void check_margins(const Margins& margins) {
  const int64_t least = std::min({margins.left, margins.top, margins.right, margins.bottom});
  check(least >= 0, "Pad: padding = ", least, ", expected 0 or more pixels; use CenterCrop to cut");
}

Tensor padded(const Tensor& image, const Margins& by, double fill, Border mode) {
  check_has_pixels("Pad", image);
  if (mode != Border::kConstant) return extended("Pad", image, by, mode);
  std::vector<int64_t> sizes = image.sizes().vec();
  sizes[sizes.size() - 2] += by.top + by.bottom;
  sizes[sizes.size() - 1] += by.left + by.right;
  const Tensor out = image.new_full(sizes, fill);
  out.narrow(-2, by.top, image.size(-2)).narrow(-1, by.left, image.size(-1)).copy_(image);
  return out;
}

void check_blur(ImageSize kernel, Bounds sigma) {
  check(kernel.height > 0 && kernel.width > 0 && kernel.height % 2 == 1 && kernel.width % 2 == 1,
        "GaussianBlur: kernel_size ", kernel.height, " x ", kernel.width,
        ", expected odd positive numbers");
  check(sigma.first > 0 && sigma.first <= sigma.second, "GaussianBlur: sigma from ", sigma.first,
        " to ", sigma.second, ", expected positive numbers, the least first");
}

Tensor gaussian_blur(const Tensor& image, ImageSize kernel, double sigma) {
  check_has_pixels("GaussianBlur", image);
  if (!image.is_floating_point())
    return gaussian_blur(image.to(kFloat), kernel, sigma).round().to(image.scalar_type());
  const auto weights = [&](int64_t size) {
    const double half = static_cast<double>(size - 1) / 2;
    const Tensor w = (linspace(-half, half, size, kDouble) / sigma).square().mul(-0.5).exp();
    return w / w.sum();
  };
  const Tensor window = outer(weights(kernel.height), weights(kernel.width)).to(image.options());
  const int64_t y = kernel.height / 2, x = kernel.width / 2;
  const Tensor wide = extended("GaussianBlur", image, {x, y, x, y}, Border::kReflect);
  // Each channel is a picture of its own.
  const Tensor planes = wide.reshape({-1, 1, wide.size(-2), wide.size(-1)});
  return nn::functional::conv2d(planes, window.unsqueeze(0).unsqueeze(0)).view(image.sizes());
}

}  // namespace gradus::data::transforms::detail
