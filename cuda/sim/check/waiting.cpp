// Handles threads that wait for others without a barrier: by fences, atomic operations and volatile
// reads.

#include <algorithm>
#include <cstdlib>

#include "gradus/cuda/sim/exec/async.h"
#include "gradus/cuda/sim/exec/worker.h"
#include "gradus/cuda/sim/runtime/variables.h"

namespace gradus::cuda::sim {

namespace {
// A thread that has read memory that others change so many times probably waits for one of them.
constexpr unsigned kLooks = 256;
}  // namespace

std::chrono::duration<double> patience() {
  static const double seconds = [] {
    const char* const text = std::getenv("GRADUS_SIM_PATIENCE");
    return text ? std::atof(text) : 20;
  }();
  return std::chrono::duration<double>(seconds);
}

MeetingPoint Worker::point_of(uintptr_t address) const {
  if (const uintptr_t global = global_place(address); in_arena(global)) return global;
  constexpr uint64_t kShared = uint64_t{1} << 63, kLow = (uint64_t{1} << 31) - 1;
  return kShared | uint64_t{block_number_} << 31 | (address & kLow);
}

void Worker::fence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!launch->checked) return;
  const Unwatched guard;
  current->fence = {interval, current->interval};
  fenced_[current->linear] = current->interval;
  current->interval = launch->intervals->take(block_number_);
}

void Worker::publish(uintptr_t address) {
  if (!launch->checked || current->fence.thread_through == 0) return;
  const Unwatched guard;
  // Adds what the lanes of its warp did before a __syncwarp.
  auto others = released_;
  const unsigned begin = current->linear / kWarp * kWarp;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    uint32_t& through = others[begin + lane];
    through = std::max(through, static_cast<uint32_t>(synced_[current->linear][lane] >> 8));
  }
  launch->order.publish(point_of(address), block_number_, current->linear, current->fence, others,
                        met_.of_block());
}

void Worker::meet(uintptr_t address, bool is_volatile, uintptr_t pc) {
  const Unwatched guard;
  // A value that a volatile read will read may be published later.
  if (launch->checked && (is_volatile || !launch->order.is_empty()))
    met_.add(point_of(address), current->linear);
  if (++current->looks % kLooks != 0) return;
  current->pc = pc;
  ++gave_way_;
  wait(State::gave_way);
}

bool Worker::knows(Record access) const {
  if (launch->order.is_empty() && !async_) return false;
  const Unwatched guard;
  const uint32_t by = launch->intervals->block_of(access.interval());
  const bool of_block = by == block_number_ || access.thread() >= launch->threads();
  if (async_ && of_block && async_->knows(current->linear, access)) return true;
  return launch->order.reaches(
      by == block_number_ ? met_.of_thread(current->linear) : met_.of_block(), access, by);
}

// REQUIRES: every thread has started, and none can run.
bool Worker::release_those_that_gave_way() {
  if (gave_way_ == 0) return false;
  const auto end = threads_.begin() + launch->threads();
  const auto gives_way = [](const Thread& each) { return each.state == State::gave_way; };
  const auto now = std::chrono::steady_clock::now();
  const uint64_t progress = launch->progress.load(std::memory_order_relaxed) + ended_ + stopped_;
  if (progress != last_progress_) {
    last_progress_ = progress;
    last_progress_at_ = now;
  }
  // Blocks that wait for a block that was given up get less time.
  const bool gave_up = launch->gave_up.load(std::memory_order_relaxed);
  if (now - last_progress_at_ > (gave_up ? patience() / 100 : patience())) {
    if (!gave_up) report_vain_wait(*std::find_if(threads_.begin(), end, gives_way));
    launch->gave_up = true;
    abandoned_ = true;
    return true;
  }
  for (auto each = threads_.begin(); each != end; ++each) {
    if (!gives_way(*each)) continue;
    each->state = State::ready;
    ready_.push_back(&*each);
  }
  gave_way_ = 0;
  return true;
}

void Worker::report_vain_wait(const Thread& thread) {
  launch->sightings.add(Kind::stuck, thread.pc, 0, [&] {
    Sighting out{
        Kind::stuck,
        "the thread looks at memory again and again, and nothing else happens; it can wait "
        "for its own block, and for blocks that begin before it",
        {}};
    out.sides.push_back(side("waits", thread, {thread.pc}));
    return out;
  });
}

}  // namespace gradus::cuda::sim
