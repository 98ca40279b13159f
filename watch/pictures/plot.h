// Pictures of a training as SVG: curves, a confusion matrix, images with captions.
#pragma once

#include <string>
#include <vector>

#include "gradus/tensor/tensor.h"
#include "gradus/watch/pictures/svg.h"

namespace gradus::watch {

struct Curve {
  std::string name;
  std::vector<double> y;
  std::vector<double> x = {};  // 1, 2, 3, ... where it is empty
};
// Curves over the same axes.
struct Panel {
  std::string title;
  std::vector<Curve> curves;
};

// Panels side by side. Points that are NaN or infinite are left out, and the line with them.
// Errors: ValueError for no panels, a panel without curves, and a curve with another number of x
// than of y.
//
//   watch::save_svg(watch::plot_curves("LeNet", "epoch", {{"loss", {{"train", losses}}}}),
//                   "loss.svg");
std::string plot_curves(const std::string& title, const std::string& x_label,
                        const std::vector<Panel>& panels);

// The matrix is what ConfusionMatrix::compute() returns. Each row is coloured by its shares.
// Classes without names are numbers. Errors: ValueError where matrix is not square or has another
// number of names.
std::string plot_confusion_matrix(const std::string& title, const Tensor& matrix,
                                  const std::vector<std::string>& class_names = {});

struct CaptionedImage {
  Tensor image;  // as encode_png takes it
  std::string caption;
  bool good = true;  // the colour of the caption
};
// `across` images in a row. Errors: those of encode_png; ValueError for an `across` below 1.
std::string plot_images(const std::string& title, const std::vector<CaptionedImage>& images,
                        int across = 8);

}  // namespace gradus::watch
