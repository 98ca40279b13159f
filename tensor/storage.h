// A block of memory on one device, shared by the tensors that view it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "gradus/tensor/device.h"

namespace gradus {

// Each backend derives a class whose destructor gives the memory back.
class Storage {
 public:
  Storage(void* data, size_t nbytes, Device device)
      : data_(data), nbytes_(nbytes), device_(device) {}
  virtual ~Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const {
    if (arriving_.load(std::memory_order_acquire)) [[unlikely]]
      arrive();
    return data_;
  }
  size_t nbytes() const { return nbytes_; }
  Device device() const { return device_; }

  // Counts changes in place; autograd compares it to catch a saved tensor that was changed.
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

 protected:
  // Whether the memory is still on its way: data() then calls arrive() first, which sees to it that
  // the work of whoever asks comes after.
  void set_arriving(bool arriving) const { arriving_.store(arriving, std::memory_order_release); }

 private:
  virtual void arrive() const {}

  void* data_;
  size_t nbytes_;
  Device device_;
  std::atomic<uint32_t> version_{0};
  mutable std::atomic<bool> arriving_{false};
};

using StoragePtr = std::shared_ptr<Storage>;

}  // namespace gradus
