// A file that is read by position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gradus::serialize {

class InputFile {
 public:
  // Errors: Error, which names the path, where it cannot be opened or is not a regular file.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  uint64_t size() const { return size_; }
  // All of `count` bytes from `position` on. Errors: Error where the file fails or ends early.
  void read(uint64_t position, void* bytes, size_t count) const;

 private:
  std::string path_;
  int descriptor_;
  uint64_t size_ = 0;
};

}  // namespace gradus::serialize
