// Images as bytes, and bytes as text.
#include "gradus/watch/pictures/pixels.h"

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/counted.h"
#include "gradus/tensor/base/warning.h"
#include "gradus/watch/text.h"

namespace gradus::watch::detail {

Pixels pixels_of(const char* op, const Tensor& image, std::string_view format) {
  const NoGradGuard no_grad;
  check(format == "CHW" || format == "HWC" || format == "HW", op, ": dataformats is '", format,
        "', expected 'CHW', 'HWC' or 'HW'");
  check(image.defined(), op, ": the image is undefined; give it a tensor of pixels");
  check(image.dim() == static_cast<int64_t>(format.size()), op, ": the image has the shape ",
        image.sizes(), ", expected ", format, "; reshape it or name its dimensions");
  Tensor x = image.detach();
  if (format == "CHW") x = x.permute({1, 2, 0});
  if (format == "HW") x = x.unsqueeze(-1);
  const Pixels size{x.size(0), x.size(1), x.size(2), {}};
  check(size.channels == 1 || size.channels == 3 || size.channels == 4, op, ": the image has ",
        counted(size.channels, "channel"), ", expected 1, 3 or 4; its shape ", image.sizes(),
        " is read as ", format);
  check(size.height > 0 && size.width > 0, op, ": the image has the shape ", image.sizes(),
        ", which has no pixels");
  if (x.is_floating_point()) {
    x = x.to(kFloat);
    check(!x.isnan().any().item<bool>(), op, ": a pixel is NaN; replace it with nan_to_num()");
    constexpr double kClearlyAbove = 2;
    if (const double most = x.max().item<double>(); most > kClearlyAbove)
      warn(std::string(op) + ": pixels reach " + detail::format("%g", most) +
           ", expected fractions from 0 to 1; all above 1 are drawn as 1. Divide by 255, or give "
           "uint8 by to(kByte)");
    x = (x.clamp(0, 1) * 255 + 0.5).to(kByte);
  }
  check<TypeError>(x.scalar_type() == kByte, op, ": the image has dtype ", image.scalar_type(),
                   ", expected uint8, or fractions from 0 to 1; convert it with .to(kByte)");
  const Tensor here = x.to(Device(kCPU)).contiguous();
  return {size.height, size.width, size.channels,
          std::string(reinterpret_cast<const char*>(here.data_ptr<uint8_t>()),
                      static_cast<size_t>(here.numel()))};
}

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k)
      word = word << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : kDigits[word >> (18 - 6 * k) & 63];
  }
  return out;
}

}  // namespace gradus::watch::detail
