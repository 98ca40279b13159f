// LogFile: a file to which whole records are added, each by one call of the system; files that are
// written at once.
#pragma once

#include <string>
#include <string_view>

namespace gradus::watch::detail {

class LogFile {
 public:
  enum class Open { New, Replace, Append };
  // New: a file of this name is an error. Errors: Error, which begins with `operation` and names
  // the path and the system's reason.
  LogFile(const char* operation, const std::string& path, Open open);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // Errors: as above; the file ends with the record before this one, if the system allows it.
  void append(std::string_view record);
  // Brings the file to the disk. Errors: as above.
  void sync();
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void refuse() const;

  const char* operation_;
  std::string path_;
  int descriptor_;
};

// Makes the folder and those above it. Errors: Error, which begins with `operation`.
void make_folder(const char* operation, const std::string& folder);
// Replaces an older file when the new one is complete. Makes the folder where it is missing.
// Errors: as above.
void write_file(const char* operation, const std::string& path, std::string_view bytes);

}  // namespace gradus::watch::detail
