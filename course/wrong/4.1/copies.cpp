// LOSES: launches, wanted only
// The gradient is transposed by a copy, which is one more kernel.
#include "core/training.h"

namespace course {

void linear_backward(Device& device, float* dx, float* dw, float* db, const float* dy, const float* x,
                     const float* w, long rows, long in, long out) {
  if (dx != nullptr) device.matmul(dx, {dy, out, 1}, {w, in, 1}, rows, in, out);
  const Buffer transposed(device, out * rows);
  device.copy(transposed, {dy, 1, out}, out, rows);
  device.matmul(dw, {transposed, rows, 1}, {x, in, 1}, out, in, rows);
  if (db != nullptr) device.sum_rows(db, {dy, out, 1}, rows, out);
}

}  // namespace course
