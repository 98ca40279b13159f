// PNG, by libpng.
#include <csetjmp>
#include <cstring>

#include <png.h>

#include "gradus/data/readers/image.h"
#include "gradus/tensor/factories.h"

namespace gradus::data::detail {

namespace {

// libpng reports an error by a function that must not return. The jump crosses frames of libpng and
// of this file, which hold nothing with a destructor.
struct PngReader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const uint8_t* bytes = nullptr;
  size_t left = 0;
  std::jmp_buf jump;
  char message[128] = "";

  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }

  [[noreturn]] static void fail_read(png_structp png, png_const_charp reason) {
    auto* const reader = static_cast<PngReader*>(png_get_error_ptr(png));
    std::strncpy(reader->message, reason, sizeof reader->message - 1);
    std::longjmp(reader->jump, 1);
  }
  // libpng warns of chunks that do not change the pixels, such as a profile.
  static void pass_over(png_structp, png_const_charp) {}
  static void take(png_structp png, png_bytep to, size_t count) {
    auto* const reader = static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > reader->left) png_error(png, "it ends early");
    std::memcpy(to, reader->bytes, count);
    reader->bytes += count;
    reader->left -= count;
  }
};

// False: reader.message says why. The pixels are those of the file, as Pillow gives them: gamma and
// profiles change nothing, and of 16 bits the upper 8 count.
bool begin_png(PngReader& reader) {
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, PngReader::fail_read,
                                      PngReader::pass_over);
  if (reader.png != nullptr) reader.info = png_create_info_struct(reader.png);
  if (reader.info == nullptr) {
    std::strcpy(reader.message, "libpng has no memory, or is another version");
    return false;
  }
  if (setjmp(reader.jump) != 0) return false;
  png_set_benign_errors(reader.png, 1);
  png_set_read_fn(reader.png, &reader, PngReader::take);
  png_read_info(reader.png, reader.info);
  png_set_expand(reader.png);  // palettes to colors, few bits to 8, a transparent color to alpha
  png_set_strip_16(reader.png);
  return true;
}

// Called when the size has been checked: here libpng takes memory for a row.
bool begin_pixels(PngReader& reader, int& passes) {
  if (setjmp(reader.jump) != 0) return false;
  passes = png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  return true;
}

bool read_pixels(PngReader& reader, int passes, uint8_t* rows) {
  if (setjmp(reader.jump) != 0) return false;
  const size_t height = png_get_image_height(reader.png, reader.info),
               stride = png_get_rowbytes(reader.png, reader.info);
  for (int pass = 0; pass < passes; ++pass)
    for (size_t y = 0; y < height; ++y) png_read_row(reader.png, rows + y * stride, nullptr);
  return true;
}

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
  PngReader reader;
  reader.bytes = file.data();
  reader.left = file.size();
  const auto check_read = [&](bool was_read) {
    check(was_read, name, ": the PNG file is damaged: ", std::string_view(reader.message),
          "; copy it again");
  };
  check_read(begin_png(reader));
  const auto width = static_cast<int64_t>(png_get_image_width(reader.png, reader.info)),
             height = static_cast<int64_t>(png_get_image_height(reader.png, reader.info));
  check_pixels(name, width, height, file.size());
  int passes = 0;
  check_read(begin_pixels(reader, passes));
  const auto channels = static_cast<int64_t>(png_get_channels(reader.png, reader.info));
  const Tensor rows = empty({height, width, channels}, kByte);
  check_read(read_pixels(reader, passes, rows.data_ptr<uint8_t>()));
  return rows;
}

}  // namespace gradus::data::detail
