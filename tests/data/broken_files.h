// What every reader does with files that are cut off or changed: it refuses them, or reads them
// whole, and never anything else.
#pragma once

#include <fstream>
#include <iterator>

#include "tests/data/idx_files.h"

namespace gradus::data {

// A file of tests/data/files.
inline Bytes file_bytes(const std::string& name) {
  std::ifstream in(std::string(GRADUS_SOURCE_DIR) + "/tests/data/files/" + name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

// `read` refuses every beginning of the file but the whole.
template <class Read>
void expect_truncations_refused(const Bytes& file, const Read& read) {
  for (size_t length = 0; length < file.size(); ++length) {
    try {
      read(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length)));
      ADD_FAILURE() << "the first " << length << " of " << file.size() << " bytes were read";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("some.file"), std::string::npos) << error.what();
    }
  }
}

// `read` reads a beginning of the file, or refuses it with its name.
template <class Read>
void expect_beginnings_survived(const Bytes& file, const Read& read) {
  for (size_t length = 0; length < file.size(); ++length) try {
      read(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length)));
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("some.file"), std::string::npos) << error.what();
    }
}

// Every byte of the file is replaced by some others: `read` throws an Error or returns.
template <class Read>
void expect_changes_survived(const Bytes& file, const Read& read) {
  for (size_t at = 0; at < file.size(); ++at)
    for (const int change : {0x01, 0x80, 0xff}) {
      Bytes changed = file;
      changed[at] = static_cast<uint8_t>(changed[at] ^ change);
      try {
        read(changed);
      } catch (const Error&) {
        continue;
      }
    }
}

}  // namespace gradus::data
