// Compares an access with those that touched the same word before (shadow.h).
//
// Accesses that are atomic do not race with each other; nor do volatile ones, which is how threads
// wait for a flag: a volatile read never does, a volatile write after a fence. In shared memory a
// volatile write without a fence is a plain one, as in reductions that rely on lanes in step.
#pragma once

#include <algorithm>

#include "gradus/cuda/sim/check/seen.h"

namespace gradus::cuda::sim {

class Races {
 public:
  static constexpr char kStrong[] = "changes, atomically or as volatile";

  // `shared`: whose words they are; null for global memory.
  Races(Worker& worker, const Seen& seen, const SharedMemory* shared)
      : worker_(worker),
        thread_(*worker.current),
        seen_(seen),
        shared_(shared),
        strong_(seen.access == Access::atomic ||
                (seen.is_volatile &&
                 (seen.access == Access::read || !shared || thread_.fence.thread_through != 0))) {}

  void check(Cell* cells) const {
    const uintptr_t end = seen_.address + seen_.size;
    for (uintptr_t word = seen_.address / 4 * 4; word < end; word += 4, ++cells) {
      const uintptr_t from = std::max(word, seen_.address), to = std::min(word + 4, end);
      const unsigned bytes = ((1u << (to - from)) - 1) << (from - word);
      check_word(*cells, Record(thread_.interval, thread_.linear, thread_.epoch, 0, bytes), from);
    }
  }

  // That the read which the thread that runs was in doubt about is a race.
  static void report_doubt(Worker& worker);

 private:
  static Record load(const std::atomic<uint64_t>& slot) {
    return Record(slot.load(std::memory_order_relaxed));
  }
  static bool same_warp(Record a, Record b) { return a.thread() / kWarp == b.thread() / kWarp; }

  // Whether no barrier orders `before` and `now`.
  bool concurrent(Record before, Record now) const {
    const Intervals& intervals = *worker_.launch->intervals;
    if (before.bits() == 0 || !intervals.is_current(before.interval())) return false;
    if (before.interval() != now.interval()) {
      // Shared memory is new to each block.
      if (!shared_ && intervals.block_of(before.interval()) != worker_.block_number()) return true;
      if (before.interval() < worker_.interval) return false;
    }
    if (before.thread() == now.thread()) return false;
    return !same_warp(before, now) || !worker_.has_synced(thread_, before);
  }
  bool races(Record before, Record now) const {
    return (before.bytes() & now.bytes()) && concurrent(before, now) && !worker_.knows(before);
  }
  void meet(const std::atomic<uint64_t>& slot, const char* verb, Record now,
            uintptr_t address) const {
    const Record before = load(slot);
    if (races(before, now)) [[unlikely]]
      report(before, verb, address);
  }
  void remember(std::atomic<uint64_t>& slot, Record now) const {
    const Record before = load(slot);
    const Record after = now.at(place_of(seen_.pc));
    slot.store((before.same_moment(now) ? after.with_bytes_of(before) : after).bits(),
               std::memory_order_relaxed);
  }

  // The first read since whatever ordered those before, and one of another warp if there is one:
  // whoever writes next finds one that is not its own.
  void remember_read(Cell& cell, Record now) const {
    const Record first = load(cell.read);
    if (!concurrent(first, now)) return remember(cell.read, now);
    const Record other = load(cell.other_read);
    if (!concurrent(other, now) || (same_warp(first, other) && !same_warp(first, now)))
      remember(cell.other_read, now);
  }

  void check_word(Cell& cell, Record now, uintptr_t address) const {
    if (seen_.access == Access::read) {
      // Whoever wrote since then has met that read.
      if (const Record before = load(cell.read); before.same_moment(now) && before.covers(now))
        return;
      meet(cell.write, "writes", now, address);
      if (strong_) return;
      if (const Record before = load(cell.atomic); races(before, now)) [[unlikely]]
        doubt(before);
      remember_read(cell, now);
      return;
    }
    meet(cell.write, "writes", now, address);
    if (!strong_) meet(cell.atomic, kStrong, now, address);
    if (seen_.access == Access::atomic) forget_own_read(cell, now);
    for (const std::atomic<uint64_t>* slot : {&cell.read, &cell.other_read})
      if (seen_.access == Access::write || is_of_this_block(load(*slot)))
        meet(*slot, "reads", now, address);
    remember(strong_ ? cell.atomic : cell.write, now);
  }

  bool is_of_this_block(Record before) const {
    const Intervals& intervals = *worker_.launch->intervals;
    return before.bits() != 0 && intervals.is_current(before.interval()) &&
           intervals.block_of(before.interval()) == worker_.block_number();
  }
  // What a loop of atomicCAS has read before is no race with the atomic operations of others. (One
  // of another block may come between the two: those are not compared with plain reads.)
  void forget_own_read(Cell& cell, Record now) const {
    if (thread_.doubt.before != 0 && thread_.doubt.address == seen_.address) thread_.doubt = {};
    for (std::atomic<uint64_t>* slot : {&cell.read, &cell.other_read})
      if (load(*slot).same_moment(now)) slot->store(0, std::memory_order_relaxed);
  }

  [[gnu::cold]] void doubt(Record before) const;
  [[gnu::cold]] void report(Record before, const char* verb, uintptr_t address) const;
  [[gnu::cold]] void report(Sighting::Side side, Record before, const char* verb,
                            uintptr_t address) const;

  Worker& worker_;
  Thread& thread_;
  const Seen& seen_;
  const SharedMemory* shared_;
  bool strong_;
};

}  // namespace gradus::cuda::sim
