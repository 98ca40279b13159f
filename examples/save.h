// Results on disk: never half of a file, and none where one cannot be written.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gradus/tensor/base/error.h"

struct ResultFile {
  std::filesystem::path path;
  std::string text;
};

// Checks before the work begins that its results can be written, by making a file where the new
// folders would be. Errors: Error where a file is there and not a regular one, or its folder cannot
// be written to or made.
inline void check_writable(const std::filesystem::path& file) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  gradus::check<gradus::Error>(!fs::exists(file, ignored) || fs::is_regular_file(file, ignored),
                               "cannot write ", file.string(),
                               ": it is there already, and not a regular file; name another");
  const fs::path folder = fs::absolute(file).parent_path();
  fs::path existing = folder;
  while (!fs::exists(existing, ignored) && existing.has_relative_path())
    existing = existing.parent_path();
  gradus::check<gradus::Error>(fs::is_directory(existing, ignored), "cannot write to ",
                               folder.string(), ": ", existing.string(), " is not a folder");
  std::string attempt = (existing / ".gradus.XXXXXX").string();
  const int descriptor = mkstemp(attempt.data());
  gradus::check<gradus::Error>(descriptor >= 0, "cannot write to ", folder.string(), ": ",
                               existing.string(), ": ", std::strerror(errno));
  close(descriptor);
  unlink(attempt.c_str());
}

// Writes every file beside its place, then moves them all there.
// Errors: Error that names the file; where writing failed none is left.
inline void save(const std::vector<ResultFile>& files) {
  namespace fs = std::filesystem;
  const auto beside = [](const fs::path& path) { return fs::path(path.string() + ".partial"); };
  try {
    for (const auto& [path, text] : files) {
      std::error_code error;
      check_writable(path);
      if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
      errno = 0;
      std::ofstream out(beside(path), std::ios::binary);
      out << text;
      out.close();
      gradus::check<gradus::Error>(!out.fail(), "cannot write ", path.string(), ": ",
                                   std::strerror(errno));
    }
    for (const ResultFile& file : files) fs::rename(beside(file.path), file.path);
  } catch (const std::exception& error) {
    std::error_code ignored;
    for (const ResultFile& file : files) fs::remove(beside(file.path), ignored);
    gradus::fail<gradus::Error>(error.what());
  }
}
