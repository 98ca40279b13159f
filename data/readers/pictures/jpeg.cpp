// JPEG, by libjpeg-turbo.
#include <csetjmp>
#include <cstdio>  // before jpeglib.h, which needs FILE

#include <jpeglib.h>

#include "gradus/data/readers/image.h"
#include "gradus/tensor/factories.h"

namespace gradus::data::detail {

namespace {

// libjpeg reports an error by a function that must not return. The jump crosses frames of libjpeg
// alone.
struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];

  [[noreturn]] static void fail_read(j_common_ptr info) {
    auto* const errors = reinterpret_cast<JpegErrors*>(info->err);
    info->err->format_message(info, errors->message);
    std::longjmp(errors->jump, 1);
  }
  // A warning means damaged data, of which libjpeg would make gray pixels.
  static void on_message(j_common_ptr info, int level) {
    if (level < 0) fail_read(info);
  }
};

struct JpegReader {
  jpeg_decompress_struct info;
  JpegErrors errors;
};

// longjmp leaves these functions, so they hold nothing with a destructor. False: errors.message
// says why.
bool begin_jpeg(JpegReader& reader, const uint8_t* data, size_t size) {
  if (setjmp(reader.errors.jump) != 0) return false;
  jpeg_mem_src(&reader.info, const_cast<unsigned char*>(data), static_cast<unsigned long>(size));
  jpeg_read_header(&reader.info, TRUE);
  reader.info.out_color_space = reader.info.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_calc_output_dimensions(&reader.info);
  return true;
}

bool read_rows(JpegReader& reader, uint8_t* rows) {
  if (setjmp(reader.errors.jump) != 0) return false;
  jpeg_start_decompress(&reader.info);
  const size_t stride =
      size_t{reader.info.output_width} * static_cast<size_t>(reader.info.output_components);
  while (reader.info.output_scanline < reader.info.output_height) {
    JSAMPROW row = rows + reader.info.output_scanline * stride;
    jpeg_read_scanlines(&reader.info, &row, 1);
  }
  jpeg_finish_decompress(&reader.info);
  return true;
}

}  // namespace

Tensor decode_jpeg(ArrayRef<uint8_t> file, std::string_view name) {
  JpegReader reader{};
  reader.info.err = jpeg_std_error(&reader.errors.manager);
  reader.errors.manager.error_exit = JpegErrors::fail_read;
  reader.errors.manager.emit_message = JpegErrors::on_message;
  jpeg_create_decompress(&reader.info);
  const struct Closer {
    jpeg_decompress_struct* info;
    ~Closer() { jpeg_destroy_decompress(info); }
  } closer{&reader.info};
  const auto refuse = [&] {
    fail(name, ": the JPEG file is damaged: ", std::string_view(reader.errors.message),
         "; copy it again");
  };
  if (!begin_jpeg(reader, file.data(), file.size())) refuse();
  const auto width = static_cast<int64_t>(reader.info.output_width),
             height = static_cast<int64_t>(reader.info.output_height);
  check_pixels(name, width, height, file.size());
  const Tensor rows =
      empty({height, width, reader.info.out_color_space == JCS_GRAYSCALE ? 1 : 3}, kByte);
  if (!read_rows(reader, rows.data_ptr<uint8_t>())) refuse();
  return rows;
}

}  // namespace gradus::data::detail
