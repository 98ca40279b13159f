// VirtualDevice: its memory, its queue and its kernels.
#include "runner/virtual_device.h"

#include <sys/mman.h>

#include <stdexcept>

using course::Layout;
using course::Mat;

namespace {

constexpr long kSpace = 1L << 26;  // numbers; memory that nobody touches costs nothing

float* map_space(int protection) {
  void* const at = mmap(nullptr, kSpace * sizeof(float), protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::runtime_error("no memory for the device");
  return static_cast<float*>(at);
}

const float* at(const Mat& x, long i, long j) { return x.data + (i * x.row + j * x.column); }

// Where element number i of a layout, counted in row-major order, is.
long place(const Layout& layout, long i) {
  long where = 0;
  for (int d = layout.rank - 1; d >= 0; --d) where += i % layout.sizes[d] * layout.strides[d], i /= layout.sizes[d];
  return where;
}

}  // namespace

VirtualDevice::VirtualDevice(Kind kind)
    : kind_(kind), space_(map_space(kind == Kind::gpu ? PROT_NONE : PROT_READ | PROT_WRITE)),
      store_(kind == Kind::gpu ? map_space(PROT_READ | PROT_WRITE) : space_) {}

VirtualDevice::~VirtualDevice() {
  munmap(space_, kSpace * sizeof(float));
  if (store_ != space_) munmap(store_, kSpace * sizeof(float));
}

// --- Memory
float* VirtualDevice::take_space(long count) {
  if (count < 0) throw std::runtime_error("allocate: a negative number of elements");
  if (next_ + count + 64 > kSpace) throw std::runtime_error("the device has no memory left");
  blocks_[next_] = {count, std::vector<bool>(static_cast<size_t>(count))};
  float* const out = space_ + next_;
  next_ += (count + 127) / 64 * 64;  // with a gap after it
  return out;
}

float* VirtualDevice::allocate(long count) {
  events += 'a';
  ++held;
  return take_space(count);
}

void VirtualDevice::release(float* memory) {
  events += 'r';
  queue([=, this] {
    if (blocks_.erase(memory - space_) == 0) throw std::runtime_error("release: memory that the device does not hold");
    --held;
  });
}

float& VirtualDevice::number(const float* at, const char* what, bool writes) {
  const long where = at - space_;
  auto block = where < 0 || where >= kSpace ? blocks_.end() : blocks_.upper_bound(where);
  if (where < 0 || where >= kSpace || block == blocks_.begin())
    throw std::runtime_error(std::string(what) + ": a pointer that is not to memory of the device");
  --block;
  const long i = where - block->first;
  if (i >= block->second.size)
    throw std::runtime_error(std::string(what) + ": outside of memory of the device, or in memory that was released: element " +
                             std::to_string(i) + " of " + std::to_string(block->second.size));
  if (writes) block->second.written[static_cast<size_t>(i)] = true;
  else if (!block->second.written[static_cast<size_t>(i)])
    throw std::runtime_error(std::string(what) + ": reads element " + std::to_string(i) + ", which nobody has written");
  return store_[where];
}

float VirtualDevice::read(const float* at, const char* what) { return number(at, what, false); }
void VirtualDevice::write(float* at, float value, const char* what) { number(at, what, true) = value; }

float* VirtualDevice::hold(const std::vector<float>& values) {
  float* const out = take_space(static_cast<long>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) write(out + i, values[i], "hold");
  return out;
}

std::vector<float> VirtualDevice::take(const float* from, long count) {
  finish();
  std::vector<float> out;
  for (long i = 0; i < count; ++i) out.push_back(read(from + i, "result"));
  return out;
}

void VirtualDevice::upload(float* to, const float* from, long count) {
  events += 'u';
  uploaded += count;
  const std::vector<float> values(from, from + count);
  queue([=, this] {
    for (long i = 0; i < count; ++i) write(to + i, values[static_cast<size_t>(i)], "upload");
  });
}

void VirtualDevice::download(float* to, const float* from, long count) {
  events += 'w';
  ++waits;
  finish();
  for (long i = 0; i < count; ++i) to[i] = read(from + i, "download");
}

// --- The queue
void VirtualDevice::queue(std::function<void()> work) {
  work_.push_back(std::move(work));
  if (kind_ == Kind::cpu) finish();
}

void VirtualDevice::finish() {
  const std::vector<std::function<void()>> work = std::move(work_);
  work_.clear();
  for (const auto& each : work) each();
}

void VirtualDevice::kernel(std::function<void()> work) {
  events += 'k';
  ++launches;
  queue(std::move(work));
}

// --- Kernels
void VirtualDevice::zero(float* out, long n) {
  kernel([=, this] {
    for (float* to = out; to < out + n; ++to) write(to, 0, "zero: out");
  });
}

void VirtualDevice::map(course::Op1 op, float* out, const float* x, long n) {
  kernel([=, this] {
    for (long left = n; left-- > 0;) write(out + left, course::apply(op, read(x + left, "map: x")), "map: out");
  });
}

void VirtualDevice::zip(course::Op2 op, float* out, Layout out_at, const float* x, Layout x_at, const float* y, Layout y_at) {
  kernel([=, this] {
    for (long left = out_at.count(); left-- > 0;) {
      const float first = read(x + place(x_at, left), "zip: x"), second = read(y + place(y_at, left), "zip: y");
      write(out + place(out_at, left), course::apply(op, first, second), "zip: out");
    }
  });
}

void VirtualDevice::copy(float* out, Mat x, long m, long n) {
  ++copies;
  kernel([=, this] {
    for (long i = 0; i < m * n; ++i) write(out + i, read(at(x, i / n, i % n), "copy: x"), "copy: out");
  });
}

void VirtualDevice::matmul(float* out, Mat a, Mat b, long m, long n, long k) {
  products += m * n * k;
  kernel([=, this] {
    std::vector<float> result(static_cast<size_t>(m * n));
    for (long p = 0; p < k; ++p)
      for (long each = 0; each < m * n; ++each)
        result[static_cast<size_t>(each)] += read(at(a, each / n, p), "matmul: a") * read(at(b, p, each % n), "matmul: b");
    for (long each = 0; each < m * n; ++each) write(out + each, result[static_cast<size_t>(each)], "matmul: out");
  });
}

void VirtualDevice::sum_rows(float* out, Mat x, long m, long n) {
  kernel([=, this] {
    std::vector<float> sums(static_cast<size_t>(n));
    for (long each = 0; each < m * n; ++each) sums[static_cast<size_t>(each % n)] += read(at(x, each / n, each % n), "sum_rows: x");
    for (long j = 0; j < n; ++j) write(out + j, sums[static_cast<size_t>(j)], "sum_rows: out");
  });
}

void VirtualDevice::mse(float* loss, float* gradient, const float* y, const float* target, long n) {
  kernel([=, this] {
    double total = 0;
    for (long i = 0; i < n; ++i) {
      const double off = static_cast<double>(read(y + i, "mse: y")) - static_cast<double>(read(target + i, "mse: target"));
      total += off * off;
      if (gradient) write(gradient + i, static_cast<float>((off + off) / static_cast<double>(n)), "mse: gradient");
    }
    write(loss, static_cast<float>(total / static_cast<double>(n)), "mse: loss");
  });
}

void VirtualDevice::sgd(const course::Params&, const course::Sgd&, bool) {
  throw std::runtime_error("sgd: the parameters are the model's, and so is their step");
}
