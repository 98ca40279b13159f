// Taking changes back, and keeping memory before it is written.
#include "gradus/tensor/batching/undo.h"

#include <optional>

#include "gradus/tensor/batching/storage.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::batching {

bool Undo::run() {
  const Scope outside(nullptr);
  bool any = false;
  for (; !restores_.empty(); restores_.pop_back()) any |= restores_.back()();
  met_.clear();
  return any;
}

void before_writing(const Tensor& x) {
  if (scopes.load(std::memory_order_relaxed) == 0 || x.is_meta()) [[likely]]
    return;
  BatchedStorage* const own = batched(x);
  const StoragePtr memory = own ? own->base() : x.impl().storage;
  if (!memory) return;  // nobody has written it yet
  const int depth = own && !own->borrowed() ? own->depth() : 0;
  before_change(memory.get(), depth, [&]() -> Undo::Restore {
    const Scope outside(nullptr);
    const Tensor bytes = raw::over_storage(memory, {static_cast<int64_t>(memory->nbytes())}, kByte);
    return [whole = std::weak_ptr(x.impl().storage), part = std::weak_ptr(memory),
            axes = own ? own->axes() : Axes(), moves = depth > 0, before = raw::clone(bytes),
            version = memory->version()] {
      const StoragePtr storage = whole.lock(), to = part.lock();
      if (to) {
        raw::copy_(raw::over_storage(to, before.sizes(), kByte), before);
        to->set_version(version);
      }
      // Samples that differ since have memory of their own.
      if (storage && moves)
        static_cast<BatchedStorage&>(*storage).give(to ? to : before.impl().storage, axes);
      return storage != nullptr || to != nullptr;
    };
  });
}

}  // namespace gradus::batching
