// Small grey images with captions as one SVG.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gradus/gradus.h"
#include "plot.h"

namespace picture {

struct Captioned {
  gradus::Tensor pixels;  // float32 (height, width) in [0, 1], on the CPU
  std::string caption;
  bool good;
};

namespace detail {

inline std::string base64(const std::string& bytes) {
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

// A bitmap of 24 bits a pixel: rows from the bottom to the top, each of whole words.
inline std::string bitmap(const gradus::Tensor& pixels) {
  const auto height = static_cast<uint32_t>(pixels.size(0));
  const auto width = static_cast<uint32_t>(pixels.size(1));
  constexpr uint32_t kHead = 54;
  const uint32_t row = (3 * width + 3) / 4 * 4;
  std::string out = "BM";
  const auto put = [&](uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 255);
  };
  put(kHead + row * height, 4), put(0, 4), put(kHead, 4);
  put(40, 4), put(width, 4), put(height, 4), put(1, 2), put(24, 2);
  put(0, 4), put(row * height, 4), put(2835, 4), put(2835, 4), put(0, 4), put(0, 4);
  const auto at = pixels.accessor<float, 2>();
  for (uint32_t y = height; y-- > 0;) {
    for (uint32_t x = 0; x < width; ++x) {
      const float grey = std::clamp(at[y][x], 0.0f, 1.0f);
      for (int c = 0; c < 3; ++c) put(static_cast<uint32_t>(grey * 255), 1);
    }
    put(0, static_cast<int>(row - 3 * width));
  }
  return out;
}

}  // namespace detail

// `across` images in a row.
inline std::string svg(const std::string& title, const std::vector<Captioned>& images, int across) {
  constexpr int kSide = 112, kCell = 132, kHigh = 150, kTop = 50;
  const int rows = (static_cast<int>(images.size()) + across - 1) / across;
  std::string out = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "font-family=\"sans-serif\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
      "<text x=\"%d\" y=\"30\" text-anchor=\"middle\" font-size=\"18\">",
      across * kCell + 20, rows * kHigh + kTop + 10, (across * kCell + 20) / 2);
  out += plot::detail::escaped(title) + "</text>\n";
  for (size_t i = 0; i < images.size(); ++i) {
    const int x = 10 + static_cast<int>(i) % across * kCell,
              y = kTop + static_cast<int>(i) / across * kHigh;
    out += format(
        "<image x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
        "style=\"image-rendering: pixelated\" href=\"data:image/bmp;base64,",
        x + 10, y, kSide, kSide);
    out += detail::base64(detail::bitmap(images[i].pixels)) + "\"/>\n";
    out += format("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"11\" fill=\"%s\">",
                  x + kCell / 2, y + kSide + 16, images[i].good ? "#007755" : "#d55e00");
    out += plot::detail::escaped(images[i].caption) + "</text>\n";
  }
  return out + "</svg>\n";
}

}  // namespace picture
