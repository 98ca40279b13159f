// Walks of kernels: joins dimensions, and finds the width of vectors.
#include "gradus/tensor/codegen/walk.h"

#include <algorithm>

namespace gradus::codegen {

Walk::Walk(IntArrayRef all_sizes, const std::vector<Dims>& all_strides)
    : strides(all_strides.size()) {
  for (size_t d = 0; d < all_sizes.size(); ++d) {
    const int64_t size = all_sizes[d];
    if (size == 1) continue;
    bool joins = !sizes.empty();
    for (size_t t = 0; t < strides.size() && joins; ++t)
      joins = strides[t].back() == all_strides[t][d] * size;
    if (!joins) sizes.push_back(1);
    sizes[sizes.size() - 1] *= size;
    for (size_t t = 0; t < strides.size(); ++t) {
      strides[t].resize(sizes.size());
      strides[t][sizes.size() - 1] = all_strides[t][d];
    }
  }
  if (!sizes.empty()) return;
  sizes.push_back(1);
  for (Dims& each : strides) each.push_back(1);
}

int64_t Walk::elements() const {
  int64_t out = 1;
  for (const int64_t size : sizes) out *= size;
  return out;
}

int64_t Walk::reach() const {
  int64_t out = 0;
  for (const Dims& each : strides) {
    int64_t last = 0;
    for (size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * each[d];
    out = std::max(out, last);
  }
  return out;
}

std::string Walk::parameter(const std::string& name) const {
  return "const gradus::Walk<" + std::to_string(sizes.size()) + ", " +
         std::to_string(strides.size()) + "> " + name;
}

std::vector<char> Walk::bytes(bool wide, int vector) const {
  std::vector<char> out;
  const auto add = [&](const Dims& values, bool divides) {
    for (size_t d = 0; d < values.size(); ++d) {
      const bool is_last = d + 1 == values.size();
      const int64_t value = !is_last  ? values[d]
                            : divides ? values[d] / vector
                                      : values[d] * vector;
      const char* first = reinterpret_cast<const char*>(&value);
      out.insert(out.end(), first, first + (wide ? 8 : 4));
    }
  };
  add(sizes, true);
  for (const Dims& each : strides) add(each, false);
  return out;
}

bool is_wide(int64_t elements, int64_t reach) {
  constexpr int64_t kOverhang = 1 << 20;  // what threads of the last blocks count to beyond the end
  return std::max(elements, reach) > INT32_MAX - kOverhang;
}

int vector_width(const Walk& walk, ArrayRef<size_t> element_sizes, int most, const Walk* around) {
  size_t largest = 0;
  for (size_t t = 0; t < walk.strides.size(); ++t) {
    if (walk.repeats(t)) continue;
    if (walk.strides[t].back() != 1) return 1;
    largest = std::max(largest, element_sizes[t]);
  }
  if (largest == 0) return 1;  // nothing moves
  int width = std::min(most, 16 / static_cast<int>(largest));
  const auto fits = [&](const Dims& strides, size_t count) {
    return std::all_of(strides.begin(), strides.begin() + count,
                       [&](int64_t stride) { return stride % width == 0; });
  };
  const auto all_fit = [&] {
    if ((around || walk.sizes.size() > 1) && walk.sizes.back() % width != 0) return false;
    for (size_t t = 0; t < walk.strides.size(); ++t)
      if (!walk.repeats(t) && !(fits(walk.strides[t], walk.sizes.size() - 1) &&
                                (!around || fits(around->strides[t], around->sizes.size()))))
        return false;
    return true;
  };
  while (width > 1 && !all_fit()) width /= 2;
  return width;
}

int alignment(const void* data, size_t element_size) {
  const uintptr_t number = reinterpret_cast<uintptr_t>(data) / element_size;
  return number == 0 ? kMostAligned
                     : static_cast<int>(std::min<uintptr_t>(number & -number, kMostAligned));
}

}  // namespace gradus::codegen
