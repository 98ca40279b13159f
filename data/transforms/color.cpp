// Brightness, contrast, saturation and hue of pictures.
#include "gradus/data/transforms/color.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "gradus/autograd/functions.h"
#include "gradus/data/transforms/random.h"
#include "gradus/tensor/factories.h"

namespace gradus::data::transforms {

namespace functional {

namespace {

double white_of(const Tensor& image) { return image.is_floating_point() ? 1 : 255; }

void check_colors(const char* op, const Tensor& image) {
  const bool has_channels = image.defined() && image.dim() >= 3;
  check(has_channels && (image.size(-3) == 1 || image.size(-3) == 3), op, ": the picture has ",
        has_channels ? image.size(-3) : 0,
        " channels, expected (channels, height, width) with 1 or 3 of them; use narrow()");
  check<TypeError>(image.is_floating_point() || image.dtype() == kByte, op, ": the picture is ",
                   image.scalar_type(), ", expected floating point or bytes; use to(kFloat)");
}

void check_factor(const char* op, const Tensor& image, double factor) {
  check_colors(op, image);
  check(factor >= 0, op, ": the factor is ", factor, ", expected 0 or more");
}

// factor * image + (1 - factor) * other
Tensor blended(const Tensor& image, const Tensor& other, double factor) {
  return (image * factor + other * (1 - factor)).clamp(0, white_of(image)).to(image.dtype());
}

Tensor gray_of(const Tensor& image) {
  const auto channel = [&](int64_t c) { return image.narrow(-3, c, 1); };
  return (channel(0) * 0.2989 + channel(1) * 0.587 + channel(2) * 0.114).to(image.dtype());
}

bool is_gray(const Tensor& image) { return image.size(-3) == 1; }

// Hue, saturation and value of colors from 0 to 1, one channel each.
std::array<Tensor, 3> hsv_of(const Tensor& image) {
  const Tensor red = image.narrow(-3, 0, 1), green = image.narrow(-3, 1, 1),
               blue = image.narrow(-3, 2, 1);
  const Tensor value = image.amax({-3}, true), chroma = value - image.amin({-3}, true);
  const Tensor some = chroma.masked_fill(chroma.eq(0), 1);
  // The hue runs from the strongest color to the one that is next to it.
  const Tensor sixths =
      where(value.eq(red), (green - blue) / some,
            where(value.eq(green), (blue - red) / some + 2, (red - green) / some + 4));
  return {(sixths / 6).remainder(1), chroma / value.masked_fill(value.eq(0), 1), value};
}

Tensor rgb_of(const Tensor& hue, const Tensor& saturation, const Tensor& value) {
  const auto channel = [&](double from) {
    const Tensor sixths = (hue * 6 + from).remainder(6);
    return value - value * saturation * minimum(sixths, 4 - sixths).clamp(0, 1);
  };
  return cat({channel(5), channel(3), channel(1)}, -3);
}

}  // namespace

Tensor adjust_brightness(const Tensor& image, double brightness_factor) {
  check_factor("adjust_brightness", image, brightness_factor);
  return blended(image, zeros_like(image), brightness_factor);
}

Tensor adjust_contrast(const Tensor& image, double contrast_factor) {
  check_factor("adjust_contrast", image, contrast_factor);
  Tensor gray = is_gray(image) ? image : gray_of(image);
  if (!gray.is_floating_point()) gray = gray.to(kFloat);
  return blended(image, gray.mean({-3, -2, -1}, true), contrast_factor);
}

Tensor adjust_saturation(const Tensor& image, double saturation_factor) {
  check_factor("adjust_saturation", image, saturation_factor);
  return is_gray(image) ? image : blended(image, gray_of(image), saturation_factor);
}

Tensor adjust_hue(const Tensor& image, double hue_factor) {
  check_colors("adjust_hue", image);
  check(hue_factor >= -0.5 && hue_factor <= 0.5, "adjust_hue: hue_factor is ", hue_factor,
        ", expected a share of the circle from -0.5 to 0.5");
  if (is_gray(image)) return image;
  const bool is_byte = !image.is_floating_point();
  const auto [hue, saturation, value] = hsv_of(is_byte ? image.to(kFloat) / 255 : image);
  const Tensor out = rgb_of((hue + hue_factor).remainder(1), saturation, value).clamp(0, 1);
  constexpr double kBelow256 = 256 - 1e-3;  // as many parts of one size, the last one closed
  return is_byte ? (out * kBelow256).to(kByte) : out;
}

Tensor rgb_to_grayscale(const Tensor& image, int64_t num_output_channels) {
  check_colors("rgb_to_grayscale", image);
  check(num_output_channels == 1 || num_output_channels == 3,
        "rgb_to_grayscale: num_output_channels is ", num_output_channels, ", expected 1 or 3");
  const Tensor gray = is_gray(image) ? image : gray_of(image);
  return num_output_channels == 1 ? gray : cat({gray, gray, gray}, -3);
}

}  // namespace functional

namespace detail {

namespace {
constexpr const char* kColorNames[] = {"brightness", "contrast", "saturation", "hue"};
constexpr size_t kHue = 3;
}  // namespace

ColorBounds color_bounds(const ColorBounds& given) {
  ColorBounds out = given;
  for (size_t i = 0; i < given.size(); ++i) {
    auto& [least, greatest, is_extent] = out[i];
    check(!is_extent || greatest >= 0, "ColorJitter: ", kColorNames[i], " is ", greatest,
          ", expected a number from 0 on, or two bounds");
    if (is_extent && i != kHue) {
      least = std::max(0.0, 1 + least);
      greatest = 1 + greatest;
    }
    const double lowest = i == kHue ? -0.5 : 0;
    check(lowest <= least && least <= greatest && (i != kHue || greatest <= 0.5),
          "ColorJitter: ", kColorNames[i], " from ", least, " to ", greatest, ", expected ",
          i == kHue ? "turns from -0.5 to 0.5" : "factors from 0 on", ", the least first");
  }
  return out;
}

Tensor color_jitter(const Tensor& image, const ColorBounds& bounds) {
  constexpr Tensor (*kSteps[])(const Tensor&, double) = {
      functional::adjust_brightness, functional::adjust_contrast, functional::adjust_saturation,
      functional::adjust_hue};
  std::array<size_t, 4> order{};
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
  std::array<double, 4> factors{};
  for (size_t i = 0; i < factors.size(); ++i)
    factors[i] = uniform(bounds[i].least, bounds[i].greatest);
  Tensor out = image;
  for (const size_t i : order) {
    const double unchanged = i == kHue ? 0 : 1;
    if (bounds[i].least != unchanged || bounds[i].greatest != unchanged)
      out = kSteps[i](out, factors[i]);
  }
  return out;
}

}  // namespace detail

}  // namespace gradus::data::transforms
