// Bytes of a file that was read into memory, in order; inflated on the way where they are gzip.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/tensor/shape.h"

struct z_stream_s;

namespace gradus::data {

class ByteReader {
 public:
  // Messages begin with `name`: the function that the user called, and the file.
  // REQUIRES: both outlive the reader.
  ByteReader(ArrayRef<uint8_t> file, std::string_view name);
  ~ByteReader();
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  // Up to `count` bytes to `out`; fewer only at the end of the data. Returns how many.
  // Errors: ValueError where gzip data are corrupt, end early or have other bytes behind them.
  size_t read(uint8_t* out, size_t count);

  // An upper bound of what is left to read: exact for a plain file.
  size_t at_most() const;
  size_t position() const { return position_; }

 private:
  size_t inflate_some(uint8_t* out, size_t count);
  void feed();
  void end_of_member();

  ArrayRef<uint8_t> input_;  // what the stream has not been given yet
  std::string_view name_;
  std::unique_ptr<z_stream_s> stream_;  // null: not gzip
  size_t position_ = 0;                 // bytes handed out
  bool ended_ = false;
};

// The bytes of a file as they are. Errors: Error where it cannot be read.
std::vector<uint8_t> read_file(std::string_view op, const std::string& path);
// Inflates bytes that are gzip, and returns others as they are. Errors: as ByteReader::read.
std::vector<uint8_t> inflated(std::vector<uint8_t> file, std::string_view name);

}  // namespace gradus::data
