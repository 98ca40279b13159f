// Opening a file, and reading exactly so many bytes.
#include "gradus/serialize/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "gradus/tensor/base/error.h"

namespace gradus::serialize {

// O_NONBLOCK: without it open() would wait for the other end of a pipe.
InputFile::InputFile(std::string operation, std::string path)
    : operation_(std::move(operation)),
      path_(std::move(path)),
      descriptor_(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  check<Error>(descriptor_ >= 0, operation_, ": ", path_,
               ": cannot be opened: ", std::strerror(errno),
               "; check the path and its permissions");
  struct stat status;
  const bool regular = fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  if (!regular) close(descriptor_);
  check<Error>(regular, operation_, ": ", path_, ": not a regular file; give the path of one");
  size_ = static_cast<uint64_t>(status.st_size);
}

InputFile::~InputFile() { close(descriptor_); }

void InputFile::read(uint64_t position, void* bytes, size_t count) const {
  constexpr size_t kMost = size_t{1} << 30;  // systems take less than 2 GiB in one call
  for (size_t done = 0; done < count;) {
    const ssize_t got = pread(descriptor_, static_cast<char*>(bytes) + done,
                              std::min(count - done, kMost), static_cast<off_t>(position + done));
    if (got < 0 && errno == EINTR) continue;
    check<Error>(got >= 0, operation_, ": ", path_, ": cannot be read: ", std::strerror(errno),
                 "; copy it to another disk");
    check<Error>(got > 0, operation_, ": ", path_, ": ends after ", position + done, " of ", size_,
                 " bytes; it was changed while it was read, load it again");
    done += static_cast<size_t>(got);
  }
}

std::shared_ptr<char> InputFile::map() const {
  if (size_ == 0) return nullptr;
  void* const bytes =
      mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor_, 0);
  check<Error>(bytes != MAP_FAILED, operation_, ": ", path_,
               ": cannot be mapped: ", std::strerror(errno), "; load it without mmap");
  return {static_cast<char*>(bytes), [size = size_](char* begin) { munmap(begin, size); }};
}

}  // namespace gradus::serialize
