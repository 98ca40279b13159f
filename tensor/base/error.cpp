// The text of errors, and the context that is added to it on its way up.
#include "gradus/tensor/base/error.h"

#include <cstdio>

namespace gradus {

const char* Error::what() const noexcept { return message_.c_str(); }

namespace detail {

void append_integer(std::string& out, long long value) { out += std::to_string(value); }
void append_integer(std::string& out, unsigned long long value) { out += std::to_string(value); }

void append(std::string& out, double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", value);
  out += buffer;
}

std::string joined(std::initializer_list<Part> parts) {
  std::string out;
  for (const Part& part : parts) part.append_to(out);
  return out;
}

template void raise<Error>(std::initializer_list<Part>);
template void raise<IndexError>(std::initializer_list<Part>);
template void raise<ValueError>(std::initializer_list<Part>);
template void raise<TypeError>(std::initializer_list<Part>);

}  // namespace detail
}  // namespace gradus
