// Colors of pictures, as torchvision's: ColorJitter, Grayscale, and the steps adjust_brightness,
// adjust_contrast, adjust_saturation, adjust_hue, rgb_to_grayscale.
#pragma once

#include <array>

#include "gradus/data/transforms/tensor.h"

namespace gradus::data::transforms {

// Pictures are (channels, height, width), of 1 channel or of 3 (red, green, blue): floating point
// from 0 to 1, or bytes. Results keep the dtype and these bounds. Gray pictures have no saturation
// and no hue to change. Errors: ValueError for other shapes and factors, TypeError for other
// dtypes.
namespace functional {

// 0 is black, 1 the picture itself. Factors are 0 or more, here and below.
Tensor adjust_brightness(const Tensor& image, double brightness_factor);
// 0 is gray all over, of the mean of the picture.
Tensor adjust_contrast(const Tensor& image, double contrast_factor);
// 0 is the picture without colors.
Tensor adjust_saturation(const Tensor& image, double saturation_factor);
// Turns the hue by a share of its circle, from -0.5 to 0.5.
Tensor adjust_hue(const Tensor& image, double hue_factor);
// The brightness of colors, as 1 channel or 3 equal ones.
Tensor rgb_to_grayscale(const Tensor& image, int64_t num_output_channels = 1);

}  // namespace functional

// Bounds of what ColorJitter draws. A number x stands for factors from max(0, 1 - x) to 1 + x. The
// hue is no factor: x stands for turns from -x to x.
struct ColorRange {
  ColorRange(double extent) : least(-extent), greatest(extent), is_extent(true) {}  // NOLINT
  ColorRange(double from, double to) : least(from), greatest(to), is_extent(false) {}
  double least, greatest;
  bool is_extent;
};

namespace detail {
// Brightness, contrast, saturation, hue: the bounds of factors.
using ColorBounds = std::array<ColorRange, 4>;
ColorBounds color_bounds(const ColorBounds& given);
Tensor color_jitter(const Tensor& image, const ColorBounds& bounds);
}  // namespace detail

// Changes brightness, contrast, saturation and hue by factors that it draws evenly, in an order
// that it draws. Errors: ValueError for negative factors, and for a hue beyond -0.5 and 0.5.
template <class Target = Tensor>
class ColorJitter : public TensorTransform<Target> {
 public:
  explicit ColorJitter(ColorRange brightness = 0, ColorRange contrast = 0,
                       ColorRange saturation = 0, ColorRange hue = 0)
      : bounds_(detail::color_bounds({brightness, contrast, saturation, hue})) {}
  // ColorJitter<>({0.5, 1.5}) could else be a copy as well.
  explicit ColorJitter(const double (&brightness)[2])
      : ColorJitter(ColorRange(brightness[0], brightness[1])) {}
  Tensor operator()(Tensor image) override { return detail::color_jitter(image, bounds_); }

 private:
  detail::ColorBounds bounds_;
};

// The brightness of colors, in 1 channel or 3 equal ones. Errors: those of rgb_to_grayscale.
template <class Target = Tensor>
class Grayscale : public TensorTransform<Target> {
 public:
  explicit Grayscale(int64_t num_output_channels = 1) : channels_(num_output_channels) {}
  Tensor operator()(Tensor image) override {
    return functional::rgb_to_grayscale(image, channels_);
  }

 private:
  int64_t channels_;
};

}  // namespace gradus::data::transforms
