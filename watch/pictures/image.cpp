// Grids, and PNG: chunks around the rows, which zlib deflates.
#include "gradus/watch/pictures/image.h"

#include <zlib.h>

#include <algorithm>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"
#include "gradus/watch/log_file.h"
#include "gradus/watch/pictures/pixels.h"

namespace gradus::watch {

namespace {

std::string big_endian(uint64_t number) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 255);
  return out;
}

// A chunk is a length, a kind and data, with a checksum of the last two.
std::string chunk(const std::string& kind, const std::string& data) {
  const std::string text = kind + data;
  const auto* bytes = reinterpret_cast<const Bytef*>(text.data());
  return big_endian(data.size()) + text + big_endian(crc32_z(0, bytes, text.size()));
}

std::string deflated(const char* op, const std::string& data) {
  uLongf size = compressBound(data.size());
  std::string out(size, '\0');
  const int status = compress(reinterpret_cast<Bytef*>(out.data()), &size,
                              reinterpret_cast<const Bytef*>(data.data()), data.size());
  check<OutOfMemoryError>(status == Z_OK, op, ": no memory to deflate ", data.size(),
                          " bytes; write a smaller image");
  out.resize(size);
  return out;
}

}  // namespace

Tensor detail::make_grid(const char* op, const Tensor& images, const GridOptions& options) {
  const NoGradGuard no_grad;
  check(options.nrow >= 1, op, ": nrow is ", options.nrow, ", expected 1 or more");
  check(options.padding >= 0, op, ": padding is ", options.padding, ", expected 0 or more");
  check(images.dim() >= 2 && images.dim() <= 4, op, ": images has the shape ", images.sizes(),
        ", expected (N, C, H, W), (C, H, W) or (H, W); reshape it");
  Tensor x = images.detach();
  while (x.dim() < 4) x = x.unsqueeze(0);
  check(x.numel() > 0, op, ": images has the shape ", images.sizes(),
        ", which has no pixels; give it one image or more");
  if (options.normalize) {
    x = x.to(kFloat);
    const Tensor least = x.min(), range = (x.max() - least).clamp_min(1e-5);
    x = (x - least) / range;
  }
  if (x.size(1) == 1) x = x.expand({x.size(0), 3, x.size(2), x.size(3)});
  const int64_t count = x.size(0);
  if (count == 1) return x[0].contiguous();
  const int64_t across = std::min(options.nrow, count), down = (count + across - 1) / across;
  const int64_t high = x.size(2) + options.padding, wide = x.size(3) + options.padding;
  Tensor out = full({x.size(1), high * down + options.padding, wide * across + options.padding},
                    options.pad_value, x.options());
  for (int64_t i = 0; i < count; ++i)
    out.narrow(1, i / across * high + options.padding, x.size(2))
        .narrow(2, i % across * wide + options.padding, x.size(3))
        .copy_(x[i]);
  return out;
}

std::string detail::encode_png(const char* op, const Pixels& pixels) {
  constexpr int64_t kMost = INT32_MAX;
  check(pixels.height <= kMost && pixels.width <= kMost, op, ": the image has ", pixels.height,
        " x ", pixels.width, " pixels; PNG takes sides of up to ", kMost);
  const auto row = static_cast<size_t>(pixels.width * pixels.channels);
  std::string rows;
  for (size_t at = 0; at < pixels.bytes.size(); at += row)
    rows += '\0' + pixels.bytes.substr(at, row);  // each is as it is: filter 0
  const char colour = pixels.channels == 1 ? 0 : pixels.channels == 3 ? 2 : 6;
  const std::string head = big_endian(static_cast<uint64_t>(pixels.width)) +
                           big_endian(static_cast<uint64_t>(pixels.height)) +
                           std::string{8, colour, 0, 0, 0};
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", head) + chunk("IDAT", deflated(op, rows)) +
         chunk("IEND", "");
}

std::string detail::encode_png(const char* op, const Tensor& image) {
  const char* format = image.defined() && image.dim() == 2 ? "HW" : "CHW";
  return encode_png(op, pixels_of(op, image, format));
}

Tensor make_grid(const Tensor& images, const GridOptions& options) {
  return detail::make_grid("make_grid", images, options);
}

std::string encode_png(const Tensor& image) { return detail::encode_png("encode_png", image); }

void save_image(const Tensor& images, const std::string& path, const GridOptions& options) {
  constexpr const char* kOp = "save_image";
  detail::write_file(kOp, path, detail::encode_png(kOp, detail::make_grid(kOp, images, options)));
}

}  // namespace gradus::watch
