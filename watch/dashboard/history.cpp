// Curves that are thinned as they grow.
#include "gradus/watch/dashboard/history.h"

#include "gradus/tensor/base/error.h"

namespace gradus::watch::detail {

namespace {
constexpr size_t kMostPoints = 1000, kMostNames = 200;
}

void Series::add(Point point) {
  last_ = point;
  if (count_++ % stride_ != 0) return;
  kept_.push_back(point);
  if (kept_.size() < kMostPoints) return;
  for (size_t i = 0; i < kept_.size() / 2; ++i) kept_[i] = kept_[2 * i];
  kept_.resize(kept_.size() / 2);
  stride_ *= 2;
}

std::vector<Point> Series::points() const {
  std::vector<Point> out = kept_;
  if ((count_ - 1) % stride_ != 0) out.push_back(last_);
  return out;
}

void History::add(const char* op, const LogRow& row, std::optional<int64_t> step) {
  const std::lock_guard lock(mutex_);
  size_t names = curves_.series.size() + curves_.texts.size();
  for (const auto& [name, value] : row)
    names += !(value.number() ? curves_.series.contains(name) : curves_.texts.contains(name));
  check(names <= kMostNames, op, ": ", names, " names, expected at most ", kMostNames,
        "; give the same name to all values of a curve");
  const int64_t at = step ? *step : ++rows_;
  for (const auto& [name, value] : row)
    if (const auto number = value.number())
      curves_.series[name].add({at, *number});
    else
      curves_.texts[name] = value.exact();
}

Curves History::copy() const {
  const std::lock_guard lock(mutex_);
  return curves_;
}

}  // namespace gradus::watch::detail
