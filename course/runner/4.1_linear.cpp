// Runs task 4.1 on a device of the host that counts kernels.
#include "runner/runner.h"
#include "runner/virtual_device.h"

void run(const Message& in, Message& out) {
  VirtualDevice device;
  const long rows = in.number("rows"), inputs = in.number("in"), outputs = in.number("out");
  const bool wants_dx = in.number("dx") != 0, wants_db = in.number("db") != 0;
  const auto stale = [&](long count) { return std::vector<float>(static_cast<size_t>(count), in.real("stale")); };
  const float* const dy = device.hold(in.floats("dy"));
  const float* const x = device.hold(in.floats("x"));
  const float* const w = device.hold(in.floats("w"));
  float* const dx = wants_dx ? device.hold(stale(rows * inputs)) : nullptr;
  float* const dw = device.hold(stale(outputs * inputs));
  float* const db = wants_db ? device.hold(stale(outputs)) : nullptr;
  course::linear_backward(device, dx, dw, db, dy, x, w, rows, inputs, outputs);
  device.finish();
  out.number("launches", device.launches);
  out.number("copies", device.copies);
  out.number("waits", device.waits);
  out.number("products", device.products);
  out.number("held", device.held);
  out.floats("dx", wants_dx ? device.take(dx, rows * inputs) : std::vector<float>{});
  out.floats("dw", device.take(dw, outputs * inputs));
  out.floats("db", wants_db ? device.take(db, outputs) : std::vector<float>{});
}
