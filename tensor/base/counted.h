// Numbers of things in messages.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace gradus {

// "1 channel", "3 channels".
template <std::integral N>
std::string counted(N number, std::string_view noun) {
  return std::to_string(number).append(" ").append(noun).append(number == 1 ? "" : "s");
}

}  // namespace gradus
