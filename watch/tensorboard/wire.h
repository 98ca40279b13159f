// Protocol buffers on the wire: fields of a message, each a number, a type and a value.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/tensor/base/utf8.h"

namespace gradus::watch::detail {

// A message as its bytes. Fields stand in the order of the calls.
class Message {
 public:
  const std::string& bytes() const { return bytes_; }

  Message& integer(int field, int64_t value) {
    key(field, 0);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& number(int field, double value) {
    key(field, 1);
    fixed(std::bit_cast<uint64_t>(value), 8);
    return *this;
  }
  Message& single(int field, float value) {
    key(field, 5);
    fixed(std::bit_cast<uint32_t>(value), 4);
    return *this;
  }
  // A text is UTF-8: other bytes become U+FFFD.
  Message& text(int field, std::string_view value) { return data(field, valid_utf8(value)); }
  Message& data(int field, std::string_view bytes) {
    key(field, 2);
    varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  Message& message(int field, const Message& value) { return data(field, value.bytes_); }
  // Repeated doubles, packed.
  Message& numbers(int field, const std::vector<double>& values) {
    key(field, 2);
    varint(8 * values.size());
    for (const double value : values) fixed(std::bit_cast<uint64_t>(value), 8);
    return *this;
  }

 private:
  void key(int field, unsigned type) { varint(static_cast<uint64_t>(field) << 3 | type); }
  // Seven bits in a byte, the lowest first; the highest bit says that more follow.
  void varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }
  void fixed(uint64_t bits, int count) {
    for (int i = 0; i < count; ++i) bytes_ += static_cast<char>(bits >> (8 * i));
  }

  std::string bytes_;
};

}  // namespace gradus::watch::detail
