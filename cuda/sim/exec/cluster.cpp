// Runs the blocks of a cluster in turns.
#include "gradus/cuda/sim/exec/cluster.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "gradus/cuda/sim/check/mistake.h"
#include "gradus/cuda/sim/exec/async.h"
#include "gradus/cuda/sim/exec/dynamic_shared.h"
#include "gradus/cuda/sim/exec/place.h"

namespace gradus::cuda::sim {

unsigned cluster_size_of(const void* kernel) {
  // __cluster_dims__ makes the compiler put so many instructions that do nothing before the
  // function's first one (sim/hopper.h).
  const auto* at = static_cast<const unsigned char*>(kernel);
  unsigned out = 0;
#if defined(__x86_64__)
  constexpr unsigned char kBranchTarget[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (std::memcmp(at, kBranchTarget, sizeof kBranchTarget) == 0) at += sizeof kBranchTarget;
  while (at[out] == 0x90) ++out;
#else
  constexpr uint32_t kNothing = 0xd503201f, kBranchTarget = 0xd503245f;
  const auto word = [&] {
    uint32_t bits;
    return std::memcpy(&bits, at, sizeof bits), bits;
  };
  if (word() == kBranchTarget) at += 4;
  for (; word() == kNothing; at += 4) ++out;
#endif
  return std::max(out, 1u);
}

Cluster::Cluster(std::vector<Worker*> blocks)
    : blocks_(std::move(blocks)), ended_(blocks_.size()), images_(blocks_.size()) {
  const auto dynamic = reinterpret_cast<uintptr_t>(gradus_sim_dynamic_shared);
  const Launch& launch = *blocks_[0]->launch;
  if (launch.shared_bytes > 0) parts_.push_back({dynamic, dynamic + launch.shared_bytes});
  for (const auto& [begin, size] : static_shared_arrays(""))
    parts_.push_back({begin, begin + size});
  size_t bytes = 0;
  for (const Range part : parts_) bytes += part.end - part.begin;
  for (auto& each : images_) {
    each.resize(bytes);
    std::byte* to = each.data();
    for (const Range part : parts_) {
      std::memcpy(to, reinterpret_cast<const void*>(part.begin), part.end - part.begin);
      to += part.end - part.begin;
    }
  }
  for (Worker* each : blocks_) each->cluster = this;
}

void Cluster::turn_to(unsigned rank) {
  if (rank == current_) return;
  std::byte* from = images_[current_].data();
  const std::byte* to = images_[rank].data();
  for (const Range part : parts_) {
    void* const there = reinterpret_cast<void*>(part.begin);
    const size_t bytes = part.end - part.begin;
    std::memcpy(from, there, bytes);
    std::memcpy(there, to, bytes);
    from += bytes, to += bytes;
  }
  current_ = rank;
  gradus_sim_block_index = blocks_[rank]->block;
}

uintptr_t Cluster::at(uintptr_t address, unsigned rank) const {
  if (rank == current_) return address;
  uintptr_t image = reinterpret_cast<uintptr_t>(images_[rank].data());
  for (const Range part : parts_) {
    if (part.covers(address, 1)) return image + (address - part.begin);
    image += part.end - part.begin;
  }
  return 0;
}

Cluster::Found Cluster::find(uintptr_t address) const {
  for (unsigned rank = 0; rank < size(); ++rank) {
    const auto image = reinterpret_cast<uintptr_t>(images_[rank].data());
    if (address < image || address - image >= images_[rank].size()) continue;
    uintptr_t offset = address - image;
    for (const Range part : parts_) {
      if (offset < part.end - part.begin) return {static_cast<int>(rank), part.begin + offset};
      offset -= part.end - part.begin;
    }
  }
  return {};
}

void Cluster::run() {
  using Progress = Worker::Progress;
  for (Worker* each : blocks_) each->watch_turns_of(*blocks_[0]);
  for (;;) {
    bool any = false;
    for (unsigned rank = 0; rank < size(); ++rank) {
      if (ended_[rank]) continue;
      turn_to(rank);
      Worker& block = *blocks_[rank];
      Progress last = block.proceed();
      for (; last == Progress::ran; last = block.proceed()) any = true;
      any |= last != Progress::waits;
      ended_[rank] = last == Progress::over;
    }
    if (std::ranges::all_of(ended_, [](bool each) { return each; })) return turn_to(0);
    if (any || release()) continue;
    for (unsigned rank = 0; rank < size(); ++rank) {
      if (ended_[rank]) continue;
      turn_to(rank);
      blocks_[rank]->report_waits();
      ended_[rank] = true;
    }
    return turn_to(0);
  }
}

void Cluster::arrive(Thread& thread) { thread.cluster_phase = phases_ + 1; }
void Cluster::wait(Thread& thread, uintptr_t pc) {
  if (thread.cluster_phase <= phases_) return;
  thread.pc = pc;
  blocks_[current_]->park(State::at_cluster);
}

bool Cluster::release() {
  const auto for_threads = [&](const auto& f) {
    for (Worker* block : blocks_)
      for (unsigned i = 0; i < block->launch->threads(); ++i) f(*block, block->thread(i));
  };
  bool all = true, any = false;
  for_threads([&](Worker&, const Thread& thread) {
    if (thread.state == State::done || thread.state == State::stopped) return;
    any = true;
    all &= thread.cluster_phase == phases_ + 1;
  });
  if (!all || !any) return false;
  ++phases_;
  since_ = blocks_[0]->take_interval();
  for (Worker* block : blocks_) block->begin_interval();
  for_threads([](Worker& block, Thread& thread) {
    if (thread.state != State::at_cluster) return;
    thread.interval = block.interval;
    block.wake(thread);
  });
  blocks_[0]->launch->progress.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void refuse_ended(unsigned rank, const char* what, uintptr_t pc) {
  if (!here->cluster || !here->cluster->has_ended(rank)) return;
  stop_here(Kind::use_after_free, what, pc, [&] {
    return "block " + std::to_string(rank) +
           " of the cluster has ended, and its shared memory may be another's; let all blocks meet "
           "(barrier.cluster) before one ends";
  });
}

// --- Calls of kernels
namespace {
// The cluster of the running thread. A launch without clusters has blocks that are one each.
Cluster* cluster_here() { return here->cluster; }
}  // namespace

unsigned rank_in_cluster() { return here->cluster ? cluster_here()->rank() : 0; }
void arrive_at_cluster() {
  const Unwatched guard;
  if (Cluster* const all = cluster_here()) all->arrive(*here->current);
}
void wait_for_cluster() {
  const uintptr_t pc = GRADUS_SIM_CALLER;
  const Unwatched guard;
  if (Cluster* const all = cluster_here()) return all->wait(*here->current, pc);
}
void* shared_of_block(const void* at, unsigned rank) {
  const uintptr_t pc = GRADUS_SIM_CALLER;
  const Unwatched guard;
  const auto address = reinterpret_cast<uintptr_t>(at);
  Cluster* const all = cluster_here();
  const unsigned size = all ? all->size() : 1;
  if (rank >= size || !here->shared_at(address))
    stop_here(Kind::out_of_bounds, "uses it", pc, [&] {
      return rank >= size ? "there is no block " + std::to_string(rank) + " in a cluster of " +
                                std::to_string(size)
                          : std::string("the address is none of this block's shared memory");
    });
  return reinterpret_cast<void*>(all ? all->at(address, rank) : address);
}

}  // namespace gradus::cuda::sim
