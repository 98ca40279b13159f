// The columns of a CSV table as numbers, text or classes.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "gradus/autograd/functions.h"
#include "gradus/data/readers/csv.h"
#include "gradus/tensor/factories.h"

namespace gradus::data {

namespace {

// The whole number that is written, such as 12, +12, 12.0 or 1e3, where an int64 holds it.
std::optional<int64_t> whole_number(std::string_view text, double value) {
  text = detail::bare_number(text);
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc{} && end == text.data() + text.size()) return whole;
  constexpr double kExact = 0x1p53;  // doubles up to here stand for themselves alone
  if (std::abs(value) <= kExact && value == std::trunc(value)) return static_cast<int64_t>(value);
  return std::nullopt;
}

}  // namespace

size_t CsvTable::place(const char* op, const std::string& column) const {
  const auto found = std::find(names_.begin(), names_.end(), column);
  if (found == names_.end()) {
    std::string known;
    for (const auto& name : names_) known += (known.empty() ? "\"" : ", \"") + name + "\"";
    fail("CsvTable::", op, ": ", source_, " has no column \"", column, "\"; its columns are ",
         known);
  }
  return static_cast<size_t>(found - names_.begin());
}

std::string CsvTable::where(size_t row, size_t column) const {
  if (lines_.empty()) return source_;
  return source_ + ":" + std::to_string(lines_[row]) + ":" +
         std::to_string(begins_[row][column] + 1);
}

CsvType CsvTable::type(const std::string& column) const {
  return values_[place("type", column)].type;
}

int64_t CsvTable::missing(const std::string& column) const {
  const auto& missing = values_[place("missing", column)].missing;
  return std::count(missing.begin(), missing.end(), true);
}

Tensor CsvTable::numbers(const std::string& column, ScalarType dtype) const {
  const size_t i = place("numbers", column);
  const Column& values = values_[i];
  if (values.type != CsvType::kNumber)
    fail<TypeError>("CsvTable::numbers: ", where(values.first_text, i), ": \"",
                    values.text.empty() ? "" : values.text[values.first_text], "\"",
                    detail::why_no_number(values.text.empty()
                                              ? ""
                                              : std::string_view(values.text[values.first_text])),
                    ", and column \"", column, "\" is text; use text() or classes()");
  if (!isIntegralType(dtype, /*includeBool=*/true)) return tensor(values.numbers, dtype);
  const Tensor wide = empty({rows()}, kLong);
  const auto refuse = [&](size_t row) {
    fail("CsvTable::numbers: ", where(row, i), ": ",
         values.missing[row] ? "a missing value" : values.text[row], " in column \"", column,
         "\", which ", dtype, " does not hold; take a floating point dtype");
  };
  for (size_t row = 0; row < lines_.size(); ++row) {
    const auto whole = whole_number(values.text[row], values.numbers[row]);
    if (!whole) refuse(row);
    wide.data_ptr<int64_t>()[row] = *whole;
  }
  const Tensor out = wide.to(dtype), back = out.to(kLong);
  for (size_t row = 0; row < lines_.size(); ++row)
    if (back.data_ptr<int64_t>()[row] != wide.data_ptr<int64_t>()[row]) refuse(row);
  return out;
}

Tensor CsvTable::numbers(const std::vector<std::string>& columns, ScalarType dtype) const {
  check(!columns.empty(),
        "CsvTable::numbers: columns is empty, expected a name; columns() lists them");
  std::vector<Tensor> parts;
  for (const auto& column : columns) parts.push_back(numbers(column, dtype));
  return stack(parts, 1);
}

const std::vector<std::string>& CsvTable::text(const std::string& column) const {
  return values_[place("text", column)].text;
}

Tensor CsvTable::classes(const std::string& column, const std::vector<std::string>& labels,
                         std::optional<int64_t> unknown) const {
  const size_t i = place("classes", column);
  std::map<std::string_view, int64_t> numbers;
  for (const auto& label : labels) numbers.emplace(label, static_cast<int64_t>(numbers.size()));
  const Tensor out = empty({rows()}, kLong);
  for (size_t row = 0; row < lines_.size(); ++row) {
    int64_t number = -1;
    if (!values_[i].missing[row]) {
      const auto found = numbers.find(values_[i].text[row]);
      if (found == numbers.end() && !unknown)
        fail("CsvTable::classes: ", where(row, i), ": \"", values_[i].text[row], "\" in column \"",
             column, "\" is not among the ", labels.size(),
             " labels; take those of labels(), or give the class of unknown values");
      number = found == numbers.end() ? *unknown : found->second;
    }
    out.data_ptr<int64_t>()[row] = number;
  }
  return out;
}

std::vector<std::string> CsvTable::labels(const std::string& column) const {
  const Column& values = values_[place("labels", column)];
  std::set<std::string> different;
  for (size_t row = 0; row < values.text.size(); ++row)
    if (!values.missing[row]) different.insert(values.text[row]);
  return {different.begin(), different.end()};
}

}  // namespace gradus::data
