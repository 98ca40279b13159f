// Which cases of a benchmark run: those whose names contain one of the arguments, or all.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace bench {

inline std::vector<std::string>& words() {
  static std::vector<std::string> words;
  return words;
}
inline void read_wanted(int argc, char** argv) { words().assign(argv + 1, argv + argc); }
inline bool wanted(const std::string& name) {
  const auto is_in_name = [&](const std::string& word) { return name.find(word) != name.npos; };
  return words().empty() || std::any_of(words().begin(), words().end(), is_in_name);
}

}  // namespace bench
