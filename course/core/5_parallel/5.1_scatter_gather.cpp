// Task 5.1: rows from one device to all, and back.
#include "core/parallel.h"

namespace course {

std::vector<float*> scatter(Devices& devices, int home, const float* x, long rows, long width) {
  // BEGIN SOLUTION 5.1
  std::vector<float*> parts;
  for (int i = 0; i < devices.count(); ++i) {
    const long numbers = (rows / devices.count() + (i < rows % devices.count())) * width;
    parts.push_back(devices.allocate(i, numbers));
    if (numbers > 0) devices.copy(i, parts.back(), home, x, numbers);
    x += numbers;
  }
  return parts;
  // END SOLUTION 5.1
}

void gather(Devices& devices, int home, float* out, const std::vector<float*>& parts, long rows, long width) {
  // BEGIN SOLUTION 5.1
  for (int i = 0; i < devices.count(); ++i) {
    const long numbers = (rows / devices.count() + (i < rows % devices.count())) * width;
    if (numbers > 0) devices.copy(home, out, i, parts[i], numbers);
    out += numbers;
  }
  // END SOLUTION 5.1
}

}  // namespace course
