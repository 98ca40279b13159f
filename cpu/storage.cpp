#include <cstdlib>

#include "gradus/cpu/backend.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace gradus::cpu {

namespace {

// Blocks of kAlignFrom bytes on start at a cache line, which vector loads like; those from the
// kHugeFrom on at a huge page, since the faults of ordinary pages take longer than an addition
// does.
constexpr size_t kCacheLine = 64, kAlignFrom = 1024;
constexpr size_t kHugePage = size_t{2} << 20, kHugeFrom = size_t{16} << 20;

void* allocate_aligned(size_t nbytes) {
  const size_t unit = nbytes < kHugeFrom ? kCacheLine : kHugePage;
  const size_t rounded = (nbytes + unit - 1) / unit * unit;
  void* const block = std::aligned_alloc(unit, rounded);
#ifdef __linux__
  // Advice: where the system refuses it, the block is as good, only slower at first.
  if (block && unit == kHugePage) madvise(block, rounded, MADV_HUGEPAGE);
#endif
  return block;
}

void* allocate_block(size_t nbytes) {
  void* block = nullptr;
  if (nbytes < kAlignFrom) {
    block = std::malloc(nbytes ? nbytes : 1);
  } else if (nbytes <= PTRDIFF_MAX - kHugePage) {
    block = allocate_aligned(nbytes);
  }
  check<OutOfMemoryError>(block != nullptr, "allocate: the system has no ", nbytes,
                          " bytes for a tensor on cpu; free some, or use smaller tensors");
  return block;
}

class CpuStorage final : public Storage {
 public:
  explicit CpuStorage(size_t nbytes) : Storage(allocate_block(nbytes), nbytes, Device(kCPU)) {}
  ~CpuStorage() override { std::free(data()); }
};

// A few elements, which need no block of their own.
class SmallStorage final : public Storage {
 public:
  static constexpr size_t kBytes = 64;
  explicit SmallStorage(size_t nbytes) : Storage(bytes_, nbytes, Device(kCPU)) {}

 private:
  alignas(16) std::byte bytes_[kBytes];
};

}  // namespace

StoragePtr CpuBackend::allocate(size_t nbytes, Device) {
  if (nbytes <= SmallStorage::kBytes) return std::make_shared<SmallStorage>(nbytes);
  return std::make_shared<CpuStorage>(nbytes);
}

}  // namespace gradus::cpu
