// Pictures from files: PNG and JPEG.
#pragma once

#include <string>
#include <string_view>

#include "gradus/tensor/tensor.h"

namespace gradus::data {

// kUnchanged: as the file has it.
enum class ImageMode { kUnchanged, kGray, kRgb, kRgba };

// A picture as uint8 (channels, height, width): 1 channel for gray, 2 for gray with alpha, 3 for
// colors, 4 for colors with alpha. Palettes become colors, 16 bits a channel become 8. A mode drops
// alpha or adds 255, repeats gray as three colors, and takes ITU-R 601's share of each color for
// gray, as Pillow does. Errors: Error where the file cannot be read; NotImplementedError for
// another format, and for one whose library the build lacks, which it names; ValueError for a
// damaged file, and for more than 2^28 pixels.
Tensor read_image(const std::string& path, ImageMode mode = ImageMode::kUnchanged);
// The same from memory; `name` stands for the file in messages.
Tensor decode_image(ArrayRef<uint8_t> file, std::string_view name,
                    ImageMode mode = ImageMode::kUnchanged);

namespace detail {
// read_image for another public function, which messages name.
Tensor read_image(const std::string& operation, const std::string& path, ImageMode mode);
// The decoders of readers/pictures return uint8 (height, width, channels). Messages begin with
// `name`: the function that the user called, and the file.
Tensor decode_png(ArrayRef<uint8_t> file, std::string_view name);
Tensor decode_jpeg(ArrayRef<uint8_t> file, std::string_view name);
// The decoders call it before they take memory. Errors: ValueError for more pixels than a picture
// may have, or than a file of so many bytes can hold.
void check_pixels(std::string_view name, int64_t width, int64_t height, size_t bytes);
}  // namespace detail

}  // namespace gradus::data
