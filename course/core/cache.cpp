// The simulated cache.
#include "core/cache.h"

namespace course {

void Cache::access(int array, long address) {
  ++accesses_[array];
  const long line = address / kLine;
  if (!lines_.empty() && lines_.front() == line) return;
  if (line >= static_cast<long>(places_.size())) places_.resize(static_cast<size_t>(line) + 1, lines_.end());
  auto& place = places_[static_cast<size_t>(line)];
  if (place != lines_.end()) {
    lines_.splice(lines_.begin(), lines_, place);
    return;
  }
  ++misses_[array];
  if (lines_.size() == kBytes / kLine) {
    places_[static_cast<size_t>(lines_.back())] = lines_.end();
    lines_.pop_back();
  }
  lines_.push_front(line);
  place = lines_.begin();
}

}  // namespace course
