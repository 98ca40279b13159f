// Writing beside the name, syncing, and renaming.
#include "gradus/serialize/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>

#include "gradus/tensor/base/error.h"

namespace gradus::serialize {

namespace fs = std::filesystem;

const FileCalls FileCalls::system = {
    [](const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); }, ::write,
    ::fsync, ::close, std::rename};

namespace {
const char* remedy(int reason) {
  switch (reason) {
    case ENOENT:
    case ENOTDIR:
      return "make the folder first, or choose another";
    case ENOSPC:
    case EDQUOT:
      return "free space there, or choose another folder";
    case EFBIG:
      return "raise the limit for the size of a file, or save fewer tensors in one";
    case ENAMETOOLONG:
      return "choose a shorter name";
    default:
      return "choose a folder that can be written to";
  }
}
}  // namespace

AtomicFile::AtomicFile(std::string operation, const std::string& path, const FileCalls& calls)
    : calls_(calls), operation_(std::move(operation)), path_(path) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    path_ = fs::canonical(path, error).string();
    check<Error>(!error, operation_, ": ", path,
                 " cannot be written: it is a symbolic link: ", error.message(), "; remove it");
  }
  const fs::path folder = fs::path(path_).parent_path();
  folder_ = folder.empty() ? "." : folder.string();
  struct stat older;
  if (stat(path_.c_str(), &older) != 0) {
    create(0666);
    return;
  }
  check<Error>(
      S_ISREG(older.st_mode), operation_, ": ", path_,
      " cannot be written: it is there already, and not a regular file; choose another path");
  create(0600);
  if (fchmod(descriptor_, older.st_mode & 07777) == 0) return;
  const int reason = errno;
  discard();
  errno = reason;
  refuse("cannot be written");
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (descriptor_ >= 0) calls_.close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::refuse(const char* what) const {
  const int reason = errno;
  fail<Error>(operation_, ": ", path_, " ", what, ": ", std::strerror(reason), "; ",
              remedy(reason));
}

void AtomicFile::create(mode_t mode) {
  // Room for the rest of the temporary name within the 255 bytes that systems take.
  const std::string name = fs::path(path_).filename().string().substr(0, 200);
  std::random_device number;
  do {
    temporary_ = (fs::path(folder_) / ("." + name + "." + std::to_string(number()) + ".tmp"));
    descriptor_ = calls_.open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    temporary_.clear();
    refuse("cannot be written");
  }
}

void AtomicFile::write(const void* bytes, size_t count) {
  constexpr size_t kMost = size_t{1} << 30;  // systems take less than 2 GiB in one call
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t done = calls_.write(descriptor_, next, std::min(count, kMost));
    if (done < 0 && errno == EINTR) continue;
    if (done == 0) errno = ENOSPC;
    if (done <= 0) refuse("cannot be written");
    next += done;
    count -= static_cast<size_t>(done);
  }
}

void AtomicFile::commit() {
  if (calls_.fsync(descriptor_) != 0) refuse("cannot be brought to the disk");
  // Closed whatever it returns: the system keeps no descriptor for a second try.
  if (calls_.close(std::exchange(descriptor_, -1)) != 0) refuse("cannot be closed");
  if (calls_.rename(temporary_.c_str(), path_.c_str()) != 0) refuse("cannot be replaced");
  temporary_.clear();
  sync_folder();
}

// A crash of the machine may bring the older file back unless the folder is synced.
void AtomicFile::sync_folder() const {
  const int folder = calls_.open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  const bool synced = folder >= 0 && (calls_.fsync(folder) == 0 || errno == EINVAL);
  const int reason = errno;
  if (folder >= 0) calls_.close(folder);
  errno = reason;
  if (!synced) refuse("was replaced, but its folder cannot be brought to the disk");
}

}  // namespace gradus::serialize
