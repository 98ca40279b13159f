// compare PROGRAM EXPECTED: runs a program and compares what it prints with a file. Numbers may
// differ by 1e-5 of their size, white space by its amount, and the names of classes by their
// namespace; everything else is to be the same.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

// Words, numbers and single signs.
std::vector<std::string> tokens(std::istream& in) {
  std::vector<std::string> out;
  std::string word;
  while (in >> word) {
    for (size_t i = 0; i < word.size();) {
      char* end = nullptr;
      const char* at = word.c_str() + i;
      const bool inside_name = i > 0 && std::isalpha(static_cast<unsigned char>(word[i - 1]));
      size_t length = 1;
      if (!inside_name && !std::isalpha(static_cast<unsigned char>(*at))) {
        std::strtod(at, &end);
        length = std::max<size_t>(1, static_cast<size_t>(end - at));
      } else {
        while (std::isalnum(static_cast<unsigned char>(at[length]))) ++length;
      }
      out.emplace_back(at, length);
      if (out.back() == "gradus") out.back() = "torch";
      i += length;
    }
  }
  return out;
}

bool alike(const std::string& x, const std::string& y) {
  if (x == y) return true;
  char *x_end = nullptr, *y_end = nullptr;
  const double a = std::strtod(x.c_str(), &x_end), b = std::strtod(y.c_str(), &y_end);
  if (*x_end || *y_end || x.empty() || y.empty()) return false;
  return std::abs(a - b) <= 1e-5 * std::max(std::abs(a), std::abs(b));
}

std::string output_of(const std::string& program, int& status) {
  std::string out;
  FILE* pipe = popen(program.c_str(), "r");
  char block[4096];
  while (const size_t n = std::fread(block, 1, sizeof block, pipe)) out.append(block, n);
  status = pclose(pipe);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: compare PROGRAM EXPECTED\n";
    return 2;
  }
  int status = 0;
  std::istringstream printed(output_of(argv[1], status));
  std::ifstream file(argv[2]);
  const auto got = tokens(printed), expected = tokens(file);
  if (expected.empty()) {
    std::cerr << argv[2] << " is empty, or is not there\n";
    return 1;
  }
  for (size_t i = 0; i < std::max(got.size(), expected.size()); ++i) {
    if (i < got.size() && i < expected.size() && alike(got[i], expected[i])) continue;
    const auto context = [i](const std::vector<std::string>& all) {
      std::string text;
      for (size_t k = i < 12 ? 0 : i - 12; k < std::min(i + 12, all.size()); ++k)
        text += (k == i ? " >>>" : " ") + all[k];
      return text;
    };
    std::cerr << "printed: " << context(got) << "\nlibtorch:" << context(expected) << "\n";
    return 1;
  }
  if (status != 0) std::cerr << "the program ended with status " << status << "\n";
  return status != 0;
}
