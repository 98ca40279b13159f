// The backend of tensors on meta.
#include "gradus/tensor/meta.h"

#include <utility>

namespace gradus {

namespace {
thread_local MetaBackend* current = nullptr;  // null: the one that does nothing
}  // namespace

MetaBackend& meta_backend() {
  static MetaBackend none;
  return current ? *current : none;
}
MetaGuard::MetaGuard(MetaBackend& backend) : previous_(std::exchange(current, &backend)) {}
MetaGuard::~MetaGuard() { current = previous_; }

StoragePtr MetaBackend::allocate(size_t nbytes, Device device) {
  return std::make_shared<StorageImpl>(nullptr, nbytes, device);
}

Device MetaBackend::resolve(Device device) { return device; }
bool MetaBackend::takes_lstm_steps(Device, ScalarType, int64_t) { return false; }

void MetaBackend::transfer(const Tensor& src, const Tensor& dst, bool) {
  check<Error>(dst.is_meta(), "copy: the tensor of shape ", src.sizes(),
               " is on meta and has no data that could be read, or copied to ", dst.device(),
               "; make it on a device with data");
}

}  // namespace gradus
