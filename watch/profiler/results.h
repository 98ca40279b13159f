// Results: everything that a profile keeps when it has stopped.
#pragma once

#include "gradus/watch/profiler/recorder.h"

namespace gradus::profiler {

struct profile::Results {
  Recording recording;
};

namespace detail {
// Cells as a table: the first column flush left, the others right, with rules below the head.
std::string table(const std::vector<std::vector<std::string>>& rows);
// 1234.5 as "1.234ms", as PyTorch's tables write microseconds.
std::string time_text(double microseconds);
std::string shapes_text(const std::vector<std::vector<int64_t>>& shapes);
}  // namespace detail

}  // namespace gradus::profiler
