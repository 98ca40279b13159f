// Reading CSV: lines into fields, fields into columns.
#include "gradus/data/readers/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "gradus/data/readers/byte_reader.h"
#include "gradus/tensor/base/counted.h"

namespace gradus::data {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Whether all of the text is a number, which may have a sign.
bool is_number(std::string_view text, double& value) {
  text = detail::bare_number(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {  // from_chars leaves the value as it was
    value = std::strtod(std::string(text).c_str(), nullptr);
    return end == text.data() + text.size();
  }
  return error == std::errc{} && end == text.data() + text.size();
}

// The text for a message.
std::string shown(std::string_view text) {
  constexpr size_t kMost = 40;
  std::string out(text.substr(0, kMost));
  if (text.size() > kMost) out.append("...");
  return out;
}

// Whether the text has the form of `pattern`, in which 0 stands for one digit or more.
bool has_form(std::string_view text, std::string_view pattern) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (const char expected : pattern) {
    if (text.empty() || (expected == '0' ? !is_digit(text[0]) : text[0] != expected)) return false;
    do text.remove_prefix(1);
    while (expected == '0' && !text.empty() && is_digit(text[0]));
  }
  return text.empty();
}

}  // namespace

std::string_view detail::bare_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return text;
}

std::string detail::why_no_number(std::string_view text) {
  text = bare_number(text);
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::string_view day = text.substr(0, text.find_first_of(" T"));
  for (const char* form : {"0-0-0", "0/0/0", "0.0.0"})
    if (has_form(day, form))
      return " is a date, which is no number (columns of its parts, or of the days since another "
             "date, are)";
  for (const char* form : {"0,0", ",0", "0.0,0"})
    if (has_form(text, form))
      return " has a decimal comma, which is no number (write a point, as in 3.5)";
  return " is no number";
}

