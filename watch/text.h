// Numbers as text: printf into a string, units, times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gradus::watch::detail {

// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);
// 1.23e9 and "B" as "1.23 GB".
std::string with_unit(double value, const char* unit);
// "01:07", "2:03:04"; "?" where it is not known.
std::string clock_time(double seconds);
// 1234567 as "1,234,567".
std::string with_commas(int64_t number);
// A text in quotes, as JSON has it. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(std::string_view text);

}  // namespace gradus::watch::detail
