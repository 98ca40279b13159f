// Records and their checksums.
#include "gradus/watch/tensorboard/record.h"

#include <array>

namespace gradus::watch::detail {

namespace {

// The remainders of all bytes by the polynomial 0x1EDC6F41, bits reflected.
constexpr std::array<uint32_t, 256> kRemainders = [] {
  std::array<uint32_t, 256> out{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82F63B78u : 0u);
    out[byte] = value;
  }
  return out;
}();

std::string little_endian(uint64_t number, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += static_cast<char>(number >> (8 * i));
  return out;
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t value = ~0u;
  for (const char byte : bytes)
    value = value >> 8 ^ kRemainders[(value ^ static_cast<unsigned char>(byte)) & 255];
  return ~value;
}

uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t value = crc32c(bytes);
  return (value >> 15 | value << 17) + 0xa282ead8u;
}

std::string record_of(std::string_view data) {
  const std::string length = little_endian(data.size(), 8);
  return length + little_endian(masked_crc32c(length), 4) + std::string(data) +
         little_endian(masked_crc32c(data), 4);
}

}  // namespace gradus::watch::detail
