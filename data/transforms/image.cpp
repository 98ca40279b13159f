// Crops, flips, erasing and affine maps of a picture.
#include "gradus/data/transforms/image.h"

#include <cmath>
#include <numbers>

#include "gradus/autograd/functions.h"
#include "gradus/nn/modules/padding.h"
#include "gradus/nn/modules/sampling.h"
#include "gradus/nn/modules/upsampling.h"
#include "gradus/tensor/factories.h"

namespace gradus::data::transforms::detail {

namespace {

namespace F = nn::functional;

// Rounds half to even, as Python's round() does.
int64_t rounded(double number) { return static_cast<int64_t>(std::nearbyint(number)); }

void check_picture(const char* transform, const Tensor& image) {
  check(image.defined() && image.dim() >= 2, transform, ": the data have ",
        image.defined() ? image.dim() : 0,
        " dimensions, expected (channels, height, width); use unsqueeze() or another transform");
}

void check_fits(const char* transform, const Tensor& image, ImageSize size) {
  check_picture(transform, image);
  check(size.height > 0 && size.width > 0 && size.height <= image.size(-2) &&
            size.width <= image.size(-1),
        transform, ": size ", size.height, " x ", size.width, " of a picture of ", image.size(-2),
        " x ", image.size(-1), ", expected a part of it; use Resize or padding first");
}

Tensor part(const Tensor& image, int64_t top, int64_t left, ImageSize size) {
  return image.narrow(-2, top, size.height).narrow(-1, left, size.width);
}

}  // namespace

void check_probability(const char* transform, double p) {
  check(p >= 0 && p <= 1, transform, ": p = ", p, ", expected a probability from 0 to 1");
}

Tensor resized(const char* transform, const Tensor& image, ImageSize size, bool antialias) {
  check_picture(transform, image);
  check(size.height > 0 && size.width > 0, transform, ": size ", size.height, " x ", size.width,
        ", expected positive numbers");
  if (!image.is_floating_point())
    return resized(transform, image.to(kFloat), size, antialias).round().to(image.dtype());
  const auto options = F::InterpolateFuncOptions()
                           .size(std::vector<int64_t>{size.height, size.width})
                           .mode(kBilinear)
                           .align_corners(false)
                           .antialias(antialias);
  return F::interpolate(image.unsqueeze(0), options).squeeze(0);
}

Tensor center_crop(const Tensor& image, ImageSize size) {
  check_fits("CenterCrop", image, size);
  const auto half = [](int64_t margin) { return rounded(static_cast<double>(margin) / 2); };
  return part(image, half(image.size(-2) - size.height), half(image.size(-1) - size.width), size);
}

Tensor random_crop(const Tensor& image, ImageSize size, CropPadding around) {
  check_picture("RandomCrop", image);
  const int64_t n = around.padding;
  check(n >= 0, "RandomCrop: padding = ", n, ", expected 0 or more pixels");
  const Tensor padded =
      n == 0 ? image : F::pad(image, F::PadFuncOptions({n, n, n, n}).value(around.fill));
  check_fits("RandomCrop", padded, size);
  const int64_t top = below(padded.size(-2) - size.height + 1),
                left = below(padded.size(-1) - size.width + 1);
  return part(padded, top, left, size);
}

void check_resized_crop(Bounds scale, Bounds ratio) {
  for (const auto& [name, bounds] : {std::pair("scale", scale), std::pair("ratio", ratio)})
    check(bounds.first > 0 && bounds.first <= bounds.second, "RandomResizedCrop: ", name, " from ",
          bounds.first, " to ", bounds.second, ", expected positive numbers, the least first");
}

Part draw_part(ImageSize of, Bounds scale, Bounds ratio) {
  const auto height = static_cast<double>(of.height), width = static_cast<double>(of.width);
  constexpr int kDraws = 10;
  for (int i = 0; i < kDraws; ++i) {
    const double area = height * width * uniform(scale.first, scale.second);
    const double drawn = std::exp(uniform(std::log(ratio.first), std::log(ratio.second)));
    const ImageSize size(rounded(std::sqrt(area / drawn)), rounded(std::sqrt(area * drawn)));
    if (size.width < 1 || size.height < 1 || size.width > of.width || size.height > of.height)
      continue;
    const int64_t top = below(of.height - size.height + 1);
    return {top, below(of.width - size.width + 1), size};
  }
  // The largest part in the middle whose ratio is allowed.
  ImageSize size = of;
  if (width / height < ratio.first)
    size.height = rounded(width / ratio.first);
  else if (width / height > ratio.second)
    size.width = rounded(height * ratio.second);
  return {(of.height - size.height) / 2, (of.width - size.width) / 2, size};
}

Tensor random_resized_crop(const Tensor& image, ImageSize size, Bounds scale, Bounds ratio,
                           bool antialias) {
  check_picture("RandomResizedCrop", image);
  const Part drawn = draw_part({image.size(-2), image.size(-1)}, scale, ratio);
  return resized("RandomResizedCrop", part(image, drawn.top, drawn.left, drawn.size), size,
                 antialias);
}

void check_erasing(const ErasingRange& range) {
  check(
      range.least_area >= 0 && range.least_area <= range.greatest_area && range.greatest_area <= 1,
      "RandomErasing: areas from ", range.least_area, " to ", range.greatest_area,
      ", expected shares from 0 to 1, the least first");
  check(range.least_ratio > 0 && range.least_ratio <= range.greatest_ratio,
        "RandomErasing: ratios from ", range.least_ratio, " to ", range.greatest_ratio,
        ", expected positive numbers, the least first");
}

Tensor random_erasing(const Tensor& image, const ErasingRange& range, double value) {
  check_picture("RandomErasing", image);
  const int64_t height = image.size(-2), width = image.size(-1);
  constexpr int kDraws = 10;
  for (int i = 0; i < kDraws; ++i) {
    const double area =
        uniform(range.least_area, range.greatest_area) * static_cast<double>(height * width);
    const double ratio =
        std::exp(uniform(std::log(range.least_ratio), std::log(range.greatest_ratio)));
    const int64_t h = rounded(std::sqrt(area / ratio)), w = rounded(std::sqrt(area * ratio));
    if (h < 1 || w < 1 || h >= height || w >= width) continue;
    const int64_t top = below(height - h + 1), left = below(width - w + 1);
    Tensor out = image.clone();
    part(out, top, left, {h, w}).fill_(value);
    return out;
  }
  return image;
}

void check_affine(const AffineRange& range) {
  check(range.least_scale > 0 && range.least_scale <= range.greatest_scale,
        "RandomAffine: scales from ", range.least_scale, " to ", range.greatest_scale,
        ", expected positive numbers, the least first");
}

// Where each pixel comes from: the inverse map, in a system where the picture reaches from -1 to 1
// along both axes.
Tensor random_affine(const Tensor& image, const AffineRange& range) {
  check_picture("RandomAffine", image);
  check<TypeError>(image.is_floating_point(), "RandomAffine: the data are ", image.scalar_type(),
                   ", expected floating point; use to(kFloat)");
  constexpr double kDegree = std::numbers::pi / 180;
  const double angle = uniform(-range.degrees, range.degrees) * kDegree;
  const double shift_x = uniform(-range.shift_x, range.shift_x),
               shift_y = uniform(-range.shift_y, range.shift_y);
  const double scale = uniform(range.least_scale, range.greatest_scale);
  const double shear = std::tan(uniform(-range.shear, range.shear) * kDegree);
  const double c = std::cos(angle) / scale, s = std::sin(angle) / scale;
  // Undoes the shift, then the rotation and the scale, then the shear, in pixels; y points down.
  const double m[2][2] = {{c - shear * s, -s - shear * c}, {s, c}};
  const auto height = static_cast<double>(image.size(-2)),
             width = static_cast<double>(image.size(-1));
  const double ratio = height / width;
  const double theta[2][3] = {
      {m[0][0], m[0][1] * ratio, -2 * (m[0][0] * shift_x + m[0][1] * shift_y * ratio)},
      {m[1][0] / ratio, m[1][1], -2 * (m[1][0] / ratio * shift_x + m[1][1] * shift_y)}};
  const Tensor matrix = empty({1, 2, 3}, kDouble);
  std::copy(&theta[0][0], &theta[0][0] + 6, matrix.data_ptr<double>());
  const Tensor batch = image.dim() == 2 ? image.unsqueeze(0).unsqueeze(0) : image.unsqueeze(0);
  const Tensor grid =
      F::affine_grid(matrix.to(TensorOptions(image.device()).dtype(image.dtype())), batch.sizes());
  const auto options =
      F::GridSampleFuncOptions().mode(kBilinear).padding_mode(kZeros).align_corners(false);
  return F::grid_sample(batch, grid, options).view(image.sizes());
}

void check_degrees(const DegreeRange& degrees) {
  check(degrees.least <= degrees.greatest, "RandomRotation: degrees from ", degrees.least, " to ",
        degrees.greatest, ", expected a positive number, or two bounds, the least first");
}

// The grid is torchvision's: places in pixels from the center, turned, then divided by half the
// size.
Tensor rotated(const Tensor& image, double degrees, const RotationOptions& options) {
  check_picture("RandomRotation", image);
  if (!image.is_floating_point()) {
    const Tensor out = rotated(image.to(kFloat), degrees, options);
    return out.round().to(image.scalar_type());
  }
  const int64_t height = image.size(-2), width = image.size(-1);
  const double half_width = static_cast<double>(width) / 2;
  const double half_height = static_cast<double>(height) / 2;
  const auto like = TensorOptions(image.device()).dtype(image.dtype());
  const double angle = degrees * std::numbers::pi / 180, c = std::cos(angle), s = std::sin(angle);
  // The pixels that a side of the turned picture covers, as torchvision counts them: from the old
  // corner, and without what is less than 1e-4 of one.
  const auto extent = [](double half, double turned) {
    const auto exact = [](double place) { return std::trunc(place * 1e4) / 1e4; };
    return static_cast<int64_t>(std::ceil(exact(half + turned)) - std::floor(exact(half - turned)));
  };
  const auto [wide, high] =
      options.expand
          ? std::pair(extent(half_width, std::abs(half_width * c) + std::abs(half_height * s)),
                      extent(half_height, std::abs(half_width * s) + std::abs(half_height * c)))
          : std::pair(width, height);
  const auto places = [&](int64_t size) {
    const double last = static_cast<double>(size - 1) / 2;
    return linspace(-last, last, size, kDouble);
  };
  const auto [center_x, center_y] = options.center.value_or(std::pair(half_width, half_height));
  const double left = center_x - half_width, top = center_y - half_height;
  const Tensor x = places(wide).unsqueeze(0) - left, y = places(high).unsqueeze(1) - top;
  const Tensor from_x = (x * c - y * s + left) / half_width,
               from_y = (x * s + y * c + top) / half_height;
  const Tensor grid = stack({from_x, from_y}, -1).unsqueeze(0).to(like);
  auto how = F::GridSampleFuncOptions().padding_mode(kZeros).align_corners(false);
  if (options.bilinear)
    how.mode(kBilinear);
  else
    how.mode(kNearest);
  const Tensor planes = image.reshape({1, -1, height, width});
  Tensor out = F::grid_sample(planes, grid, how);
  if (options.fill != 0) {  // what is read from inside, as a share
    const Tensor inside = F::grid_sample(planes.new_ones({1, 1, height, width}), grid, how);
    out = out + (1 - inside) * options.fill;
  }
  Dims sizes = image.impl().sizes;
  sizes[image.dim() - 2] = high, sizes[image.dim() - 1] = wide;
  return out.view(sizes);
}

}  // namespace gradus::data::transforms::detail
