// The header of a safetensors file: a JSON object that says of each tensor its dtype, shape and
// place in the data behind it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/tensor/base/dtype.h"
#include "gradus/tensor/shape.h"

namespace gradus::serialize {

// The metadata of a checkpoint say this under "format" (serialize/checkpoint.h).
constexpr std::string_view kCheckpointFormat = "gradus.checkpoint";

// Free text that belongs to a file, by name.
using Metadata = std::map<std::string, std::string>;

struct SafetensorsEntry {
  std::string name;
  ScalarType dtype;
  Dims sizes;
  uint64_t begin, end;  // bytes, from the start of the data
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;
  Metadata metadata;
};

// The longest header that readers of the format accept.
inline constexpr uint64_t kLargestHeader = 100'000'000;
// The size of the number in front of the header: its length in bytes, little-endian.
inline constexpr size_t kLengthBytes = 8;
// The advice for a file that violates the format.
inline constexpr const char* kSaveAgain = "; save the file again";

// The number, the JSON, and spaces up to a multiple of 8 bytes. Messages begin with `name`.
// Errors: ValueError for a name or metadata that are not UTF-8, for a tensor named as the metadata
// are, and for a header above the limit.
std::string write_header(const SafetensorsHeader& header, const std::string& name);

// `json` is the header without the number; `file` stands for the file in messages. The entries come
// in the order of the header; their data fill `data_bytes` without gap or overlap.
// Errors: ValueError for whatever is not so, NotImplementedError for a dtype that gradus lacks.
SafetensorsHeader parse_header(std::string_view json, uint64_t data_bytes, std::string_view file);

// A name out of a file, fit for a message: quoted, escaped and not too long.
std::string printable(std::string_view name);
// Lines with such names, each behind a line feed: without control characters. The last of `most`
// lines says how many more there are.
constexpr size_t kMostLines = 7;
std::string printable_lines(std::string lines, size_t most = kMostLines);

}  // namespace gradus::serialize
