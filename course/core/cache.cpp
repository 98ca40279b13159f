// The simulated cache.
#include "core/cache.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace course {

namespace {

struct Placed : CachedArray {
  long address = 0;  // in the simulated memory
};
Cache* cache = nullptr;
Placed placed[3];

float* find(int number, long i) {
  if (number < 0 || number > 2) throw std::out_of_range("there is no array " + std::to_string(number));
  const Placed& array = placed[number];
  if (i < 0 || i >= array.size)
    throw std::out_of_range(std::string(array.name) + "[" + std::to_string(i) + "], which has " + std::to_string(array.size) + " elements");
  cache->access(number, array.address + i * static_cast<long>(sizeof(float)));
  return array.data + i;
}

}  // namespace

void use_cache(Cache& used, const CachedArray (&arrays)[3]) {
  cache = &used;
  long free = 0;
  for (int number = 0; number < 3; ++number) {
    placed[number] = {arrays[number], free};
    const long bytes = arrays[number].size * static_cast<long>(sizeof(float));
    free += (bytes + Cache::kLine - 1) / Cache::kLine * Cache::kLine;
  }
}

float load_cached(int array, long i) { return *find(array, i); }

void store_cached(int array, long i, float value) {
  float* const at = find(array, i);
  if (placed[array].is_const) throw std::logic_error(std::string(placed[array].name) + " is const");
  *at = value;
}

void Cache::follow(int array, long element) {
  if (array != array_) array_ = array, ++run_, length_ = 0;
  if (element >= static_cast<long>(used_.size())) used_.resize(static_cast<size_t>(element) + 1);
  long& used = used_[static_cast<size_t>(element)];
  if (used == run_) return;
  used = run_;
  longest_[array] = std::max(longest_[array], ++length_);
}

void Cache::access(int array, long address) {
  ++accesses_[array];
  follow(array, address / static_cast<long>(sizeof(float)));
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
