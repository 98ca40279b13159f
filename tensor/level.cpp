// The scopes of levels, and random numbers within them.
#include "gradus/tensor/level.h"

#include <utility>

namespace gradus::batching {

namespace {
thread_local Level* innermost_level = nullptr;
}  // namespace

Level* innermost() { return innermost_level; }
Level* innermost_batch() {
  Level* level = innermost_level;
  while (level && level->loops) level = level->outer;
  return level;
}

Scope::Scope(Level* level) : before_(std::exchange(innermost_level, level)) {
  scopes.fetch_add(1, std::memory_order_relaxed);
}
Scope::~Scope() {
  scopes.fetch_sub(1, std::memory_order_relaxed);
  innermost_level = before_;
}

int64_t drawn(int64_t elements) {
  for (const Level* level = innermost(); level; level = level->outer) {
    if (level->randomness == Randomness::error)
      fail<Error>(
          "vmap: called random operation while in randomness error mode; pass randomness "
          "\"different\", for numbers of each sample's own, or \"same\"");
    if (level->randomness == Randomness::different) {
      if (!level->loops) elements *= level->size;
    } else if (level->loops) {
      fail<Error>(
          "vmap: a function that is called once for each sample cannot draw the same numbers for "
          "all; pass them as an argument, with in_dims None");
    }
  }
  return elements;
}

void refuse_different(const char* op) {
  for (const Level* level = here(); level; level = level->outer)
    if (level->randomness == Randomness::different && !level->loops)
      fail<NotBatched>("vmap: ", op, " draws numbers on the host");
}

}  // namespace gradus::batching
