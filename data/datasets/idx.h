// IDX, the file format of MNIST: a big-endian header (type, rank, sizes), then the elements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/tensor/shape.h"

namespace gradus::data {

// bytes.size() is the product of the sizes; the last dimension varies fastest.
struct IdxArray {
  std::vector<int64_t> sizes;
  std::vector<uint8_t> bytes;
};

// Reads an IDX file of unsigned bytes, plain or gzip.
// Errors: Error where the file cannot be read; NotImplementedError for another element type;
// ValueError where the header is wrong, data are missing or left over, or the gzip data are
// corrupt.
IdxArray read_idx(const std::string& path);

// The same from memory; `name` stands for the file in messages. Takes no more memory than a small
// multiple of the data that are really there, whatever the header says.
IdxArray parse_idx(ArrayRef<uint8_t> file, std::string_view name);

namespace detail {
// read_idx for another public function, which messages name.
IdxArray read_idx(const std::string& operation, const std::string& path);
}  // namespace detail

}  // namespace gradus::data
