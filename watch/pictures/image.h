// Images: many as one grid, and PNG files, under torchvision's names.
#pragma once

#include <string>

#include "gradus/tensor/tensor.h"

namespace gradus::watch {

// normalize: the smallest number becomes 0 and the largest 1. pad_value: of the pixels between the
// images.
struct GridOptions {
  int64_t nrow = 8;  // images in a row
  int64_t padding = 2;
  bool normalize = false;
  double pad_value = 0;
};

// Images (N, C, H, W), (N, 1, H, W), (C, H, W) or (H, W) as one, (C, height, width); grey ones get
// three equal channels, and a single one no border. Errors: ValueError for other shapes, for no
// images, an nrow below 1 and a negative padding.
Tensor make_grid(const Tensor& images, const GridOptions& options = {});

// The bytes of a PNG file. The image is (H, W), or (C, H, W) with 1, 3 or 4 channels. Pixels are
// uint8, or fractions from 0 to 1; others are cut off there.
// Errors: ValueError for another shape, and a fraction that is NaN; TypeError for another dtype.
std::string encode_png(const Tensor& image);

// make_grid as a PNG file. An older file of this name is replaced when the new one is complete. The
// folder is made where it is missing. Errors: those of both; Error where the file cannot be
// written.
void save_image(const Tensor& images, const std::string& path, const GridOptions& options = {});

}  // namespace gradus::watch
