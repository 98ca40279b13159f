// Storages whose memory comes from blocks.h.
#include "gradus/cpu/backend.h"
#include "gradus/cpu/blocks.h"
#include "gradus/tensor/base/recycled.h"

namespace gradus::cpu {

namespace {

class CpuStorage final : public StorageImpl {
 public:
  explicit CpuStorage(size_t nbytes) : StorageImpl(take_block(nbytes), nbytes, Device(kCPU)) {}
  ~CpuStorage() override { give_block(data(), nbytes()); }
};

// A few elements, which need no block of their own.
class SmallStorage final : public StorageImpl {
 public:
  static constexpr size_t kBytes = 64;
  explicit SmallStorage(size_t nbytes) : StorageImpl(bytes_, nbytes, Device(kCPU)) {}

 private:
  alignas(16) std::byte bytes_[kBytes];
};

}  // namespace

StoragePtr CpuBackend::allocate(size_t nbytes, Device) {
  if (nbytes <= SmallStorage::kBytes) return make_recycled<SmallStorage>(nbytes);
  return make_recycled<CpuStorage>(nbytes);
}

}  // namespace gradus::cpu
