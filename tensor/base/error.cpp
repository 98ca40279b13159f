#include "gradus/tensor/base/error.h"

#include <cstdio>

namespace gradus::detail {

void append(std::string& out, double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", value);
  out += buffer;
}

}  // namespace gradus::detail
