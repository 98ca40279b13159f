// Finds the decoder of a picture.
#include "gradus/data/readers/image.h"

#include "gradus/autograd/functions.h"
#include "gradus/data/readers/byte_reader.h"

namespace gradus::data {

namespace {

// Takes (3, height, width). The weights are Pillow's whole numbers.
Tensor gray(const Tensor& colors) {
  const Tensor wide = colors.to(kInt);
  const Tensor sum = wide[0] * 19595 + wide[1] * 38470 + wide[2] * 7471 + (1 << 15);
  return sum.bitwise_right_shift(16).to(kByte).unsqueeze(0);
}

Tensor converted(const Tensor& image, ImageMode mode) {
  const int64_t channels = image.size(0), colors = channels < 3 ? 1 : 3;
  if (mode == ImageMode::kUnchanged) return image;
  const Tensor bare = image.narrow(0, 0, colors);
  if (mode == ImageMode::kGray) return colors == 1 ? bare : gray(bare);
  const Tensor rgb = bare.expand({3, image.size(1), image.size(2)});
  if (mode == ImageMode::kRgb) return rgb.contiguous();
  const Tensor alpha = channels == colors ? image.new_full({1, image.size(1), image.size(2)}, 255)
                                          : image.narrow(0, colors, 1);
  return cat({rgb, alpha});
}

// The name of a file's format that is known and not read, by the bytes that it begins with.
std::string_view unread_format(std::string_view bytes) {
  struct Format {
    size_t place;
    std::string_view mark, name;
  };
  static constexpr Format kFormats[] = {{8, "WEBP", "WebP"},       {0, "GIF8", "GIF"},
                                        {0, "BM", "BMP"},          {0, {"II*\0", 4}, "TIFF"},
                                        {0, {"MM\0*", 4}, "TIFF"}, {4, "ftypavif", "AVIF"},
                                        {4, "ftypheic", "HEIC"}};
  for (const Format& format : kFormats)
    if (bytes.size() > format.place && bytes.substr(format.place).starts_with(format.mark))
      return format.name;
  return "";
}

Tensor decode(ArrayRef<uint8_t> file, std::string_view name, ImageMode mode) {
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  Tensor rows;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) {
    rows = detail::decode_png(file, name);
  } else if (bytes.starts_with("\xff\xd8\xff")) {
    rows = detail::decode_jpeg(file, name);
  } else {
    const std::string_view format = unread_format(bytes);
    fail<NotImplementedError>(name, ": neither a PNG nor a JPEG file",
                              format.empty() ? "" : ", but ", format, "; convert the picture");
  }
  return converted(rows.permute({2, 0, 1}).contiguous(), mode);
}

}  // namespace

namespace detail {

void check_pixels(std::string_view name, int64_t width, int64_t height, size_t bytes) {
  constexpr int64_t kMostPixels = int64_t{1} << 28;
  check(width > 0 && height > 0 && width <= kMostPixels / height, name, ": ", width, " x ", height,
        " pixels, expected 1 to ", kMostPixels, "; make the picture smaller");
  // PNG: a byte may stand for 1032 bytes of 8 pixels each. JPEG: a bit may be a block of 8 x 8
  // numbers, of a color that has one for up to 16 pixels.
  constexpr size_t kMostOfAByte = 1032 * 8;
  check(static_cast<size_t>(width * height) / kMostOfAByte <= bytes, name, ": ", width, " x ",
        height, " pixels do not fit into a file of ", bytes,
        " bytes; it is truncated or its header is wrong, copy it again");
}

Tensor read_image(const std::string& operation, const std::string& path, ImageMode mode) {
  return decode(read_file(operation, path), operation + ": " + path, mode);
}

}  // namespace detail

Tensor decode_image(ArrayRef<uint8_t> file, std::string_view name, ImageMode mode) {
  return decode(file, "decode_image: " + std::string(name), mode);
}

Tensor read_image(const std::string& path, ImageMode mode) {
  return detail::read_image("read_image", path, mode);
}

}  // namespace gradus::data
