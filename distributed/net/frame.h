// Frame: the message of all connections, a list of texts. Private to the library.
//
// A frame on the wire is the number of bytes that follow, then the length and the bytes of each
// text. Numbers have 4 bytes, little-endian.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gradus::distributed {

using Frame = std::vector<std::string>;

inline constexpr size_t kMaxFrame = size_t{64} << 20;
inline constexpr size_t kMaxGreeting = 1024;  // before a connection has shown the token

// Errors: ValueError for more than kMaxFrame bytes.
std::string encode(const Frame& frame);
// Removes the first frame from the buffer. `incomplete`: more bytes must come. `garbled`: it is not
// a frame, or has more than `limit` bytes; the buffer does not change.
enum class Decoded { frame, incomplete, garbled };
Decoded decode(std::string& buffer, size_t limit, Frame& frame);
// Parses the whole text as a number. False where it is none.
bool read_number(const std::string& text, int64_t& number);

}  // namespace gradus::distributed
