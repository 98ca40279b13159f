// A block of memory on one device, shared by the tensors that view it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gradus/tensor/device.h"

namespace gradus {

// What is still on its way to some memory.
class Arrival {
 public:
  virtual ~Arrival() = default;
  // Sees to it that the work of whoever asks, here and on the current stream of the memory's
  // device, comes after. Returns whether all of it is there, so that nobody has to ask again.
  virtual bool await() = 0;
  // What comes in parts: of each row of so many bytes the first bytes first. A part has the byte of
  // a row that it ends before; when it is there, so are those before it.
  struct Part {
    size_t end;
    std::shared_ptr<Arrival> arrival;
  };
  struct Parts {
    size_t row_bytes;
    std::vector<Part> all;
  };
  // Null where it comes as a whole.
  virtual const Parts* parts() const { return nullptr; }
};

// What comes in parts.
class PartsArrival final : public Arrival {
 public:
  // REQUIRES: not empty; the memory is whole rows, and the last part ends with the row.
  explicit PartsArrival(Parts parts) : parts_(std::move(parts)) {}
  bool await() override { return parts_.all.back().arrival->await(); }
  const Parts* parts() const override { return &parts_; }

 private:
  Parts parts_;
};

// Each backend derives a class whose destructor gives the memory back.
class Storage {
 public:
  Storage(void* data, size_t nbytes, Device device)
      : data_(data), nbytes_(nbytes), device_(device) {}
  virtual ~Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  // Errors: those of what is on its way here.
  void* data() const {
    if (is_arriving()) [[unlikely]]
      await();
    return data_;
  }
  // The same at once, for whoever awaits what is on its way by himself.
  void* address() const { return data_; }
  size_t nbytes() const { return nbytes_; }
  Device device() const { return device_; }

  // Counts changes in place; autograd compares it to catch a saved tensor that was changed.
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

  // From here on data() awaits it first, so that nobody waits before he uses the memory.
  void expect(std::shared_ptr<Arrival> arrival);
  bool is_arriving() const { return arriving_.load(std::memory_order_acquire); }
  // What is on its way; null: nothing.
  std::shared_ptr<Arrival> arrival() const;

 protected:
  // REQUIRES: nobody uses the storage during the call.
  void relocate(void* data) { data_ = data; }

 private:
  void await() const;

  void* data_;
  size_t nbytes_;
  Device device_;
  std::atomic<uint32_t> version_{0};
  std::shared_ptr<Arrival> arrival_;  // guarded by a mutex of all storages
  mutable std::atomic<bool> arriving_{false};
};

using StoragePtr = std::shared_ptr<Storage>;

}  // namespace gradus
