// The arrivals that a storage expects, and waiting for them.
#include "gradus/tensor/storage.h"

#include <mutex>

#include "gradus/tensor/arrival.h"
#include "gradus/tensor/base/error.h"

namespace gradus {

namespace {
// One lock for all storages: few expect anything, and seldom.
std::mutex arrivals;
}  // namespace

void StorageImpl::expect(std::shared_ptr<Arrival> arrival) {
  const std::lock_guard lock(arrivals);
  arrival_ = std::move(arrival);
  arriving_.store(true, std::memory_order_release);
}

std::shared_ptr<Arrival> StorageImpl::arrival() const {
  if (!is_arriving()) return nullptr;
  const std::lock_guard lock(arrivals);
  return arrival_;
}

void StorageImpl::await() const {
  const std::shared_ptr<Arrival> expected = arrival();
  if (!expected || !expected->await()) return;
  const std::lock_guard lock(arrivals);
  if (arrival_ == expected) arriving_.store(false, std::memory_order_release);
}

StorageImpl& Storage::impl() const {
  check<Error>(impl_ != nullptr, "Storage: it is empty; take that of a tensor");
  return *impl_;
}

}  // namespace gradus
