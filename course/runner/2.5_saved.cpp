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
// matrix, 3 to another matrix, 4 writes the elements of row 1 as they are, 5 calls get(), 6 calls it and goes on where it throws.
// "version" is that of the matrix at the beginning. With "drop" all other names of its memory are gone before the last get().
void run(const Message& in, Message& out) {
  course::Tensor matrix = tensor_in(in, "x");
  const course::Tensor other = tensor_in(in, "x");
  if (in.has("version")) matrix.storage->version = in.number("version");
  long writes = 0;  // of the memory, by Saved
  const auto counted = [&](const auto& call) {
    const long before = matrix.storage->version;
    call();
    writes += matrix.storage->version - before;
  };
  const auto act = [&](long what, const course::Saved* saved) {
    if (what <= 1) write(row(matrix, what), 100);
    if (what == 2) write(matrix, 200);
    if (what == 3) write(other, 300);
    if (what == 4) row(matrix, 1).write();
    if (what == 5) counted([&] { saved->get(); });
    if (what == 6) {
      try {
        saved->get();
      } catch (const std::runtime_error&) {
      }
    }
  };
  for (const long each : in.longs("before")) act(each, nullptr);

  course::Tensor x = row(matrix, 1);
  x.node = std::make_shared<course::Node>();
  const std::weak_ptr<course::Node> node = x.node;
  const long version = matrix.storage->version;
  const course::Saved saved(x), copy = saved;
  writes += matrix.storage->version - version;
  x = {};
  out.number("node is kept", !node.expired());
  for (const long each : in.longs("after")) act(each, &saved);

  const course::Saved& asked = in.number("copy") != 0 ? copy : saved;
  if (in.has("drop")) {
    const std::weak_ptr<course::Storage> memory = matrix.storage;
    matrix = {};
    out.number("memory is kept", !memory.expired());
    out.floats("values", memory.expired() ? std::vector<float>{} : values_of(asked.get()));
    return;
  }
  course::Tensor found;
  counted([&] { found = asked.get(); });
  if (found.empty()) throw std::logic_error("get() gave a tensor without storage");
  out.floats("values", values_of(found));
  out.longs("value sizes", found.sizes);
  out.number("writes", writes);
  out.number("same memory", found.storage == matrix.storage && found.offset == matrix.sizes[1]);
}
