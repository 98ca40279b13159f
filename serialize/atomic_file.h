// A file that appears under its name whole or not at all, whenever the program or machine stops.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace gradus::serialize {

// The calls that writing a file makes, so that tests can let them fail.
struct FileCalls {
  int (*open)(const char* path, int flags, mode_t mode);
  ssize_t (*write)(int descriptor, const void* bytes, size_t count);
  int (*fsync)(int descriptor);
  int (*close)(int descriptor);
  int (*rename)(const char* from, const char* to);

  static const FileCalls system;
};

// Bytes go to a temporary file ".NAME.NUMBER.tmp" in the same folder. commit() brings it to the
// disk and gives it its name in one step. It replaces an older file and takes its permissions. The
// destructor removes the temporary file if there was no commit(). A program that is killed leaves
// it behind. A symbolic link stays, and the file that it points to is replaced.
class AtomicFile {
 public:
  // Errors: Error with the operation, the path and the system's reason, as all others of this
  // class; also for a path that is a folder or a device.
  AtomicFile(std::string operation, const std::string& path,
             const FileCalls& calls = FileCalls::system);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Errors: Error; the older file is untouched.
  void write(const void* bytes, size_t count);
  // REQUIRES: not called before.
  // Errors: Error; the older file is untouched, but where the message says that it was replaced and
  // only the folder could not be brought to the disk.
  void commit();

 private:
  [[noreturn]] void refuse(const char* what) const;
  void create(mode_t mode);
  void discard();
  void sync_folder() const;

  const FileCalls& calls_;
  std::string operation_, path_, folder_, temporary_;
  int descriptor_ = -1;
};

}  // namespace gradus::serialize
