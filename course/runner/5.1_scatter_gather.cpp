// Runs task 5.1 on devices of the host that count what is copied.
#include <sys/mman.h>

#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "core/parallel.h"
#include "runner/runner.h"

namespace {

class CountedDevices final : public course::Devices {
 public:
  // dry: memory is addresses alone, so that there can be very much of it, and nothing is copied.
  CountedDevices(int count, bool dry) : count_(count), dry_(dry) {}
  int count() const override { return count_; }

  float* allocate(int device, long n) override {
    if (device < 0 || device >= count_ || n < 0) throw std::runtime_error("allocate: no such device, or a negative size");
    if (dry_) {
      const size_t bytes = (static_cast<size_t>(n) + 1) * sizeof(float);
      void* const at = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (at == MAP_FAILED) throw std::runtime_error("allocate: no memory");
      blocks_[static_cast<float*>(at)] = {device, n, nullptr};
      return static_cast<float*>(at);
    }
    auto memory = std::make_unique<float[]>(static_cast<size_t>(n + 1));
    float* const out = memory.get();
    blocks_[out] = {device, n, std::move(memory)};
    return out;
  }

  void copy(int to, float* to_data, int from, const float* from_data, long n) override {
    check("to", to, to_data, n);
    check("from", from, from_data, n);
    for (long i = 0; i < n && !dry_; ++i) to_data[i] = from_data[i];
    places.insert(places.end(), {place_of(to_data), place_of(from_data), n});
    ++copies;
    if (n == 0) ++empty;
    (to == from ? within : between) += 4 * n;
  }

  long size_of(const float* data, int device) const {
    const auto at = blocks_.find(data);
    return at != blocks_.end() && at->second.device == device ? at->second.size : -1;
  }

  long copies = 0, empty = 0, between = 0, within = 0;  // copies, and bytes
  std::vector<long> places;  // of each copy: where it begins in the memory that it writes and reads, and how long it is

 private:
  struct Block {
    int device;
    long size;
    std::unique_ptr<float[]> memory;
  };

  void check(const char* which, int device, const float* data, long n) const {
    auto block = blocks_.upper_bound(data);
    if (block != blocks_.begin() && n >= 0) {
      --block;
      const long start = data - block->first;
      if (start <= block->second.size && start + n <= block->second.size) {
        if (block->second.device == device) return;
        throw std::runtime_error(std::string("copy: the memory that it copies ") + which + " is device " +
                                 std::to_string(block->second.device) + "'s, not device " + std::to_string(device) + "'s");
      }
    }
    throw std::runtime_error(std::string("copy: ") + std::to_string(n) + " numbers reach outside of the memory that it copies " + which);
  }

  long place_of(const float* data) const { return data - std::prev(blocks_.upper_bound(data))->first; }

  int count_;
  bool dry_;
  std::map<const float*, Block, std::less<>> blocks_;
};

float* hold(CountedDevices& devices, int device, const std::vector<float>& values) {
  float* const out = devices.allocate(device, static_cast<long>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) out[i] = values[i];
  return out;
}

}  // namespace

void run(const Message& in, Message& out) {
  const bool dry = in.has("dry");
  CountedDevices devices(static_cast<int>(in.number("devices")), dry);
  const int home = static_cast<int>(in.number("home"));
  const long rows = in.number("rows"), width = in.number("width");
  const std::vector<float> x = in.floats("x");
  if (in.text("call") == "scatter") {
    const std::vector<float*> parts = course::scatter(devices, home, dry ? devices.allocate(home, rows * width) : hold(devices, home, x), rows, width);
    std::vector<long> sizes;
    std::vector<float> all;
    for (size_t i = 0; i < parts.size(); ++i) {
      const long size = devices.size_of(parts[i], static_cast<int>(i));
      if (size < 0) throw std::runtime_error("part " + std::to_string(i) + " is not the beginning of memory of device " + std::to_string(i));
      sizes.push_back(size);
      if (!dry) all.insert(all.end(), parts[i], parts[i] + size);
    }
    out.longs("sizes", sizes);
    out.floats("x", all);
  } else {
    std::vector<float*> parts;
    size_t start = 0;
    for (const long size : in.longs("sizes")) {
      if (dry) {
        parts.push_back(devices.allocate(static_cast<int>(parts.size()), size));
        continue;
      }
      const auto from = x.begin() + static_cast<long>(start);
      parts.push_back(hold(devices, static_cast<int>(parts.size()), std::vector<float>(from, from + size)));
      start += static_cast<size_t>(size);
    }
    float* const whole = dry ? devices.allocate(home, rows * width) : hold(devices, home, std::vector<float>(x.size(), -1.0f));
    course::gather(devices, home, whole, parts, rows, width);
    if (!dry) out.floats("x", std::vector<float>(whole, whole + x.size()));
  }
  out.number("copies", devices.copies);
  out.number("empty", devices.empty);
  out.number("between", devices.between);
  out.number("within", devices.within);
  out.longs("places", devices.places);
}
