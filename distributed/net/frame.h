// What travels over the connections: lists of texts. Private to the library.
//
// A frame is the number of the bytes that follow, and for each text its length and its bytes;
// numbers have 4 bytes, the lowest first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gradus::distributed {

using Frame = std::vector<std::string>;

inline constexpr size_t kMaxFrame = size_t{64} << 20;
inline constexpr size_t kMaxGreeting = 1024;  // of someone who has not shown the token yet

// Errors: ValueError for more than kMaxFrame bytes.
std::string encode(const Frame& frame);
// Takes the first frame off the buffer. `incomplete`: more must come; `garbled`: it is no frame, or
// has more than `limit` bytes, and the buffer is left as it is.
enum class Decoded { frame, incomplete, garbled };
Decoded decode(std::string& buffer, size_t limit, Frame& frame);
// The whole text as a number. False where it is none.
bool read_number(const std::string& text, int64_t& number);

}  // namespace gradus::distributed
