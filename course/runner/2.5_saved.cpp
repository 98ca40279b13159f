// Runs task 2.5: a row of a matrix is saved between writes to tensors of the same memory, and to others.
#include "runner/runner.h"
#include "runner/tensors_in.h"

namespace {

course::Tensor row(const course::Tensor& matrix, long i) {
  course::Tensor out = matrix;
  out.sizes = {matrix.sizes.at(1)};
  out.offset = matrix.offset + i * matrix.sizes.at(1);
  return out;
}

void write(const course::Tensor& x, float value) {
  float* const to = x.write();
  for (long i = 0; i < x.count(); ++i) to[i] = value;
}

}  // namespace

// "before" and "after" list what happens before and after row 1 is saved: 0 and 1 write to a row, 2 to the whole
// matrix, 3 to another matrix, 4 writes the elements of row 1 as they are, 5 calls get().
void run(const Message& in, Message& out) {
  const course::Tensor matrix = tensor_in(in, "x"), other = tensor_in(in, "x");
  const auto act = [&](long what, const course::Saved* saved) {
    if (what <= 1) write(row(matrix, what), 100);
    if (what == 2) write(matrix, 200);
    if (what == 3) write(other, 300);
    if (what == 4) row(matrix, 1).write();
    if (what == 5) saved->get();
  };
  for (const long each : in.longs("before")) act(each, nullptr);

  course::Tensor x = row(matrix, 1);
  x.node = std::make_shared<course::Node>();
  const std::weak_ptr<course::Node> node = x.node;
  const course::Saved saved(x), copy = saved;
  x = {};
  out.number("node is kept", !node.expired());
  for (const long each : in.longs("after")) act(each, &saved);

  const course::Tensor found = in.number("copy") != 0 ? copy.get() : saved.get();
  if (found.empty()) throw std::logic_error("get() gave a tensor without storage");
  out.floats("values", values_of(found));
  out.longs("value sizes", found.sizes);
  out.number("same memory", found.storage == matrix.storage && found.offset == matrix.sizes[1]);
}
