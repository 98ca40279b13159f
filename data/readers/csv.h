// CSV: tables of text with a column for each kind of value.
//
//   const data::CsvTable table = data::read_csv("houses.csv");
//   Tensor x = table.numbers({"area", "rooms"});  // float32 (rows, 2), NaN: a value is missing
//   Tensor y = table.numbers("price");            // float32 (rows)
//   Tensor ids = table.numbers("id", kLong);      // int64 (rows), exact
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/tensor/base/option.h"
#include "gradus/tensor/tensor.h"

namespace gradus::data {

enum class CsvType { kAutomatic, kNumber, kText };

struct CsvOptions {
  // Separates the fields of a line.
  GRADUS_OPTION(CsvOptions, char, delimiter) = ',';
  // Whether the first line holds the names of the columns; otherwise they are "0", "1", ...
  GRADUS_OPTION(CsvOptions, bool, header) = true;
  // Fields that stand for a missing value, besides empty ones.
  GRADUS_OPTION(CsvOptions, std::vector<std::string>, missing) = {"NA",   "N/A",  "NaN", "nan",
                                                                  "NULL", "null", "?"};
  // The types of columns by name. One that is not named holds numbers where all of its values are
  // such, and text otherwise.
  using Types = std::map<std::string, CsvType>;
  GRADUS_OPTION(CsvOptions, Types, types);
};

class CsvTable {
 public:
  int64_t rows() const { return static_cast<int64_t>(lines_.size()); }
  // The names of the columns, from the left.
  const std::vector<std::string>& columns() const { return names_; }
  // kNumber or kText. Errors, here and below: ValueError for a name that no column has.
  CsvType type(const std::string& column) const;
  // How many values are missing.
  int64_t missing(const std::string& column) const;

  // A column as (rows), or several as (rows, columns). Missing values are NaN. An integer dtype
  // holds the whole numbers that are written. Errors: TypeError for a column of text, which names
  // the first value that is no number with line and column, and says what it is (a date, a decimal
  // comma); ValueError for an integer dtype and a value that is missing or that it does not hold.
  Tensor numbers(const std::string& column, ScalarType dtype = kFloat) const;
  Tensor numbers(const std::vector<std::string>& columns, ScalarType dtype = kFloat) const;
  Tensor numbers(std::initializer_list<std::string> columns, ScalarType dtype = kFloat) const {
    return numbers(std::vector<std::string>(columns), dtype);
  }
  // A column as it is written, whatever its type. Missing values are empty.
  const std::vector<std::string>& text(const std::string& column) const;
  // A column as class numbers: int64 (rows), the places of the values in `labels`. Missing values
  // are -1. A value that is not in `labels` becomes `unknown`. Errors: ValueError for such a value
  // where `unknown` is not given.
  Tensor classes(const std::string& column, const std::vector<std::string>& labels,
                 std::optional<int64_t> unknown = std::nullopt) const;
  // The different values of a column, sorted, without those that are missing.
  std::vector<std::string> labels(const std::string& column) const;

 private:
  friend class CsvParser;
  struct Column {
    CsvType type = CsvType::kNumber;
    std::vector<std::string> text;
    std::vector<double> numbers;  // NaN: missing
    std::vector<bool> missing;
    size_t first_text = 0;  // the row of the first value that is no number
  };
  size_t place(const char* op, const std::string& column) const;
  std::string where(size_t row, size_t column) const;

  std::string source_;
  std::vector<std::string> names_;
  std::vector<Column> values_;
  std::vector<size_t> lines_;                  // of each row
  std::vector<std::vector<uint32_t>> begins_;  // of each field of a row, in characters of its line
};

// Reads a file, plain or gzip. Fields may stand in quotes ("a, b" holds a comma, "" in them is a
// quote); lines end in LF, CR LF or CR. Errors: Error where the file cannot be read. ValueError
// with line and column for a line with another number of fields than the first one; for a quote
// that is not closed, or has text behind it; for a value that is no number in a column of numbers.
CsvTable read_csv(const std::string& path, const CsvOptions& options = {});
// The same from memory; `name` stands for the file in messages.
CsvTable parse_csv(std::string_view text, std::string_view name, const CsvOptions& options = {});

namespace detail {
// The text of a number without blanks and a leading +; from_chars reads it.
std::string_view bare_number(std::string_view text);
// " is no number", or what a text looks like that is none: a date, a decimal comma; and what to do.
std::string why_no_number(std::string_view text);
}  // namespace detail

}  // namespace gradus::data
