// Keeps how things outside of a level were before a call changed them, so that the call can be made
// another way when it fails.
#pragma once

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "gradus/tensor/level.h"

namespace gradus::batching {

class Undo {
 public:
  // Takes a change back, and says whether what was changed is still there.
  using Restore = std::function<bool()>;

  // Whether `what`, the address of something, is met for the first time.
  bool is_first(const void* what) { return met_.insert(what).second; }
  void add(Restore restore) { restores_.push_back(std::move(restore)); }
  // Takes all changes back, the last one first. Whether any of them was of something that is still
  // there: none is where the call had made it itself.
  bool run();

 private:
  std::set<const void*> met_;
  std::vector<Restore> restores_;
};

// `what` is about to change; it belongs to level `depth`, 0: to none. Where a call around it may
// be undone, keep() returns what takes the change back.
template <class F>
void before_change(const void* what, int depth, F keep) {
  if (scopes.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  for (Level* level = innermost(); level; level = level->outer)
    if (level->undo && depth < level->depth && level->undo->is_first(what))
      level->undo->add(keep());
}

// The same for the elements of x, all that its memory holds.
void before_writing(const Tensor& x);

}  // namespace gradus::batching
