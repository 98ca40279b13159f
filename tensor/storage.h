// A block of memory on one device, shared by the tensors that view it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "gradus/tensor/base/device.h"

namespace gradus {

class Arrival;

// Each backend derives a class whose destructor gives the memory back.
class StorageImpl {
 public:
  StorageImpl(void* data, size_t nbytes, Device device)
      : data_(data), nbytes_(nbytes), device_(device) {}
  virtual ~StorageImpl() = default;
  StorageImpl(const StorageImpl&) = delete;
  StorageImpl& operator=(const StorageImpl&) = delete;

  // The first byte. Waits for data that is still arriving. Errors: those of its arrival.
  void* data() const {
    if (is_arriving()) [[unlikely]]
      await();
    return data_;
  }
  // The first byte, without waiting: the caller waits for arriving data himself.
  void* address() const { return data_; }
  size_t nbytes() const { return nbytes_; }
  Device device() const { return device_; }
  // Whether resize_() may replace the memory by a larger one. Memory of from_blob() may not be.
  virtual bool resizable() const { return true; }

  // Counts changes in place; autograd compares it to catch a saved tensor that was changed.
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }
  // The version of before, where changes are taken back.
  void set_version(uint32_t version) { version_.store(version, std::memory_order_relaxed); }

  // --- Data that another device or rank still writes (arrival.h)
  // Lets data() wait for this arrival from now on, so that only users of the memory wait.
  void expect(std::shared_ptr<Arrival> arrival);
  bool is_arriving() const { return arriving_.load(std::memory_order_acquire); }
  // Null where no data is arriving.
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

using StoragePtr = std::shared_ptr<StorageImpl>;

// Where memory begins, and on which device.
class DataPtr {
 public:
  DataPtr(void* data, Device device) : data_(data), device_(device) {}
  explicit operator bool() const { return data_ != nullptr; }
  void* get() const { return data_; }
  Device device() const { return device_; }

 private:
  void* data_;
  Device device_;
};

// The memory of a tensor, as x.storage() hands it out: copies share it.
class Storage {
 public:
  Storage() = default;
  explicit Storage(StoragePtr impl) : impl_(std::move(impl)) {}

  explicit operator bool() const { return impl_ != nullptr; }
  // The first byte. Errors: Error where it is empty, as of what follows.
  void* data() const { return impl().data(); }
  void* mutable_data() const { return data(); }
  DataPtr data_ptr() const { return {data(), device()}; }
  template <class T>
  T* data() const {
    return static_cast<T*>(data());
  }
  size_t nbytes() const { return impl().nbytes(); }
  Device device() const { return impl().device(); }
  DeviceType device_type() const { return device().type(); }
  bool resizable() const { return impl().resizable(); }
  bool is_alias_of(const Storage& other) const { return impl_ == other.impl_; }
  StorageImpl* unsafeGetStorageImpl() const { return impl_.get(); }
  const StoragePtr& impl_ptr() const { return impl_; }

 private:
  StorageImpl& impl() const;
  StoragePtr impl_;
};

}  // namespace gradus
