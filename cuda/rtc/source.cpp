// Finds the lines of source text that stands in a program as a literal.
#include "gradus/cuda/rtc/source.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace gradus::cuda {

namespace fs = std::filesystem;

namespace {

std::string without_folder(std::string_view file) {
  return std::string(file.substr(file.rfind('/') + 1));
}

int lines_before(std::string_view text, size_t end) {
  return static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(end), '\n'));
}

// Everything in the file, by the name that the compiler was given: from the working directory, or
// from a folder around the program, which is where a build usually ran.
std::string read(const std::string& file) {
  std::error_code none;
  std::ostringstream out;
  std::ifstream in(file, std::ios::binary);
  for (fs::path around = fs::read_symlink("/proc/self/exe", none);
       !in.is_open() && around.has_relative_path(); around = around.parent_path())
    in.open(around.parent_path() / file, std::ios::binary);
  out << in.rdbuf();
  return out.str();
}

// Compilers disagree about which line a call of several lines has: it is the first or the last one.
// So the literal is looked for in its file; of several places the nearest one counts.
int first_line(std::string_view literal, const char* file, int line) {
  int best = 0, nearest = 0;
  if (const std::string all = read(file); literal.size() >= 8)
    for (size_t at = all.find(literal); at != std::string::npos; at = all.find(literal, at + 1)) {
      const int here = lines_before(all, at) + 1, distance = std::abs(here - line);
      if (best == 0 || distance < nearest) best = here, nearest = distance;
    }
  if (best > 0) return best;
#ifdef __clang__
  return line;
#else
  return std::max(1, line - lines_before(literal, literal.size()));
#endif
}

}  // namespace

Source::Source(std::string_view literal, const char* file, int line)
    : text_(literal),
      file_(file),
      line_(first_line(literal, file, line)),
      given_(without_folder(file_) + ":" + std::to_string(line_)) {}

Source::Source(std::string text, const char* file, int line)
    : text_(std::move(text)), line_(1), given_(without_folder(file) + ":" + std::to_string(line)) {
  file_ = "text of " + given_;
}

Source::Source(std::string text, const Source& around)
    : text_(std::move(text)),
      file_("text around " + around.given_),
      line_(1),
      given_(around.given_) {}

std::string Source::place() const { return given_; }

}  // namespace gradus::cuda
