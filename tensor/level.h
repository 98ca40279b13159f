// The levels of vmap that this thread is in: what a batched function runs under.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "gradus/tensor/base/error.h"

namespace gradus {
class StorageImpl;
class Tensor;
}  // namespace gradus

namespace gradus::batching {

// How the samples of a batch draw random numbers: not at all, each its own, or all the same.
enum class Randomness : uint8_t { error, different, same };

class Undo;

// One vmap: its samples, and the levels around it.
struct Level {
  int64_t size = 1;
  Randomness randomness = Randomness::error;
  bool loops = false;  // its function is called once for each sample: no tensor is batched
  Level* outer = nullptr;
  int depth = 1;         // how many levels batch, down to this one
  Undo* undo = nullptr;  // takes back what its function changed outside, should the call fail
};

// The scopes of all threads. The check costs one relaxed load outside of vmap.
inline std::atomic<int> scopes = 0;

// The innermost level of this thread; null outside of vmap.
Level* innermost();
// The same among levels that batch.
Level* innermost_batch();
inline Level* here() {
  if (scopes.load(std::memory_order_relaxed) == 0) [[likely]]
    return nullptr;
  return innermost_batch();
}

// Makes a level the innermost one while it lives; null: as outside of vmap.
class Scope {
 public:
  explicit Scope(Level* level);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Level* before_;
};

// A function reads the elements of a batched tensor, or makes a shape of them: it can be called for
// one sample at a time alone.
class NotBatched : public Error {
 public:
  using Error::Error;
};

// How many of its elements a draw of random numbers takes in all levels. Errors: Error where a
// level forbids draws, or cannot repeat them.
int64_t drawn(int64_t elements);
// Errors: NotBatched where samples draw different numbers: op draws on the host.
void refuse_different(const char* op);

// batching/storage.cpp defines what follows.

// The storage of a view of x that is made in the innermost level: one of that level, so that it is
// known there as the level's own. REQUIRES: here().
std::shared_ptr<StorageImpl> inner_storage(const Tensor& x);

// x itself outside of vmap. Else all samples of x in one plain tensor, without a graph: levels are
// dimensions in front. Checks that look at elements of all samples take it.
Tensor over_all(const Tensor& x);

// f(x), where f computes on the host and takes any dimensions in front: outside of vmap, of all
// samples.
Tensor for_all(const Tensor& x, const std::function<Tensor(const Tensor&)>& f);

}  // namespace gradus::batching
