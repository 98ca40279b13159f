// A source of memory for BlockPool that needs no device, keeps a log, and fails where told to.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "gradus/cuda/runtime/block_pool.h"
#include "gradus/tensor/base/error.h"

namespace gradus::cuda {

class FakeMemory final : public DeviceMemory {
 public:
  size_t capacity = SIZE_MAX;
  bool marks_fail = false;
  bool allocate_throws = false;
  bool wait_throws = false;
  std::vector<std::string> log;        // marks and waits
  std::map<void*, size_t> live;        // what was allocated and not released
  int allocations = 0, discarded = 0;  // successful ones
  std::map<void*, uint64_t> captured;  // streams by handle, and their captures

  size_t used() const {
    size_t sum = 0;
    for (const auto& [data, nbytes] : live) sum += nbytes;
    return sum;
  }

  void* allocate(size_t nbytes) override {
    check<Error>(!allocate_throws, "the device is lost");
    if (nbytes > capacity - std::min(capacity, used())) return nullptr;
    void* data = reinterpret_cast<void*>(static_cast<uintptr_t>(0x1000 * ++allocations));
    live[data] = nbytes;
    return data;
  }
  void release(void* data) override {
    check<Error>(live.erase(data) == 1, "released twice, or never allocated");
  }
  void* mark(const Stream& stream) noexcept override {
    if (marks_fail) return nullptr;
    log.push_back("mark " + name(stream));
    return reinterpret_cast<void*>(static_cast<uintptr_t>(++marks_));
  }
  void wait(const Stream& stream, void* mark) override {
    check<Error>(!wait_throws, "the device is lost");
    log.push_back(name(stream) + " waits for mark " +
                  std::to_string(reinterpret_cast<uintptr_t>(mark)));
  }
  void discard(void*) noexcept override { ++discarded; }
  uint64_t capture_of(const Stream& stream) noexcept override {
    const auto found = captured.find(stream.handle());
    return found == captured.end() ? 0 : found->second;
  }

  // The stream called "s1", "s2", ...; s0 is the default stream.
  static Stream stream(int number) {
    return {0, reinterpret_cast<void*>(static_cast<uintptr_t>(number))};
  }

 private:
  static std::string name(const Stream& stream) {
    return "s" + std::to_string(reinterpret_cast<uintptr_t>(stream.handle()));
  }

  int marks_ = 0;
};

}  // namespace gradus::cuda
