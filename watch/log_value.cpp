// LogValue as text.
#include "gradus/watch/log_value.h"

#include <charconv>
#include <cmath>

#include "gradus/watch/text.h"

namespace gradus::watch {

LogValue::LogValue(const Tensor& number) {
  if (isIntegralType(number.scalar_type(), /*includeBool=*/true))
    value_ = number.item<int64_t>();
  else
    value_ = number.item<double>();
}

std::string LogValue::exact() const {
  const auto* number = std::get_if<double>(&value_);
  if (number == nullptr || std::isnan(*number)) return rounded();
  char text[32];
  return {text, std::to_chars(std::begin(text), std::end(text), *number).ptr};
}

std::string LogValue::rounded() const {
  if (const auto* whole = std::get_if<int64_t>(&value_)) return std::to_string(*whole);
  if (const auto* whole = std::get_if<uint64_t>(&value_)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value_))
    return std::isnan(*number) ? "nan" : detail::format("%.4g", *number);  // without its sign
  return std::get<std::string>(value_);
}

std::optional<double> LogValue::number() const {
  if (const auto* whole = std::get_if<int64_t>(&value_)) return static_cast<double>(*whole);
  if (const auto* whole = std::get_if<uint64_t>(&value_)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  return std::nullopt;
}

}  // namespace gradus::watch
