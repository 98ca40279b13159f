// Numbers for each spatial dimension.
#include "gradus/autograd/ops/window/lists.h"

namespace gradus::autograd {

std::array<int64_t, kSpatial> spread_list(const char* op, const char* name, IntArrayRef list,
                                          int spatial, int64_t rest) {
  const auto count = static_cast<size_t>(spatial);
  check(list.size() == 1 || list.size() == count, op, ": expected ", name,
        " to be a single integer value or a list of ", spatial,
        " values to match the spatial dimensions, but got ", name, "=", list, "; give as many");
  std::array<int64_t, kSpatial> out;
  out.fill(rest);
  for (size_t i = 0; i < count; ++i) out[kSpatial - count + i] = list[list.size() == 1 ? 0 : i];
  return out;
}

void check_least(const char* op, const char* name, IntArrayRef list, int64_t least,
                 const char* words) {
  for (const int64_t number : list)
    check(number >= least, op, ": ", words, ", but got ", name, "=", list, "; give ", least,
          " or more");
}

}  // namespace gradus::autograd
