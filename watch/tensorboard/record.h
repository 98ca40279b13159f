// TFRecord: how events stand in a file, with checksums.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gradus::watch::detail {

// CRC-32C (Castagnoli).
uint32_t crc32c(std::string_view bytes);
// TFRecord's masked CRC: crc32c rotated right by 15 bits, plus a constant.
uint32_t masked_crc32c(std::string_view bytes);
// A record is a length with a checksum and the data with theirs. Numbers are little endian.
std::string record_of(std::string_view data);

}  // namespace gradus::watch::detail
