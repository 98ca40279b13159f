// CSVLogger: cells and their quotes.
#include "gradus/watch/csv_logger.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gradus/optim/check_state.h"
#include "gradus/tensor/factories.h"

namespace gradus::watch {

namespace {

constexpr const char* kCsvLogger = "CSVLogger";

// A cell with a comma, a quote or the end of a line stands in quotes.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string line_of(const std::vector<std::string>& texts, std::string_view end) {
  std::string out;
  for (const std::string& text : texts) out += (&text == texts.data() ? "" : ",") + cell(text);
  return out.append(end);
}

}  // namespace

// The rows of a file that is there. Quotes may hold ends of lines.
void CSVLogger::read_rows(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";  // UTF-8's byte order mark, of an editor
  std::vector<std::string> first(1);
  bool quoted = false;
  for (size_t i = text.starts_with(kMark) ? kMark.size() : 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && quoted && text.substr(i, 2) == "\"\"") {
      first.back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == '\n' && !quoted) {
      if (ends_.empty()) {
        if (i > 0 && text[i - 1] == '\r') line_end_ = "\r\n", first.back().pop_back();
        columns_ = first;
      }
      ends_.push_back(i + 1);
    } else if (!ends_.empty()) {
      continue;
    } else if (c == ',' && !quoted) {
      first.emplace_back();
    } else {
      first.back() += c;
    }
  }
  kept_ = ends_.size();
}

CSVLogger::CSVLogger(const std::string& path, bool append) : path_(path) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) detail::make_folder(kCsvLogger, folder.string());
  using Open = detail::LogFile::Open;
  file_.emplace(kCsvLogger, path, append ? Open::Append : Open::Replace);
  if (!append) return;
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  check<Error>(in.good() || in.eof(), kCsvLogger, ": ", path,
               " cannot be read; choose another path");
  read_rows(text);
  // A program that was killed may have left a part of a row.
  if ((ends_.empty() ? 0 : ends_.back()) != text.size()) cut();
}

// Removes what stands behind the rows that count.
void CSVLogger::cut() {
  std::error_code error;
  std::filesystem::resize_file(path_, kept_ == 0 ? 0 : ends_[kept_ - 1], error);
  check<Error>(!error, kCsvLogger, ": the last rows of ", path_,
               " cannot be removed: ", error.message(), "; choose another path");
  ends_.resize(kept_);
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
          "; its first row names them: ", line_of(columns, ""));
    check(!given[found], "CSVLogger.log: '", name, "' is given twice; name each value once");
    given[found] = true;
    texts[found] = value.exact();
  }
  if (kept_ != ends_.size()) cut();
  const std::string head = ends_.empty() ? line_of(columns, line_end_) : "",
                    line = line_of(texts, line_end_);
  file_->append(head + line);
  if (ends_.empty()) ends_.push_back(head.size());
  ends_.push_back(ends_.back() + line.size());
  kept_ = ends_.size();
  columns_ = std::move(columns);
}

OrderedDict<std::string, Tensor> CSVLogger::state_dict() const {
  OrderedDict<std::string, Tensor> out;
  out.insert("rows", full({}, std::max<int64_t>(static_cast<int64_t>(kept_) - 1, 0), kLong));
  return out;
}

void CSVLogger::load_state_dict(const OrderedDict<std::string, Tensor>& state) {
  optim::check_state(kCsvLogger, state_dict(), state);
  const auto rows = state["rows"].item<int64_t>();
  const int64_t there = std::max<int64_t>(static_cast<int64_t>(ends_.size()) - 1, 0);
  check(rows >= 0 && rows <= there, "CSVLogger: load_state_dict: ", path_, " has ", there,
        " rows, and had ", rows,
        " when the state was saved; give the file of that training, and append = true");
  kept_ = ends_.empty() ? 0 : static_cast<size_t>(rows) + 1;
}

}  // namespace gradus::watch
