// Transforms of pictures, (channels, height, width), as torchvision's: sizes, crops, flips,
// erasing, affine maps. Random ones draw from the default generator, or in a loader with a seed
// that depends on the batch alone, so that workers change nothing.
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include "gradus/data/transforms/random.h"
#include "gradus/data/transforms/tensor.h"

namespace gradus::data::transforms {

// {height, width} of a picture, or one number for both.
struct ImageSize {
  ImageSize(int64_t side) : height(side), width(side) {}  // NOLINT
  ImageSize(int64_t of_height, int64_t of_width) : height(of_height), width(of_width) {}
  int64_t height, width;
};

// RandomCrop puts so many pixels of this value around the picture.
struct CropPadding {
  int64_t padding = 0;
  double fill = 0;
};

// RandomErasing draws the share of the area and width / height between these bounds.
struct ErasingRange {
  double least_area = 0.02, greatest_area = 0.33, least_ratio = 0.3, greatest_ratio = 3.3;
};

// RandomAffine draws evenly: an angle in [-degrees, degrees]; shifts up to a share of the size;
// the scale; a shear along x in degrees.
struct AffineRange {
  double degrees = 0, shift_x = 0, shift_y = 0, least_scale = 1, greatest_scale = 1, shear = 0;
};

// RandomRotation draws evenly between two bounds; one number x stands for -x and x.
struct DegreeRange {
  DegreeRange(double extent) : DegreeRange(-extent, extent) {}  // NOLINT
  DegreeRange(double from, double to) : least(from), greatest(to) {}
  double least, greatest;
};
// expand: the result is as large as the turned picture, and not cut to the size it had. center: x
// and y in pixels from the upper left corner; the middle unless given.
struct RotationOptions {
  bool bilinear = false;
  double fill = 0;
  bool expand = false;
  std::optional<std::pair<double, double>> center = std::nullopt;
};

namespace detail {
using Bounds = std::pair<double, double>;
struct Part {
  int64_t top, left;
  ImageSize size;
};
void check_probability(const char* transform, double p);
Tensor resized(const char* transform, const Tensor& image, ImageSize size, bool antialias);
Tensor center_crop(const Tensor& image, ImageSize size);
Tensor random_crop(const Tensor& image, ImageSize size, CropPadding around);
void check_resized_crop(Bounds scale, Bounds ratio);
// Draws the part that RandomResizedCrop takes of a picture of this size.
Part draw_part(ImageSize of, Bounds scale, Bounds ratio);
Tensor random_resized_crop(const Tensor& image, ImageSize size, Bounds scale, Bounds ratio,
                           bool antialias);
Tensor random_erasing(const Tensor& image, const ErasingRange& range, double value);
Tensor random_affine(const Tensor& image, const AffineRange& range);
void check_affine(const AffineRange& range);
void check_erasing(const ErasingRange& range);
void check_degrees(const DegreeRange& degrees);
Tensor rotated(const Tensor& image, double degrees, const RotationOptions& options);
}  // namespace detail

// Resizes by bilinear interpolation between the centers of pixels. antialias: a smaller picture
// averages over all pixels. Integers are rounded. Errors: ValueError unless sizes are positive.
template <class Target = Tensor>
class Resize : public TensorTransform<Target> {
 public:
  explicit Resize(ImageSize size) : Resize(size, true) {}
  template <std::same_as<bool> Bool>  // no other number: {3, 2} is a size
  Resize(ImageSize size, Bool antialias) : size_(size), antialias_(antialias) {}
  Tensor operator()(Tensor image) override {
    return detail::resized("Resize", image, size_, antialias_);
  }

 private:
  ImageSize size_;
  bool antialias_;
};

// The middle of the picture. Errors: ValueError where the picture is smaller.
template <class Target = Tensor>
class CenterCrop : public TensorTransform<Target> {
 public:
  explicit CenterCrop(ImageSize size) : size_(size) {}
  Tensor operator()(Tensor image) override { return detail::center_crop(image, size_); }

