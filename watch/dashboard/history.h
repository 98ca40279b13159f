// History: the curves that a dashboard shows, in bounded memory. Private to the library.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "gradus/tensor/base/ordered_dict.h"
#include "gradus/watch/log_value.h"

namespace gradus::watch::detail {

struct Point {
  int64_t step;
  double value;
};

// Every `stride`-th point of a curve. When there are too many, every second one of them goes.
class Series {
 public:
  void add(Point point);
  // The points that are kept, and the last one. REQUIRES: there is one.
  std::vector<Point> points() const;

 private:
  std::vector<Point> kept_;
  Point last_{};
  int64_t count_ = 0, stride_ = 1;
};

struct Curves {
  std::map<std::string, Series> series;
  std::map<std::string, std::string> texts;
};

class History {
 public:
  // All of the row, or nothing of it. `op` begins the message.
  // Errors: ValueError for too many curves or texts.
  void add(const char* op, const LogRow& row, std::optional<int64_t> step);
  // The lock is held for a copy, and not while anything is written or sent.
  Curves copy() const;
  // The points of the curves, the texts and the number of rows, for a checkpoint.
  OrderedDict<std::string, Tensor> state_dict() const;
  // Errors: ValueError for what state_dict() does not return; nothing changes then.
  void load_state_dict(const OrderedDict<std::string, Tensor>& state);

 private:
  mutable std::mutex mutex_;
  Curves curves_;
  int64_t rows_ = 0;
};

}  // namespace gradus::watch::detail
