// CSVLogger: cells and their quotes.
#include "gradus/watch/csv_logger.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace gradus::watch {

namespace {

// A cell with a comma, a quote or the end of a line stands in quotes.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string line_of(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (&text == texts.data() ? "" : ",") + cell(text);
  return out + "\n";
}

// The cells of the first line, whose quotes may hold ends of lines; empty where it has no end.
std::vector<std::string> first_line(const std::string& text) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && quoted && text[i + 1] == '"') {
      out.back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      out.emplace_back();
    } else if (c == '\n' && !quoted) {
      return out;
    } else {
      out.back() += c;
    }
  }
  return {};
}

}  // namespace

CSVLogger::CSVLogger(const std::string& path, bool append) : path_(path) {
  constexpr const char* kOp = "CSVLogger";
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) detail::make_folder(kOp, folder.string());
  using Open = detail::LogFile::Open;
  file_.emplace(kOp, path, append ? Open::Append : Open::Replace);
  if (!append) return;
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  check<Error>(in.good() || in.eof(), kOp, ": ", path, " cannot be read; choose another path");
  columns_ = first_line(text);
  // A program that was killed may have left a part of a row.
  const size_t whole = columns_.empty() ? 0 : text.rfind('\n') + 1;
  if (whole == text.size()) return;
  std::error_code error;
  std::filesystem::resize_file(path, whole, error);
  check<Error>(!error, kOp, ": the unfinished last row of ", path,
               " cannot be removed: ", error.message(), "; choose another path");
}

void CSVLogger::log(const LogRow& row) {
  std::vector<std::string> columns = columns_;
  if (columns.empty())
    for (const auto& [name, value] : row) columns.push_back(name);
  check(!columns.empty(), "CSVLogger.log: the first row is empty; give it {name, value} pairs");
  std::vector<std::string> texts(columns.size());
  std::vector<bool> given(columns.size());
  for (const auto& [name, value] : row) {
    const auto found =
        static_cast<size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin());
    check(found < columns.size(), "CSVLogger.log: '", name, "' is no column of ", path_,
          "; its first row names them: ", line_of(columns).substr(0, line_of(columns).size() - 1));
    check(!given[found], "CSVLogger.log: '", name, "' is given twice; name each value once");
    given[found] = true;
    texts[found] = value.exact();
  }
  file_->append((columns_.empty() ? line_of(columns) : "") + line_of(texts));
  columns_ = std::move(columns);
}

}  // namespace gradus::watch
