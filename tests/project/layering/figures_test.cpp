// Each figure that a page states about the tree is counted here.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ifstream in(std::string(GRADUS_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}
int64_t lines_of(const std::string& path) {
  const std::string text = text_of(path);
  return std::count(text.begin(), text.end(), '\n');
}
// The files below `folder` whose path within it matches.
std::vector<std::string> files_of(const std::string& folder, const std::string& pattern) {
  const fs::path root(GRADUS_SOURCE_DIR);
  const std::regex wanted(pattern);
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder))
    if (entry.is_regular_file() &&
        std::regex_match(entry.path().lexically_relative(root / folder).string(), wanted))
      found.push_back(entry.path().lexically_relative(root).string());
  return found;
}
int64_t lines_of_all(const std::vector<std::string>& files) {
  int64_t lines = 0;
  for (const std::string& file : files) lines += lines_of(file);
  return lines;
}
// The parts of a page that match, by their first group.
std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex wanted(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), wanted), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}
std::vector<std::string> headings_of_tour() {
  return matches(text_of("docs/tour.md"), "\n### [0-9]+\\. ([^\n]+)");
}
std::vector<std::string> files_of_tour() {
  std::vector<std::string> files;
  for (const std::string& heading : headings_of_tour())
    for (const std::string& file : matches(heading, "`([^`]+)`")) files.push_back(file);
  return files;
}
// "2,800", "15" and "nine" as numbers.
int64_t number_of(std::string text) {
  static const std::array<std::string, 13> words{"zero", "one",    "two",   "three", "four",
                                                 "five", "six",    "seven", "eight", "nine",
                                                 "ten",  "eleven", "twelve"};
  const auto word = std::find(words.begin(), words.end(), text);
  if (word != words.end()) return word - words.begin();
  std::erase(text, ',');
  return std::stoll(text);
}
int64_t rounded_up(int64_t count, int64_t to) { return (count + to - 1) / to * to; }

// What a page says, with the figure as the pattern's group, and what is counted.
struct Figure {
  const char *page, *says;
  std::function<int64_t()> counted;
};

const int64_t kHundred = 100;
const char* const kTexts = "[0-9]+\\.[0-9]+_.*\\.md";
const std::vector<Figure> kFigures{
    {"README.md", "leads through ([0-9]+) files", [] { return std::ssize(headings_of_tour()); }},
    {"docs/tour.md", "([0-9]+) files lead from", [] { return std::ssize(headings_of_tour()); }},
    {"docs/tour.md", "The files have ([0-9,]+) lines together",
     [] { return rounded_up(lines_of_all(files_of_tour()), kHundred); }},
    {"docs/tour.md", "ladder of (\\w+) kernels",
     [] { return std::ssize(matches(text_of("docs/matmul.md"), "\n\\| (\\w+).*\\| [0-9]+%")); }},
    {"docs/matmul.md", "Gradus has (\\w+) kernels",
     [] { return std::ssize(matches(text_of("docs/matmul.md"), "\n\\| (\\w+).*\\| [0-9]+%")); }},
    {"docs/tour.md", "tiny framework of ([0-9,]+) lines",
     [] { return rounded_up(lines_of_all(files_of("course/core", ".*")), kHundred); }},
    {"README.md", "in ([0-9]+) tasks", [] { return std::ssize(files_of("course/text", kTexts)); }},
    {"README.md", "(\\w+) whole programs",
     [] { return std::ssize(files_of("docs/cookbook", ".*\\.md")) - 1; }},  // but index.md
    {"docs/extending.md", "A header in `optim/` \\(([0-9]+) lines\\)",
     [] { return lines_of("optim/adam.h"); }},
    {"docs/extending.md", "`optim/adamw.h`, ([0-9]+) lines",
     [] { return lines_of("optim/adamw.h"); }},
};

TEST(Docs, FiguresAreThoseOfTheTree) {
  for (const Figure& figure : kFigures) {
    const auto said = matches(text_of(figure.page), figure.says);
    ASSERT_EQ(said.size(), 1) << figure.page << " does not say once: " << figure.says;
    EXPECT_EQ(number_of(said[0]), figure.counted()) << figure.page << ": " << figure.says;
  }
}

TEST(Docs, TheTourIsAWeekendLong) {
  EXPECT_LE(headings_of_tour().size(), 15);
  EXPECT_LE(lines_of_all(files_of_tour()), 3000);
}

}  // namespace
