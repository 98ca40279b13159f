// LOSES: weight, weight shape, replaced
// dw is x^T dy, which is the transposed gradient, of shape (in, out).
#include "core/training.h"

namespace course {

void linear_backward(Device& device, float* dx, float* dw, float* db, const float* dy, const float* x,
                     const float* w, long rows, long in, long out) {
  if (dx != nullptr) device.matmul(dx, {dy, out, 1}, {w, in, 1}, rows, in, out);
  device.matmul(dw, {x, 1, in}, {dy, out, 1}, in, out, rows);
  if (db != nullptr) device.sum_rows(db, {dy, out, 1}, rows, out);
}

}  // namespace course
