// LOSES: wanted only
// The gradient of the input is computed into a buffer even where nobody wants it.
#include "core/training.h"

namespace course {

void linear_backward(Device& device, float* dx, float* dw, float* db, const float* dy, const float* x,
                     const float* w, long rows, long in, long out) {
  const Buffer unused(device, rows * in);
  device.matmul(dx != nullptr ? dx : unused, {dy, out, 1}, {w, in, 1}, rows, in, out);
  device.matmul(dw, {dy, 1, out}, {x, in, 1}, out, in, rows);
  if (db != nullptr) device.sum_rows(db, {dy, out, 1}, rows, out);
}

}  // namespace course
