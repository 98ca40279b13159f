// The first line that a benchmark prints: how the library was built.
#pragma once

#include <cstdio>
#include <string>

#include "gradus/version.h"

namespace bench {

inline void print_config() {
  const std::string config = gradus::show_config();
  std::printf("%s\n", config.substr(0, config.find('\n')).c_str());
}

}  // namespace bench
