// LogValue as text.
#include "gradus/watch/log_value.h"

#include <charconv>

#include "gradus/watch/text.h"

namespace gradus::watch {

std::string LogValue::exact() const {
  const auto* number = std::get_if<double>(&value_);
  if (number == nullptr) return rounded();
  char text[32];
  return {text, std::to_chars(std::begin(text), std::end(text), *number).ptr};
}

std::string LogValue::rounded() const {
  if (const auto* whole = std::get_if<int64_t>(&value_)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value_)) return detail::format("%.4g", *number);
  return std::get<std::string>(value_);
}

std::optional<double> LogValue::number() const {
  if (const auto* whole = std::get_if<int64_t>(&value_)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  return std::nullopt;
}

}  // namespace gradus::watch
