// Encoding and decoding frames.
#include "gradus/distributed/net/frame.h"

#include <charconv>

#include "gradus/tensor/base/error.h"

namespace gradus::distributed {

namespace {

constexpr size_t kNumber = 4;  // bytes

void put_number(std::string& out, size_t number) {
  for (size_t i = 0; i < kNumber; ++i) out += static_cast<char>(number >> (8 * i) & 0xff);
}

size_t number_at(const std::string& bytes, size_t at) {
  size_t number = 0;
  for (size_t i = 0; i < kNumber; ++i)
    number |= static_cast<size_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return number;
}

}  // namespace

std::string encode(const Frame& frame) {
  size_t bytes = 0;
  for (const std::string& text : frame) bytes += kNumber + text.size();
  check(bytes <= kMaxFrame, "Store: a value and its key have ", bytes, " bytes; at most ",
        kMaxFrame, " are sent");
  std::string out;
  out.reserve(kNumber + bytes);
  put_number(out, bytes);
  for (const std::string& text : frame) {
    put_number(out, text.size());
    out += text;
  }
  return out;
}

Decoded decode(std::string& buffer, size_t limit, Frame& frame) {
  if (buffer.size() < kNumber) return Decoded::incomplete;
  const size_t size = number_at(buffer, 0);
  if (size > limit) return Decoded::garbled;
  const size_t end = kNumber + size;
  if (buffer.size() < end) return Decoded::incomplete;
  frame.clear();
  for (size_t at = kNumber; at < end;) {
    if (end - at < kNumber) return Decoded::garbled;
    const size_t length = number_at(buffer, at);
    at += kNumber;
    if (length > end - at) return Decoded::garbled;
    frame.push_back(buffer.substr(at, length));
    at += length;
  }
  buffer.erase(0, end);
  return Decoded::frame;
}

bool read_number(const std::string& text, int64_t& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

}  // namespace gradus::distributed
