// Decoding UTF-8.
#include "gradus/tensor/base/utf8.h"

#include <cstdint>

namespace gradus {

namespace {

// The number of bytes that the first one announces, and the bounds of the second one, which leave
// out longer forms than needed, surrogates, and what lies beyond U+10FFFF.
struct Form {
  size_t length;
  uint8_t least = 0x80, greatest = 0xbf;
};

Form form_of(uint8_t first) {
  if (first < 0x80) return {1};
  if (first < 0xc2 || first > 0xf4) return {0};
  if (first < 0xe0) return {2};
  if (first < 0xf0)
    return {3, uint8_t(first == 0xe0 ? 0xa0 : 0x80), uint8_t(first == 0xed ? 0x9f : 0xbf)};
  return {4, uint8_t(first == 0xf0 ? 0x90 : 0x80), uint8_t(first == 0xf4 ? 0x8f : 0xbf)};
}

}  // namespace

size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const Form form = form_of(byte(0));
  if (form.length > text.size()) return 0;
  if (form.length > 1 && (byte(1) < form.least || byte(1) > form.greatest)) return 0;
  for (size_t i = 2; i < form.length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return form.length;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    out += length > 0 ? text.substr(0, length) : std::string_view("\xef\xbf\xbd");
    text.remove_prefix(length > 0 ? length : 1);
  }
  return out;
}

}  // namespace gradus
