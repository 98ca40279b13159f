// An image tensor as bytes, row by row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gradus/watch/pictures/image.h"

namespace gradus::watch::detail {

struct Pixels {
  int64_t height, width, channels;  // 1 grey, 3 red green blue, 4 with opacity
  std::string bytes;                // of a row after the other, the channels of a pixel together
};

// Pixels are uint8, or fractions from 0 (dark) to 1 (bright); others are cut off there. `format`
// names the dimensions: "CHW", "HWC" or "HW".
// Errors, which begin with `op`: ValueError for another format or shape, and a fraction that is
// NaN; TypeError for another dtype.
Pixels pixels_of(const char* op, const Tensor& image, std::string_view format);

// The bytes of a PNG file. Errors, as above: ValueError for a side of 2^31 pixels or more.
std::string encode_png(const char* op, const Pixels& pixels);
std::string encode_png(const char* op, const Tensor& image);
Tensor make_grid(const char* op, const Tensor& images, const GridOptions& options = {});
std::string base64(std::string_view bytes);

}  // namespace gradus::watch::detail
