// LOSES: scatter, scatter remainder, bytes
// Row r goes to device r % devices, so neighbouring rows are torn apart.
#include "core/parallel.h"

namespace course {

std::vector<float*> scatter(Devices& devices, int home, const float* x, long rows, long width) {
  std::vector<float*> parts;
  for (int i = 0; i < devices.count(); ++i) {
    const long numbers = (rows / devices.count() + (i < rows % devices.count())) * width;
    parts.push_back(devices.allocate(i, numbers));
    for (long row = i, to = 0; row < rows; row += devices.count(), ++to)
      devices.copy(i, parts.back() + to * width, home, x + row * width, width);

  }
  return parts;
}

void gather(Devices& devices, int home, float* out, const std::vector<float*>& parts, long rows, long width) {
  for (int i = 0; i < devices.count(); ++i) {
    const long numbers = (rows / devices.count() + (i < rows % devices.count())) * width;
    if (numbers > 0) devices.copy(home, out, i, parts[i], numbers);
    out += numbers;
  }
}

}  // namespace course
