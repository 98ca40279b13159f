// A file that is read by position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace gradus::serialize {

class InputFile {
 public:
  // Errors: Error, which names the operation and the path, where it cannot be opened or is not a
  // regular file.
  InputFile(std::string operation, std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  uint64_t size() const { return size_; }
  // All of `count` bytes from `position` on. Errors: Error where the file fails or ends early.
  void read(uint64_t position, void* bytes, size_t count) const;
  // The whole file as memory, whose pages are read when they are used. Writes stay in this
  // process and do not reach the file. Null for an empty file.
  // REQUIRES: nobody shortens the file while the memory is in use.
  // Errors: Error where the system refuses.
  std::shared_ptr<char> map() const;

 private:
  std::string operation_, path_;
  int descriptor_;
  uint64_t size_ = 0;
};

}  // namespace gradus::serialize
