// Characters of UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gradus {

// The number of bytes of the character that the text begins with; 0 where it begins with none of
// UTF-8 (RFC 3629).
size_t utf8_length(std::string_view text);

// The text with U+FFFD in the place of each byte that belongs to no character: what JSON, XML and
// protocol buffers take.
std::string valid_utf8(std::string_view text);

}  // namespace gradus
