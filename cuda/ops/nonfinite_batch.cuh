// Operations whose search for NaN and infinities waits, so that one launch looks at all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gradus/cuda/kernels/guard/nonfinite.cuh"
#include "gradus/cuda/runtime/stream.h"
#include "gradus/tensor/storage.h"

namespace gradus::cuda {

// The rows of a storage.
struct RowsOfStorage {
  int last = -1, last_end = -1;  // the heads of two lists
  int count = 0;
};

// The rows by storage: a hash table that is emptied without a look at it.
class RowsByStorage {
 public:
  // Null where there are none.
  RowsOfStorage* find(const StorageImpl* storage) {
    if (entries_.empty()) return nullptr;
    Entry& entry = entries_[place_of(storage)];
    return entry.round == round_ ? &entry.rows : nullptr;
  }
  // The reference holds until the next call.
  RowsOfStorage& operator[](const StorageImpl* storage) {
    if (2 * (count_ + 1) > entries_.size()) grow();
    Entry& entry = entries_[place_of(storage)];
    if (entry.round != round_) entry = {storage, {}, round_}, ++count_;
    return entry.rows;
  }
  void clear() { ++round_, count_ = 0; }

 private:
  struct Entry {
    const StorageImpl* storage = nullptr;
    RowsOfStorage rows;
    uint64_t round = 0;  // another one: the entry is free
  };
  // The place of the storage, or of the free entry where it would stand.
  size_t place_of(const StorageImpl* storage) const {
    const size_t mask = entries_.size() - 1;  // a power of two, less one
    size_t at = reinterpret_cast<uintptr_t>(storage) * 0x9e3779b97f4a7c15ull >> 32 & mask;
    while (entries_[at].round == round_ && entries_[at].storage != storage) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    RowsByStorage larger;
    larger.entries_.resize(std::max<size_t>(256, 2 * entries_.size()));
    for (const Entry& entry : entries_)
      if (entry.round == round_) larger[entry.storage] = entry.rows;
    *this = std::move(larger);
  }

  std::vector<Entry> entries_;
  size_t count_ = 0;
  uint64_t round_ = 1;
};

// Operations of one stream whose search waits, and whose tensors stay in memory.
struct Batch {
  struct Row {
    StridedWords words;
    StoragePtr storage;
    int before = -1, end_before = -1;  // of the same storage
    bool ends = false;                 // a result that is read: nothing passes it on
    bool changed = false;              // overwritten since
  };
  std::vector<WaitingOperation> operations;
  std::vector<Row> rows;
  RowsByStorage by_storage;
  std::optional<Stream> stream;
  unsigned long long capture = 0;
  NonfiniteScratch* scratch = nullptr;
  size_t bytes = 0;  // of results
  bool noted = false, updates = false;

  // The last of the rows is complete. Returns whether it is the first one of its storage.
  bool link(StoragePtr storage, bool ends) {
    const auto number = static_cast<int>(rows.size()) - 1;
    Row& row = rows.back();
    RowsOfStorage& all = by_storage[storage.get()];
    row.storage = std::move(storage);
    row.before = std::exchange(all.last, number);
    row.ends = ends;
    if (ends) row.end_before = std::exchange(all.last_end, number);
    return ++all.count == 1;
  }
  // An operation passes on what stands in these words.
  template <class Contains>
  void pass(const StorageImpl* storage, const Contains& contains) {
    RowsOfStorage* const all = by_storage.find(storage);
    for (int* at = all ? &all->last_end : nullptr; at && *at >= 0;) {
      Row& row = rows[static_cast<size_t>(*at)];
      row.ends = !contains(row.words);
      if (row.ends)
        at = &row.end_before;
      else
        *at = row.end_before;
    }
  }
  // The lists keep their memory.
  void clear() {
    operations.clear(), rows.clear(), by_storage.clear();
    stream.reset();
    bytes = 0;
    noted = updates = false;
  }
};

}  // namespace gradus::cuda
