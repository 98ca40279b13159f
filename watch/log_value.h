// LogValue: what a progress bar shows and a log keeps under a name.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gradus/tensor/tensor.h"

namespace gradus::watch {

// A number or a text. Made of a tensor of one element it waits for the tensor's device.
class LogValue {
 public:
  template <std::signed_integral T>
  LogValue(T number) : value_(int64_t{number}) {}  // NOLINT: implicit
  template <std::unsigned_integral T>
  LogValue(T number) : value_(uint64_t{number}) {}  // NOLINT: implicit
  template <std::floating_point T>
  LogValue(T number) : value_(static_cast<double>(number)) {}  // NOLINT: implicit
  LogValue(std::string text) : value_(std::move(text)) {}      // NOLINT: implicit
  LogValue(const char* text) : value_(std::string(text)) {}    // NOLINT: implicit
  LogValue(const Tensor& number);                              // NOLINT: implicit

  // The shortest text from which the same number is read again.
  std::string exact() const;
  // The number with four digits, for a line on a terminal.
  std::string rounded() const;
  // Nothing for a text.
  std::optional<double> number() const;

 private:
  std::variant<int64_t, uint64_t, double, std::string> value_;
};

// {{"epoch", 3}, {"loss", 0.25}}
using LogRow = std::vector<std::pair<std::string, LogValue>>;

}  // namespace gradus::watch