// One pass over the text. Names in messages count lines and characters from 1.
class CsvParser {
 public:
  CsvParser(const char* op, std::string_view text, std::string_view name, const CsvOptions& options)
      : op_(op), text_(text), options_(options) {
    table_.source_ = name;
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);  // UTF-8's byte order mark
  }

  CsvTable parse() {
    while (at_ < text_.size()) {
      const size_t line = line_;
      if (!read_line()) continue;
      if (table_.names_.empty()) {
        name_columns();
        if (options_.header()) continue;
      }
      add_row(line);
    }
    check(!table_.names_.empty(), op_, ": ", table_.source_, ": there is no line, expected ",
          options_.header() ? "the names of columns" : "values", "; copy the file again");
    for (const auto& [name, type] : options_.types()) {
      const auto& names = table_.names_;
      check(std::find(names.begin(), names.end(), name) != names.end(), op_, ": ", table_.source_,
            ": types names the column \"", name, "\", and there is none; the columns are ",
            listed(names));
    }
    for (size_t i = 0; i < table_.values_.size(); ++i) type_column(i);
    return std::move(table_);
  }

  static std::string listed(const std::vector<std::string>& names) {
    std::string out;
    for (const auto& name : names) out += (out.empty() ? "\"" : ", \"") + shown(name) + "\"";
    return out;
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(size_t line, size_t column, const Parts&... parts) const {
    fail(op_, ": ", table_.source_, ":", line, ":", column, ": ", parts...);
  }

  // Reads the fields of a line; false for an empty one.
  bool read_line() {
    fields_.clear();
    begins_.clear();
    quoted_.clear();
    line_begin_ = at_;
    while (true) {
      begins_.push_back(static_cast<uint32_t>(std::min<size_t>(at_ - line_begin_, UINT32_MAX)));
      read_field();
      if (at_ < text_.size() && text_[at_] == options_.delimiter()) {
        ++at_;
        continue;
      }
      skip_line_end();
      return !(fields_.size() == 1 && fields_[0].empty() && !quoted_[0]);
    }
  }

  void read_field() {
    const bool is_quoted = at_ < text_.size() && text_[at_] == '"';
    quoted_.push_back(is_quoted);
    if (is_quoted) return read_quoted();
    const size_t begin = at_;
    while (at_ < text_.size() && !ends_field()) ++at_;
    fields_.emplace_back(text_.substr(begin, at_ - begin));
  }

  bool ends_field() const {
    const char c = text_[at_];
    return c == options_.delimiter() || c == '\n' || c == '\r';
  }

  void read_quoted() {
    const size_t line = line_, column = at_ - line_begin_ + 1;
    std::string field;
    for (++at_;; ++at_) {
      if (at_ == text_.size())
        refuse(line, column, "a quote is not closed; write \" at the end of the field");
      if (text_[at_] == '"') {
        if (text_.substr(at_, 2) != "\"\"") break;
        ++at_;
      } else if (text_[at_] == '\n' || (text_[at_] == '\r' && text_.substr(at_, 2) != "\r\n")) {
        ++line_;
        line_begin_ = at_ + 1;
      }
      field += text_[at_];
    }
    ++at_;
    if (at_ < text_.size() && !ends_field())
      refuse(line_, at_ - line_begin_ + 1,
             "text behind a closing quote; write \"\" for a quote within the field");
    fields_.push_back(std::move(field));
  }

  void skip_line_end() {
    at_ += text_.substr(at_, 2) == "\r\n" ? 2 : at_ < text_.size();
    ++line_;
  }

  void name_columns() {
    if (options_.header()) {
      for (const auto& field : fields_) table_.names_.emplace_back(trimmed(field));
      for (size_t i = 0; i < fields_.size(); ++i)
        for (size_t j = 0; j < i; ++j)
          if (table_.names_[i] == table_.names_[j])
            refuse(line_ - 1, begins_[i] + 1, "two columns are named \"", shown(table_.names_[i]),
                   "\"; name them differently");
    } else {
      for (size_t i = 0; i < fields_.size(); ++i) table_.names_.push_back(std::to_string(i));
    }
    table_.values_.resize(table_.names_.size());
  }

  void add_row(size_t line) {
    const size_t expected = table_.names_.size();
    if (fields_.size() != expected)
      refuse(line, begins_[std::min(fields_.size(), expected + 1) - 1] + 1,
             counted(fields_.size(), "field"), ", expected ", expected,
             " as in the first line; quote a field that holds the delimiter");
    for (size_t i = 0; i < expected; ++i) {
      auto& column = table_.values_[i];
      const auto& names = options_.missing();
      const std::string_view bare = trimmed(fields_[i]);
      const bool is_missing = !quoted_[i] && (bare.empty() || std::find(names.begin(), names.end(),
                                                                        bare) != names.end());
      column.missing.push_back(is_missing);
      column.text.push_back(is_missing ? std::string() : std::move(fields_[i]));
    }
    table_.lines_.push_back(line);
    table_.begins_.push_back(begins_);
  }

  void type_column(size_t i) {
    auto& column = table_.values_[i];
    const auto given = options_.types().find(table_.names_[i]);
    const CsvType type = given == options_.types().end() ? CsvType::kAutomatic : given->second;
    column.type = type == CsvType::kText ? CsvType::kText : CsvType::kNumber;
    for (size_t row = 0; row < column.text.size(); ++row) {
      double value = kMissing;
      if (!column.missing[row] && !is_number(column.text[row], value)) {
        if (type == CsvType::kNumber)
          fail(op_, ": ", table_.where(row, i), ": \"", shown(column.text[row]), "\"",
               detail::why_no_number(column.text[row]), ", and the column \"", table_.names_[i],
               "\" is to hold numbers; change it, or list it in missing");
        column.type = CsvType::kText;
        column.first_text = row;
        column.numbers.clear();
        return;
      }
      column.numbers.push_back(value);
    }
  }

  const char* op_;
  std::string_view text_;
  const CsvOptions& options_;
  CsvTable table_;
  size_t at_ = 0, line_ = 1, line_begin_ = 0;
  std::vector<std::string> fields_;
  std::vector<uint32_t> begins_;
  std::vector<bool> quoted_;
};

CsvTable parse_csv(std::string_view text, std::string_view name, const CsvOptions& options) {
  return CsvParser("parse_csv", text, name, options).parse();
}

CsvTable read_csv(const std::string& path, const CsvOptions& options) {
  constexpr const char* kOp = "read_csv";
  const std::vector<uint8_t> bytes = inflated(read_file(kOp, path), kOp + (": " + path));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return CsvParser(kOp, text, path, options).parse();
}

}  // namespace gradus::data
