// JPEG, by libjpeg-turbo.
#include <csetjmp>
#include <cstdio>  // before jpeglib.h, which needs FILE

#include <jpeglib.h>

#include <jerror.h>

#include "gradus/data/readers/image.h"
#include "gradus/tensor/factories.h"

namespace gradus::data::detail {

namespace {

// Whether libjpeg goes on with gray pixels in the place of lost ones. Other warnings are of files
// that are whole: bytes between the data and a marker, an odd header or profile.
bool loses_pixels(int warning) {
  return warning == JWRN_HIT_MARKER || warning == JWRN_JPEG_EOF || warning == JWRN_MUST_RESYNC ||
         warning == JWRN_HUFF_BAD_CODE || warning == JWRN_ARITH_BAD_CODE;
}

// Whether a whole file is of a kind that this libjpeg does not decode.
bool is_other_kind(int error) {
#if JPEG_LIB_VERSION < 70  // later ones decode it, and have no such error
  if (error == JERR_ARITH_NOTIMPL) return true;
#endif
  return error == JERR_CONVERSION_NOTIMPL || error == JERR_BAD_PRECISION ||
         error == JERR_SOF_UNSUPPORTED || error == JERR_NOT_COMPILED || error == JERR_NOTIMPL ||
         error == JERR_COMPONENT_COUNT || error == JERR_FRACT_SAMPLE_NOTIMPL ||
         error == JERR_CCIR601_NOTIMPL;
}

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
  static void on_message(j_common_ptr info, int level) {
    if (level < 0 && loses_pixels(info->err->msg_code)) fail_read(info);
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
  const J_COLOR_SPACE space = reader.info.jpeg_color_space;
  reader.info.out_color_space = reader.info.num_components == 1          ? JCS_GRAYSCALE
                                : space == JCS_CMYK || space == JCS_YCCK ? JCS_CMYK
                                                                         : JCS_RGB;
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

// The colors of printing inks, of which files hold 255 minus the share, as Pillow makes them.
Tensor rgb_of_cmyk(const Tensor& inks) {
  const Tensor out = empty({inks.size(0), inks.size(1), 3}, kByte);
  const uint8_t* from = inks.data_ptr<uint8_t>();
  uint8_t* to = out.data_ptr<uint8_t>();
  for (int64_t i = 0; i < inks.size(0) * inks.size(1); ++i, from += 4)
    for (int c = 0; c < 3; ++c) {
      const int product = (255 - from[c]) * from[3] + 128;
      *to++ = static_cast<uint8_t>(from[3] - (((product >> 8) + product) >> 8));
    }
  return out;
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
  const auto check_read = [&](bool was_read) {
    if (was_read) return;
    const std::string_view reason = reader.errors.message;
    check<NotImplementedError>(!is_other_kind(reader.errors.manager.msg_code), name,
                               ": libjpeg-turbo does not decode this kind of JPEG file: ", reason,
                               "; save it again as a baseline JPEG of 8 bits in RGB or gray");
    fail(name, ": the JPEG file is damaged: ", reason, "; copy it again");
  };
  check_read(begin_jpeg(reader, file.data(), file.size()));
  const auto width = static_cast<int64_t>(reader.info.output_width),
             height = static_cast<int64_t>(reader.info.output_height);
  check_pixels(name, width, height, file.size());
  const Tensor rows = empty({height, width, int64_t{reader.info.out_color_components}}, kByte);
  check_read(read_rows(reader, rows.data_ptr<uint8_t>()));
  return reader.info.out_color_space == JCS_CMYK ? rgb_of_cmyk(rows) : rows;
}

}  // namespace gradus::data::detail
