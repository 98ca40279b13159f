// A table in plain text: the first column to the left, the others to the right.
#pragma once

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

// printf into a string.
[[gnu::format(printf, 1, 2)]] inline std::string format(const char* pattern, ...) {
  va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  std::string text(static_cast<size_t>(std::vsnprintf(nullptr, 0, pattern, arguments)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  va_end(arguments);
  return text;
}

// 1.23e9 with unit "B" as "1.23 GB", 0.0012 with "s" as "1.20 ms".
inline std::string with_unit(double value, const char* unit) {
  static constexpr std::pair<double, const char*> kPrefixes[] = {
      {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}};
  for (const auto& [scale, prefix] : kPrefixes)
    if (value >= scale) return format("%.3g %s%s", value / scale, prefix, unit);
  return format("%.3g %s", value, unit);
}

class Table {
 public:
  using Row = std::vector<std::string>;
  explicit Table(Row header) : rows_{std::move(header)} {}
  // REQUIRES: as many cells as the header has.
  void add(Row row) { rows_.push_back(std::move(row)); }

  friend std::ostream& operator<<(std::ostream& out, const Table& table) {
    std::vector<size_t> widths(table.rows_[0].size());
    for (const Row& row : table.rows_)
      for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    for (size_t r = 0; r < table.rows_.size(); ++r) {
      std::string line;
      for (size_t c = 0; c < widths.size(); ++c) {
        const std::string& cell = table.rows_[r][c];
        const std::string space(widths[c] - cell.size(), ' ');
        line += (c == 0 ? cell + space : "  " + space + cell);
      }
      out << line << '\n';
      if (r == 0) out << std::string(line.size(), '-') << '\n';
    }
    return out;
  }

 private:
  std::vector<Row> rows_;
};