 private:
  ImageSize size_;
};

// A part of the picture, after it was padded: RandomCrop<>(32, {.padding = 4}).
// Errors: ValueError where the padded picture is smaller.
template <class Target = Tensor>
class RandomCrop : public TensorTransform<Target> {
 public:
  explicit RandomCrop(ImageSize size, CropPadding around = {}) : size_(size), around_(around) {}
  Tensor operator()(Tensor image) override { return detail::random_crop(image, size_, around_); }

 private:
  ImageSize size_;
  CropPadding around_;
};

// A part of the picture, resized: its area is a share `scale` of the picture's, its width / height
// lies in `ratio`. Where ten draws give none that fits, the largest part in the middle.
// Errors: ValueError unless sizes and bounds are positive.
template <class Target = Tensor>
class RandomResizedCrop : public TensorTransform<Target> {
 public:
  explicit RandomResizedCrop(ImageSize size, std::pair<double, double> scale = {0.08, 1},
                             std::pair<double, double> ratio = {3. / 4, 4. / 3},
                             bool antialias = true)
      : size_(size), scale_(scale), ratio_(ratio), antialias_(antialias) {
    detail::check_resized_crop(scale, ratio);
  }
  Tensor operator()(Tensor image) override {
    return detail::random_resized_crop(image, size_, scale_, ratio_, antialias_);
  }

 private:
  ImageSize size_;
  std::pair<double, double> scale_, ratio_;
  bool antialias_;
};

// Left for right, with probability p. Errors: ValueError unless p is in [0, 1], here and below.
template <class Target = Tensor>
class RandomHorizontalFlip : public TensorTransform<Target> {
 public:
  explicit RandomHorizontalFlip(double p = 0.5) : p_(p) {
    detail::check_probability("RandomHorizontalFlip", p);
  }
  Tensor operator()(Tensor image) override { return detail::happens(p_) ? image.flip(-1) : image; }

 private:
  double p_;
};

// Top for bottom, with probability p.
template <class Target = Tensor>
class RandomVerticalFlip : public TensorTransform<Target> {
 public:
  explicit RandomVerticalFlip(double p = 0.5) : p_(p) {
    detail::check_probability("RandomVerticalFlip", p);
  }
  Tensor operator()(Tensor image) override { return detail::happens(p_) ? image.flip(-2) : image; }

 private:
  double p_;
};

// Sets a rectangle of a copy to `value`, with probability p. Where ten draws give none that fits,
// nothing changes.
template <class Target = Tensor>
class RandomErasing : public TensorTransform<Target> {
 public:
  explicit RandomErasing(double p = 0.5, ErasingRange range = {}, double value = 0)
      : p_(p), range_(range), value_(value) {
    detail::check_probability("RandomErasing", p);
    detail::check_erasing(range);
  }
  Tensor operator()(Tensor image) override {
    return detail::happens(p_) ? detail::random_erasing(image, range_, value_) : image;
  }

 private:
  double p_;
  ErasingRange range_;
  double value_;
};

// Turned counterclockwise, shifted, scaled and sheared about the center, by bilinear interpolation;
// 0 outside of the picture. Errors: ValueError for a scale that is not positive; TypeError for
// integers.
template <class Target = Tensor>
class RandomAffine : public TensorTransform<Target> {
 public:
  explicit RandomAffine(AffineRange range) : range_(range) { detail::check_affine(range); }
  Tensor operator()(Tensor image) override { return detail::random_affine(image, range_); }

 private:
  AffineRange range_;
};

// Turned counterclockwise about the center by an angle that is drawn evenly: the nearest pixels, or
// bilinear interpolation, and `fill` outside of the picture. Integers are rounded. Errors:
// ValueError for a negative number of degrees, and for bounds of which the first is greater.
template <class Target = Tensor>
class RandomRotation : public TensorTransform<Target> {
 public:
  explicit RandomRotation(DegreeRange degrees, RotationOptions options = {})
      : degrees_(degrees), options_(options) {
    detail::check_degrees(degrees);
  }
  Tensor operator()(Tensor image) override {
    return detail::rotated(image, detail::uniform(degrees_.least, degrees_.greatest), options_);
  }

 private:
  DegreeRange degrees_;
  RotationOptions options_;
};

}  // namespace gradus::data::transforms
