// Zip archives that were read into memory: their directory, and the files in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/tensor/shape.h"

namespace gradus::data {

struct ZipEntry {
  std::string name;
  uint16_t method;  // 0: as it is; 8: deflated
  uint32_t crc;
  uint64_t stored_size, size, header_at;
};

// Messages begin with `name`: the function that the user called, and the file.
// Errors: ValueError for what is no zip archive, or a damaged one; NotImplementedError for
// encrypted files and other methods.
std::vector<ZipEntry> read_zip_directory(ArrayRef<uint8_t> file, std::string_view name);
// The bytes of a file: those of the archive, or in `room` where they are deflated. Takes no more
// memory than a small multiple of the data that are really there, whatever the sizes say.
// Errors: ValueError for a damaged file.
ArrayRef<uint8_t> zip_entry_bytes(ArrayRef<uint8_t> file, const ZipEntry& entry,
                                  std::string_view name, std::vector<uint8_t>& room);

}  // namespace gradus::data
