// Begins, ends and checks the copies of cp.async.
#include "gradus/cuda/sim/check/copies.h"

#include <sim/async_copy.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "gradus/cuda/sim/check/mistake.h"
#include "gradus/cuda/sim/check/seen.h"
#include "gradus/cuda/sim/exec/worker.h"
#include "gradus/cuda/sim/runtime/variables.h"

namespace gradus::cuda::sim {

namespace {

void copy_unit(const Copy& copy) {
  auto* const to = reinterpret_cast<unsigned char*>(copy.to);
  std::memcpy(to, reinterpret_cast<const void*>(copy.from), copy.bytes);
  std::memset(to + copy.bytes, 0, copy.width - copy.bytes);
}

// Stops the thread where the hardware has no such copy.
void check_copy(uintptr_t to, uintptr_t from, unsigned width, unsigned bytes, uintptr_t pc) {
  const auto stop = [&](Kind kind, const char* message) {
    stop_for_mistake(kind, "copies", pc, [&] { return std::string(message); });
  };
  if ((width != 4 && width != 8 && width != 16) || bytes > width)
    stop(Kind::launch, "an asynchronous copy has 4, 8 or 16 bytes, and no more of them are copied");
  if (!here->shared_at(to))
    stop(Kind::foreign_memory,
         "an asynchronous copy goes to shared memory, and the target lies elsewhere");
  if (bytes > 0 && (here->shared_at(from) || here->current->fiber->owns(from)))
    stop(Kind::foreign_memory,
         "an asynchronous copy comes from global memory, and the source lies elsewhere");
  if (bytes > 0) check_access(Access::read, from, bytes, pc - 1);  // still within the call
  check_access(Access::write, to, width, pc);
  if ((to | (bytes > 0 ? from : 0)) % width != 0)
    stop(Kind::misaligned,
         "an asynchronous copy needs a source and a target that are aligned to its bytes; copy "
         "fewer at a time");
}

}  // namespace

void begin_copy(void* to, const void* from, unsigned width, unsigned bytes) {
  const uintptr_t pc = GRADUS_SIM_CALLER;
  Copy copy{};
  copy.to = reinterpret_cast<uintptr_t>(to), copy.from = reinterpret_cast<uintptr_t>(from);
  copy.pc = pc, copy.width = width, copy.bytes = bytes;
  if (watching) check_copy(copy.to, copy.from, width, bytes, pc);
  if (!is_checked_here()) return copy_unit(copy);
  const Unwatched guard;
  copy.source = bytes > 0 ? global_place(copy.from) : 0;
  copy.thread = here->current->linear;
  here->copies.begin(*here->shared_at(copy.to), copy);
}

void end_copy_group() {
  const Unwatched guard;
  here->copies.end_group(*here->current);
}

void wait_for_copies(unsigned pending) {
  const Unwatched guard;
  here->copies.wait(*here, *here->current, pending);
}

Copies::Queue& Copies::queue_of(unsigned thread) {
  if (thread >= by_thread_.size()) by_thread_.resize(kMostThreads);
  return by_thread_[thread];
}

void Copies::begin(SharedMemory& shared, Copy copy) {
  Queue& queue = queue_of(copy.thread);
  copy.group = queue.groups;
  queue.copies.push_back(copy);
  ++under_way_;
  if (copy.bytes > 0) ++sources_at(copy.source);
  std::fill_n(shared.copy_at(copy.to), copy.width / 4, &queue.copies.back());
}

void Copies::end_group(const Thread& thread) {
  if (any()) ++queue_of(thread.linear).groups;
}

void Copies::forget(SharedMemory& shared, const Copy& copy) {
  --under_way_;
  if (copy.bytes > 0) --sources_at(copy.source);
  Copy** const words = shared.copy_at(copy.to);
  for (unsigned i = 0; i < copy.width / 4u; ++i)
    if (words[i] == &copy) words[i] = nullptr;
}

void Copies::begin_box(SharedMemory& shared, Copy& copy) {
  ++under_way_;
  std::fill_n(shared.copy_at(copy.to), copy.width / 4, &copy);
}
void Copies::end_box(SharedMemory& shared, const Copy& copy) { forget(shared, copy); }

void Copies::begin_read(uintptr_t chunk, Reader by) {
  ++under_way_;
  Reading& it = reading_[chunk];
  it = {by, it.count + 1};
}
void Copies::end_read(uintptr_t chunk) {
  --under_way_;
  const auto it = reading_.find(chunk);
  if (--it->second.count == 0) reading_.erase(it);
}
const Reader* Copies::reader_of(uintptr_t chunk) const {
  const auto found = reading_.find(chunk);
  return found == reading_.end() ? nullptr : &found->second.last;
}
void Copies::begin_registers(Registers sums) {
  ++under_way_;
  registers_[sums.thread].push_back(sums);
}
void Copies::end_registers(unsigned thread, uintptr_t begin) {
  --under_way_;
  auto& mine = registers_[thread];
  mine.erase(std::ranges::find(mine, begin, &Registers::begin));
}
void Copies::forget_reads() {
  for (const auto& [chunk, it] : reading_) under_way_ -= it.count;
  for (const auto& [thread, sums] : registers_) under_way_ -= sums.size();
  reading_.clear(), registers_.clear();
}

bool Copies::meets_registers(Worker& worker, const Seen& seen) {
  const auto mine = registers_.find(worker.current->linear);
  if (mine == registers_.end()) return false;
  const Unwatched guard;
  for (const Registers& sums : mine->second) {
    if (seen.address + seen.size <= sums.begin || seen.address >= sums.begin + sums.bytes) continue;
    worker.launch->sightings.add(Kind::under_way, seen.pc, sums.pc, [&] {
      Sighting out{Kind::under_way,
                   "a product (wgmma) that writes these registers is under way; end its group "
                   "(wgmma.commit_group) and wait for it (wgmma.wait_group) before the access",
                   {}};
      out.sides.push_back(side_of(worker, seen));
      out.sides.push_back(worker.side("began to multiply", *worker.current, {sums.pc}));
      return out;
    });
    return true;
  }
  return false;
}

void Copies::wait(Worker& worker, const Thread& thread, unsigned pending) {
  if (!any()) return;
  Queue& queue = queue_of(thread.linear);
  while (!queue.copies.empty() && queue.copies.front().group + pending < queue.groups) {
    const Copy& copy = queue.copies.front();
    copy_unit(copy);
    SharedMemory& shared = *worker.shared_at(copy.to);
    const Record now(thread.interval, thread.linear, thread.epoch, place_of(copy.pc), 15);
    Cell* const cells = shared.cell_at(copy.to);
    for (unsigned i = 0; i < copy.width / 4u; ++i)
      cells[i].write.store(now.bits(), std::memory_order_relaxed);
    forget(shared, copy);
    queue.copies.pop_front();
  }
}

Copy* Copies::copy_from(uintptr_t address, size_t size) {
  const uintptr_t end = address + size;
  bool any = false;
  for (uintptr_t place = address / 16 * 16; place < end; place += 16) any |= sources_at(place) > 0;
  if (!any) return nullptr;
  for (Queue& queue : by_thread_)
    for (Copy& copy : queue.copies)
      if (copy.bytes > 0 && copy.source < end && copy.source + copy.bytes > address) return &copy;
  return nullptr;
}

bool Copies::meets(Worker& worker, const Seen& seen, SharedMemory* shared) {
  const Unwatched guard;
  if (!shared) {
    Copy* const copy = seen.access == Access::read ? nullptr : copy_from(seen.address, seen.size);
    if (copy) report(worker, seen, *copy, true);
    return copy;
  }
  Copy* const* words = shared->copy_at(seen.address);
  for (uintptr_t word = seen.address / 4 * 4; word < seen.address + seen.size; word += 4, ++words)
    if (*words) {
      report(worker, seen, **words, false);
      return true;
    }
  if (seen.access == Access::read || reading_.empty()) return false;
  for (uintptr_t chunk = seen.address / 16 * 16; chunk < seen.address + seen.size; chunk += 16)
    if (const auto it = reading_.find(chunk); it != reading_.end()) {
      report(worker, seen, it->second.last);
      return true;
    }
  return false;
}

void Copies::report(Worker& worker, const Seen& seen, Copy& copy, bool at_source) {
  if (worker.has_stopped_threads()) return;  // one of these might have waited
  copy.told = true;
  worker.launch->sightings.add(Kind::under_way, seen.pc, copy.pc, [&] {
    const bool own = copy.thread == worker.current->linear;
    const bool ended = copy.group < queue_of(copy.thread).groups;
    Sighting out{
        Kind::under_way,
        copy.box ? "a copy of a box (TMA) to this memory is under way; wait for the phase "
                   "of its mbarrier before the access"
                 : std::string(at_source ? "a copy from this memory (cp.async) is under way; "
                                         : "a copy to this memory (cp.async) is under way; ") +
                       (!ended ? "it belongs to no group yet, for which a wait could wait: end the "
                                 "group (cp.async.commit_group)"
                        : own  ? "wait for its group (cp.async.wait_group) before the access"
                               : "the thread that began it has to wait for its group "
                                 "(cp.async.wait_group), and then a barrier must follow"),
        {}};
    out.sides.push_back(side_of(worker, seen));
    out.sides.push_back(worker.side(at_source ? "began to copy from here" : "began to copy to here",
                                    worker.thread(copy.thread), {copy.pc}));
    return out;
  });
}

void Copies::report(Worker& worker, const Seen& seen, const Reader& by) {
  if (worker.has_stopped_threads()) return;
  worker.launch->sightings.add(Kind::under_way, seen.pc, by.pc, [&] {
    Sighting out{Kind::under_way,
                 by.product
                     ? "a product (wgmma) that reads this memory is under way; wait for its "
                       "group (wgmma.wait_group) before the write"
                     : "a store (TMA) that reads this memory is under way; wait for its group "
                       "(cp.async.bulk.wait_group.read) before the write",
                 {}};
    out.sides.push_back(side_of(worker, seen));
    out.sides.push_back(worker.side(by.product ? "began to multiply" : "began to store",
                                    worker.thread(by.thread), {by.pc}));
    return out;
  });
}

void Copies::end_thread(Worker& worker, const Thread& thread) {
  const Unwatched guard;
  const Queue& queue = queue_of(thread.linear);
  for (const Copy& copy : queue.copies) {
    if (copy.group < queue.groups || copy.told) continue;
    worker.launch->sightings.add(Kind::under_way, copy.pc, 0, [&] {
      Sighting out{Kind::under_way,
                   "the thread has ended, and this copy (cp.async) belongs to no group, for which "
                   "a wait could wait; end the group (cp.async.commit_group)",
                   {}};
      out.sides.push_back(worker.side("began to copy", thread, {copy.pc}));
      return out;
    });
  }
}

void Copies::clear(Worker& worker) {
  for (Queue& queue : by_thread_) {
    for (const Copy& copy : queue.copies) forget(*worker.shared_at(copy.to), copy);
    queue.copies.clear();
    queue.groups = 0;
  }
}

}  // namespace gradus::cuda::sim
