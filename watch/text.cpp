// Numbers as text.
#include "gradus/watch/text.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <utility>

#include "gradus/tensor/base/utf8.h"

namespace gradus::watch::detail {

std::string format(const char* pattern, ...) {
  va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  std::string text(static_cast<size_t>(std::vsnprintf(nullptr, 0, pattern, arguments)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  va_end(arguments);
  return text;
}

std::string with_unit(double value, const char* unit) {
  static constexpr std::pair<double, const char*> kPrefixes[] = {
      {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [scale, prefix] : kPrefixes)
    if (value >= scale) return format("%.3g %s%s", value / scale, prefix, unit);
  return format("%.3g %s", value, unit);
}

std::string clock_time(double seconds) {
  constexpr double kMost = 1e9;
  if (!(seconds >= 0 && seconds < kMost)) return "?";
  const auto whole = static_cast<long long>(seconds);
  const int s = static_cast<int>(whole % 60), m = static_cast<int>(whole / 60 % 60);
  return whole < 3600 ? format("%02d:%02d", m, s) : format("%lld:%02d:%02d", whole / 3600, m, s);
}

std::string with_commas(int64_t number) {
  std::string out = std::to_string(number);
  for (size_t at = out.size(); at > (number < 0 ? 4u : 3u); out.insert(at, ",")) at -= 3;
  return out;
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : valid_utf8(text)) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < ' ')
      out += format("\\u%04x", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

}  // namespace gradus::watch::detail
