// Reads what the scripts of tests/conformance have written.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "gradus/tensor/base/error.h"

namespace gradus::test {

// The text of a file below tests/conformance. Errors: Error where it cannot be read.
inline std::string recorded(const std::string& name) {
  const std::string path = GRADUS_SOURCE_DIR "/tests/conformance/" + name;
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.empty()) throw Error("cannot read " + path);
  return text;
}

}  // namespace gradus::test
