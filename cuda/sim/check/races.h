// Compares an access with earlier accesses to the same word (shadow.h).
//
// Atomic accesses do not race with each other. Neither do volatile ones, by which threads wait for
// a flag, and which this file calls strong as well. Every volatile read is strong. A volatile write
// to shared memory is strong only after a fence; without one it counts as a plain write, since it
// belongs to a reduction that relies on lanes in step.
#pragma once

#include <algorithm>

#include "gradus/cuda/sim/check/seen.h"

namespace gradus::cuda::sim {

// The compiler inlines what every access of a kernel calls.
class Races {
 public:
  static constexpr char kStrong[] = "changes, atomically or as volatile";

  // `shared`: the shared memory that the access is to; null for global memory.
  // `as`: who accesses it, where that is no thread (async.h).
  [[gnu::always_inline]] Races(Worker& worker, const Seen& seen, const SharedMemory* shared,
                               Record as = Record())
      : worker_(worker),
        thread_(*worker.current),
        seen_(seen),
        shared_(shared),
        as_(as.bits() ? as : Record(thread_.interval, thread_.linear, thread_.epoch, 0, 0)),
        strong_(seen.access == Access::atomic ||
                (seen.is_volatile &&
                 (seen.access == Access::read || !shared || thread_.fence.thread_through != 0))) {}

  [[gnu::always_inline]] void check(Cell* cells) const {
    const uintptr_t end = seen_.address + seen_.size;
    for (uintptr_t word = seen_.address / 4 * 4; word < end; word += 4, ++cells) {
      const uintptr_t from = std::max(word, seen_.address), to = std::min(word + 4, end);
      const unsigned bytes = ((1u << (to - from)) - 1) << (from - word);
      check_word(*cells, as_.with_bytes_of(Record(bytes)), from);
    }
  }

  // Reports as a race the read that the running thread has a Doubt about.
  static void report_doubt(Worker& worker);

 private:
  static Record load(const std::atomic<uint64_t>& slot) {
    return Record(slot.load(std::memory_order_relaxed));
  }
  static bool same_warp(Record a, Record b) { return a.thread() / kWarp == b.thread() / kWarp; }

  // Whether nothing that this file knows of orders `before` and `now`: no barrier and no
  // __syncwarp.
  [[gnu::always_inline]] bool concurrent(Record before, Record now) const {
    const Intervals& intervals = *worker_.launch->intervals;
    if (before.bits() == 0 || !intervals.is_current(before.interval())) return false;
    if (before.interval() != now.interval()) {
      // Shared memory is new to each block.
      if (!shared_ && intervals.block_of(before.interval()) != worker_.block_number()) return true;
      if (before.interval() < worker_.interval && !worker_.is_of_engine(before)) return false;
    }
    if (before.thread() == now.thread()) return false;
    return !same_warp(before, now) || !worker_.has_synced(thread_, before);
  }
  [[gnu::always_inline]] bool races(Record before, Record now) const {
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

  // Keeps the first read that nothing orders before `now`, and, if there is one, a read by another
  // warp. So the next writer finds a read that is not its own.
  void remember_read(Cell& cell, Record now) const {
    const Record first = load(cell.read);
    if (!concurrent(first, now)) return remember(cell.read, now);
    const Record other = load(cell.other_read);
    if (!concurrent(other, now) || (same_warp(first, other) && !same_warp(first, now)))
      remember(cell.other_read, now);
  }

  [[gnu::always_inline]] void check_word(Cell& cell, Record now, uintptr_t address) const {
    if (seen_.access == Access::read) {
      // A later write would have been compared with that read.
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
  // A plain read before a loop of atomicCAS does not race with the atomic operations of other
  // threads. (An atomic operation of another block may come between the two. Such operations are
  // not compared with plain reads.)
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
  Record as_;
  bool strong_;
};

}  // namespace gradus::cuda::sim
