// CSVLogger: figures of each epoch or step as a table that every program reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/tensor/base/ordered_dict.h"
#include "gradus/watch/log_file.h"
#include "gradus/watch/log_value.h"

namespace gradus::watch {

// A table of figures in a file of comma-separated values.
//
//   watch::CSVLogger log("runs/train.csv");
//   log.log({{"epoch", 1}, {"loss", 0.25}});
//
// The first row names the columns. Each row is in the file when log() returns. Numbers are written
// so that the same number is read again.
class CSVLogger {
 public:
  // Makes the folder where it is missing. append: goes on in a file that is there, behind its last
  // whole row and with its ends of lines; else such a file is replaced.
  // Errors: Error that names the path and the system's reason.
  explicit CSVLogger(const std::string& path, bool append = false);

  // Columns without a value stay empty.
  // Errors: ValueError for a name that is no column, or given twice, and for a first row that is
  // empty; Error where the file cannot be written. The file is as before then.
  void log(const LogRow& row);
  const std::string& path() const { return path_; }

  // The number of rows, for a checkpoint: a training that goes on from an older checkpoint writes
  // no row twice. The rows behind those of the state go with the next log().
  OrderedDict<std::string, Tensor> state_dict() const;
  // Errors: ValueError for a file with fewer rows, and for the state of another object; nothing
  // changes then.
  void load_state_dict(const OrderedDict<std::string, Tensor>& state);

 private:
  void read_rows(std::string_view text);
  void cut();

  std::string path_, line_end_ = "\n";
  std::vector<std::string> columns_;
  std::vector<uint64_t> ends_;  // where each row ends in the file, the names of the columns first
  size_t kept_ = 0;             // of these rows, those that stay
  std::optional<detail::LogFile> file_;
};

}  // namespace gradus::watch
