// Transforms that read beyond the border of a picture, as torchvision's: Pad, GaussianBlur.
#pragma once

#include <utility>

#include "gradus/data/transforms/image.h"

namespace gradus::data::transforms {

// Pixels that Pad adds at each side: one number for all, or left, top, right, bottom.
struct Margins {
  Margins(int64_t all) : Margins(all, all, all, all) {}  // NOLINT
  Margins(int64_t of_left, int64_t of_top, int64_t of_right, int64_t of_bottom)
      : left(of_left), top(of_top), right(of_right), bottom(of_bottom) {}
  int64_t left, top, right, bottom;
};

// The pixels that Pad adds. kConstant: one value. kEdge: those at the border. kReflect: the picture
// mirrored at them. kSymmetric: the same with each of them twice.
enum class Border { kConstant, kEdge, kReflect, kSymmetric };

namespace detail {
void check_margins(const Margins& margins);
Tensor padded(const Tensor& image, const Margins& margins, double fill, Border mode);
void check_blur(ImageSize kernel, Bounds sigma);
Tensor gaussian_blur(const Tensor& image, ImageSize kernel, double sigma);
}  // namespace detail

// A larger picture. `fill` is the value of kConstant. Errors: ValueError for a negative margin, and
// for kReflect and kSymmetric where a margin is larger than the picture has pixels to mirror.
template <class Target = Tensor>
class Pad : public TensorTransform<Target> {
 public:
  explicit Pad(Margins padding, double fill = 0, Border mode = Border::kConstant)
      : padding_(padding), fill_(fill), mode_(mode) {
    detail::check_margins(padding);
  }
  Tensor operator()(Tensor image) override { return detail::padded(image, padding_, fill_, mode_); }

 private:
  Margins padding_;
  double fill_;
  Border mode_;
};

// Averages with the weights exp(-d^2 / (2 sigma^2)) of the pixels in a window, whose height and
// width are odd. The picture is mirrored beyond its border. sigma is drawn evenly between two
// bounds. Integers are rounded. Errors: ValueError for a window that is even or larger than the
// picture can mirror, and for a sigma that is not positive.
template <class Target = Tensor>
class GaussianBlur : public TensorTransform<Target> {
 public:
  explicit GaussianBlur(ImageSize kernel_size, std::pair<double, double> sigma = {0.1, 2})
      : kernel_(kernel_size), sigma_(sigma) {
    detail::check_blur(kernel_, sigma_);
  }
  Tensor operator()(Tensor image) override {
    return detail::gaussian_blur(image, kernel_, detail::uniform(sigma_.first, sigma_.second));
  }

 private:
  ImageSize kernel_;
  std::pair<double, double> sigma_;
};

}  // namespace gradus::data::transforms
