// Appending to a file, with the system's reason where it refuses.
#include "gradus/watch/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "gradus/serialize/atomic_file.h"
#include "gradus/tensor/base/error.h"

namespace gradus::watch::detail {

LogFile::LogFile(const char* operation, const std::string& path, Open open)
    : operation_(operation), path_(path) {
  const int how = open == Open::New ? O_EXCL : open == Open::Replace ? O_TRUNC : 0;
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | how, 0666);
  if (descriptor_ < 0) refuse();
}

LogFile::~LogFile() { ::close(descriptor_); }

void LogFile::append(std::string_view record) {
  const off_t before = ::lseek(descriptor_, 0, SEEK_END);
  while (!record.empty()) {
    const ssize_t done = ::write(descriptor_, record.data(), record.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      const int reason = done == 0 ? ENOSPC : errno;
      if (before >= 0) (void)!::ftruncate(descriptor_, before);
      errno = reason;
      refuse();
    }
    record.remove_prefix(static_cast<size_t>(done));
  }
}

void LogFile::sync() {
  // A pipe or a device has no disk.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) refuse();
}

void LogFile::refuse() const {
  const int reason = errno;
  fail<Error>(operation_, ": ", path_, " cannot be written: ", std::strerror(reason),
              reason == ENOSPC || reason == EDQUOT ? "; free space there, or choose another folder"
                                                   : "; choose a folder that can be written to");
}

void make_folder(const char* operation, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::error_code ignored;
  check<Error>(!error && std::filesystem::is_directory(folder, ignored), operation, ": the folder ",
               folder, " cannot be made: ", error ? error.message() : std::string("it is a file"),
               "; choose another");
}

void write_file(const char* operation, const std::string& path, std::string_view bytes) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) make_folder(operation, folder.string());
  serialize::AtomicFile file(operation, path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

}  // namespace gradus::watch::detail
