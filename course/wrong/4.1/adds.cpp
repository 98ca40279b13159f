// LOSES: launches, wanted only, replaced
// The gradient of the bias is added to what was there.
#include "core/training.h"

namespace course {

void linear_backward(Device& device, float* dx, float* dw, float* db, const float* dy, const float* x,
                     const float* w, long rows, long in, long out) {
  if (dx != nullptr) device.matmul(dx, {dy, out, 1}, {w, in, 1}, rows, in, out);
  device.matmul(dw, {dy, 1, out}, {x, in, 1}, out, in, rows);
  if (db == nullptr) return;
  const Buffer sums(device, out);
  device.sum_rows(sums, {dy, out, 1}, rows, out);
  const Layout line{1, {out}, {1}};
  device.zip(Op2::add, db, line, db, line, sums, line);
}

}  // namespace course
