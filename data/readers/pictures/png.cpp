// PNG, by libpng.
#include <png.h>

#include <cstring>

#include "gradus/data/readers/image.h"
#include "gradus/tensor/factories.h"

namespace gradus::data::detail {

namespace {

// libpng's simple interface, which returns instead of jumping over destructors.
struct PngImage {
  PngImage() {
    std::memset(&png, 0, sizeof png);
    png.version = PNG_IMAGE_VERSION;
  }
  ~PngImage() { png_image_free(&png); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  png_image png;
};

// Whether the file has all of its chunks: libpng reads no further than to the last pixel.
bool is_whole(ArrayRef<uint8_t> file) {
  constexpr size_t kSignature = 8, kFrame = 12;  // length, name and checksum of a chunk
  size_t at = kSignature;
  while (at + kFrame <= file.size()) {
    size_t length = 0;
    for (size_t i = 0; i < 4; ++i) length = length << 8 | file[at + i];
    if (length > file.size() - at - kFrame) return false;
    if (std::memcmp(file.data() + at + 4, "IEND", 4) == 0) return true;
    at += kFrame + length;
  }
  return false;
}

}  // namespace

Tensor decode_png(ArrayRef<uint8_t> file, std::string_view name) {
  check(is_whole(file), name, ": the PNG file ends early; copy it again");
  PngImage image;
  check(png_image_begin_read_from_memory(&image.png, file.data(), file.size()) != 0, name,
        ": the PNG file is damaged: ", std::string_view(image.png.message), "; copy it again");
  const auto width = static_cast<int64_t>(image.png.width),
             height = static_cast<int64_t>(image.png.height);
  check_pixels(name, width, height, file.size());
  image.png.format &=
      PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA;  // 8 bits a channel, no palette
  image.png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  const Tensor rows = empty(
      {height, width, static_cast<int64_t>(PNG_IMAGE_PIXEL_CHANNELS(image.png.format))}, kByte);
  check(png_image_finish_read(&image.png, nullptr, rows.data_ptr(), 0, nullptr) != 0, name,
        ": the PNG file is damaged: ", std::string_view(image.png.message), "; copy it again");
  return rows;
}

}  // namespace gradus::data::detail
