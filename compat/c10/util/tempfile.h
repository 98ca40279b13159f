// c10::make_tempfile: a file that goes away with its name.
#pragma once

#include <stdlib.h>  // mkstemp
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10

namespace gradus::compat {

struct TempFile {
  TempFile(std::string file_name, int file) : name(std::move(file_name)), fd(file) {}
  TempFile(TempFile&& other) noexcept
      : name(std::exchange(other.name, {})), fd(std::exchange(other.fd, -1)) {}
  TempFile& operator=(TempFile&&) = delete;
  ~TempFile() {
    if (name.empty()) return;
    unlink(name.c_str());
    close(fd);
  }

  std::string name;
  int fd;
};

// Errors: Error where the folder of temporary files cannot be written.
inline TempFile make_tempfile(std::string_view name_prefix = "torch-file-") {
  std::string name =
      (std::filesystem::temp_directory_path() / (std::string(name_prefix) + "XXXXXX")).string();
  const int file = mkstemp(name.data());
  check<Error>(file >= 0, "make_tempfile: ", name,
               " cannot be made; set TMPDIR to a folder that can be written");
  return {std::move(name), file};
}

}  // namespace gradus::compat

namespace c10 {
using gradus::compat::make_tempfile;
using gradus::compat::TempFile;
}  // namespace c10
