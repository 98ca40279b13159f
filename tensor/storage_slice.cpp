// How a slice moves out of its block.
#include "gradus/tensor/storage_slice.h"

#include "gradus/tensor/raw/raw.h"

namespace gradus {

void StorageSlice::move_out() {
  const auto size = static_cast<int64_t>(nbytes());
  const Tensor own = raw::empty({size}, kByte, device());
  const int64_t begin = static_cast<char*>(data()) - static_cast<char*>(block_->data());
  const auto here = std::make_shared<StorageSlice>(block_, begin, nbytes());
  raw::copy_(own, raw::over_storage(here, {size}, kByte));
  block_ = own.impl().storage;
  relocate(block_->data());
}

}  // namespace gradus
