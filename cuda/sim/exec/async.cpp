// Barriers that count bytes, meetings of some threads, and the order that they make.
#include "gradus/cuda/sim/exec/async.h"

#include <algorithm>
#include <string>

#include "gradus/cuda/sim/check/access.h"
#include "gradus/cuda/sim/check/mistake.h"
#include "gradus/cuda/sim/exec/cluster.h"
#include "gradus/cuda/sim/exec/worker.h"

namespace gradus::cuda::sim {

namespace {
void join(Clock& to, const Clock& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}
}  // namespace

Async::Async(Worker& worker)
    : worker_(worker),
      known_(worker.launch->threads(), Clock(kMostThreads)),
      published_(worker.launch->threads()) {}

// --- Order
void Async::release(Clock& into) {
  Thread& thread = *worker_.current;
  Clock& own = known_[thread.linear];
  own[thread.linear] = thread.interval;
  join(into, own);
  thread.interval = worker_.take_interval();
}
void Async::acquire(unsigned thread, const Clock& from) { join(known_[thread], from); }
void Async::learn(unsigned thread, unsigned engine, uint32_t interval) {
  uint32_t& at = known_[thread][engine];
  at = std::max(at, interval);
}

void Async::fence_proxy() {
  Thread& thread = *worker_.current;
  published_[thread.linear] = {thread.interval, worker_.interval, known_[thread.linear]};
  thread.interval = worker_.take_interval();
}

void Async::sync_lanes(unsigned begin, unsigned present) {
  Clock all(kMostThreads);
  const auto for_lanes = [&](const auto& f) {
    for (unsigned lane = 0; lane < kWarp; ++lane)
      if (present >> lane & 1) f(begin + lane);
  };
  for_lanes([&](unsigned lane) {
    known_[lane][lane] = worker_.thread(lane).interval;
    join(all, known_[lane]);
  });
  for_lanes([&](unsigned lane) {
    known_[lane] = all;
    worker_.thread(lane).interval = worker_.take_interval();
  });
}

void Async::sync_block() {
  for (unsigned engine = kMostThreads - 1; engine > next_engine_; --engine) {
    uint32_t last = 0;
    for (const Clock& each : known_) last = std::max(last, each[engine]);
    for (Clock& each : known_) each[engine] = last;
  }
}

bool Async::is_published(Record write) const {
  const auto covers = [&](const Published& by) {
    return write.interval() < by.block ||
           (!by.known.empty() && by.known[write.thread()] >= write.interval());
  };
  if (published_[write.thread()].own >= write.interval()) return true;
  return covers(published_[worker_.current->linear]);
}

unsigned Async::new_engine() {
  return next_engine_ > worker_.launch->threads() ? next_engine_-- : next_engine_;
}
uint32_t Async::new_interval(unsigned issuer) {
  const uint32_t out = worker_.take_interval();
  issuers_[out] = issuer;
  return out;
}
unsigned Async::issuer_of(uint32_t interval) const {
  const auto found = issuers_.find(interval);
  return found == issuers_.end() ? 0 : found->second;
}

// --- Barriers that count bytes
Mbarrier& Async::at(uintptr_t barrier, uintptr_t pc) {
  const auto found = barriers_.find(barrier);
  if (found != barriers_.end()) return found->second;
  stop_here(Kind::barrier, "uses it", pc, [] {
    return std::string(
        "this mbarrier was never initialised; let one thread do so, and a barrier follow");
  });
}

void Async::init(uintptr_t barrier, unsigned arrivals, uintptr_t pc) {
  Mbarrier& it = barriers_[barrier];
  const unsigned engine = it.engine > 0 ? it.engine : new_engine();
  forget_boxes(it);
  it = {};
  it.arrivals = it.pending = arrivals;
  it.engine = engine;
  it.made_by = worker_.current->linear;
  it.pc = pc;
}

void Async::arrive(uintptr_t barrier, int64_t bytes, uintptr_t pc) {
  Mbarrier& it = at(barrier, pc);
  if (it.pending == 0) {
    report_here(Kind::barrier, "arrives", pc, [&] {
      return "a phase of this mbarrier has had its " + std::to_string(it.arrivals) +
             " arrivals, and still waits for " + std::to_string(it.bytes) +
             " bytes; initialise it with as many arrivals as come";
    });
    return;
  }
  it.bytes += bytes;
  it.expected += bytes;
  release(it.arriving);
  --it.pending;
  end_phase_if_done(it, barrier);
}

void Async::arrive_from_outside(uintptr_t barrier, uintptr_t pc) {
  Mbarrier& it = at(barrier, pc);
  if (it.pending == 0) {
    report_here(Kind::barrier, "arrives", pc, [&] {
      return "a phase of this mbarrier of another block has had its " +
             std::to_string(it.arrivals) + " arrivals; initialise it with as many as come";
    });
    return;
  }
  publish_outside(it);
  --it.pending;
  end_phase_if_done(it, barrier);
}

Record Async::access_from_outside(unsigned thread, uintptr_t pc, unsigned bytes) {
  if (outside_ == 0) outside_ = new_engine();
  const uint32_t interval = here->take_interval();
  issuers_[interval] = thread;
  return Record(interval, outside_, 0, place_of(pc), bytes);
}
// A thread that waits for the barrier knows what other blocks have done.
void Async::publish_outside(Mbarrier& it) {
  if (outside_ == 0) return;
  if (it.arriving.size() < kMostThreads) it.arriving.resize(kMostThreads);
  it.arriving[outside_] = here->take_interval();
}

void Async::count_bytes(uintptr_t barrier, int64_t bytes, uintptr_t pc) {
  Mbarrier& it = at(barrier, pc);
  publish_outside(it);
  it.bytes -= bytes;
  it.brought += bytes;
  end_phase_if_done(it, barrier);
}

void Async::end_phase_if_done(Mbarrier& it, uintptr_t address) {
  if (it.pending > 0 || it.bytes != 0) return;
  ++it.phases;
  join(it.ended, it.arriving);
  it.pending = it.arrivals;
  it.expected = it.brought = 0;
  worker_.launch->progress.fetch_add(1, std::memory_order_relaxed);
  for (unsigned i = 0; i < worker_.launch->threads(); ++i) {
    Thread& thread = worker_.thread(i);
    if (thread.state != State::at_phase || thread.waits_for != address ||
        (it.phases & 1) == thread.argument)
      continue;
    acquire(i, it.ended);
    worker_.wake(thread);
  }
}

void Async::wait(uintptr_t barrier, unsigned parity, uintptr_t pc) {
  Mbarrier& it = at(barrier, pc);
  Thread& thread = *worker_.current;
  if ((it.phases & 1) != (parity & 1)) return acquire(thread.linear, it.ended);
  thread.pc = pc;
  thread.waits_for = barrier;
  thread.argument = parity & 1;
  worker_.park(State::at_phase);
}

bool Async::bring_boxes() {
  bool any = false;
  for (unsigned i = 0; i < worker_.launch->threads(); ++i) {
    const Thread& thread = worker_.thread(i);
    if (thread.state != State::at_phase) continue;
    Mbarrier& it = barriers_.at(thread.waits_for);
    const uint64_t phase = it.phases;
    while (it.phases == phase && it.pending == 0 && !it.boxes.empty()) {
      bring(it);
      end_phase_if_done(it, thread.waits_for);
    }
    any |= it.phases != phase;
  }
  return any;
}

// --- Meetings
void Async::meet(unsigned number, unsigned threads, bool orders, uintptr_t pc) {
  Meeting& it = meetings_[number];
  Thread& own = *worker_.current;
  if (orders) release(it.clock);
  own.pc = pc;
  own.waits_for = number;
  own.argument = threads;
  if (++it.came < threads) return worker_.park(State::at_meeting);
  for (unsigned i = 0; i < worker_.launch->threads(); ++i) {
    Thread& thread = worker_.thread(i);
    const bool waits = thread.state == State::at_meeting && thread.waits_for == number;
    if (!waits && i != own.linear) continue;
    if (orders) acquire(i, it.clock);
    if (waits) worker_.wake(thread);
  }
  it = {};
  worker_.launch->progress.fetch_add(1, std::memory_order_relaxed);
}

// --- Threads that wait in vain
bool Async::report_stuck() {
  bool any = false;
  if (worker_.has_stopped_threads()) return true;
  for (unsigned i = 0; i < worker_.launch->threads(); ++i) {
    const Thread& thread = worker_.thread(i);
    if (thread.state != State::at_phase && thread.state != State::at_meeting) continue;
    any = true;
    worker_.launch->sightings.add(Kind::stuck, thread.pc, 0, [&] {
      Sighting out{Kind::stuck, "", {}};
      out.sides.push_back(worker_.side("waits", thread, {thread.pc}));
      if (thread.state == State::at_meeting) {
        out.message = "a barrier of " + std::to_string(thread.argument) +
                      " threads waits in vain: " +
                      std::to_string(meetings_[static_cast<unsigned>(thread.waits_for)].came) +
                      " came; let all of them reach it, and give its right number";
        return out;
      }
      const Mbarrier& it = barriers_.at(thread.waits_for);
      out.message =
          "the phase of parity " + std::to_string(thread.argument) +
          " of an mbarrier never ends: " + std::to_string(it.arrivals - it.pending) + " of " +
          std::to_string(it.arrivals) + " arrivals came, " + std::to_string(it.expected) +
          " bytes are expected and " + std::to_string(it.brought) + " came" +
          (it.boxes.empty()
               ? ""
               : ", and " + std::to_string(it.boxes.size()) + " copies more are on their way");
      out.sides.push_back(worker_.side("initialised it", worker_.thread(it.made_by), {it.pc}));
      return out;
    });
  }
  return any;
}

void Async::forget_boxes(Mbarrier& it) {
  for (Box& box : it.boxes) worker_.copies.end_box(*worker_.shared_at(box.copy.to), box.copy);
  it.boxes.clear();
}

// --- Registers (setmaxnreg)
void Async::ask_for_registers(unsigned count, bool more, uintptr_t pc) {
  Thread& thread = *worker_.current;
  if (count % 8 != 0 || count < 24 || count > 256) {
    report_here(Kind::launch, "asks for registers", pc, [&] {
      return std::to_string(count) +
             " registers for a thread; setmaxnreg takes multiples of 8 "
             "from 24 to 256";
    });
    return;
  }
  auto& calls = asked_[thread.linear / 128];
  const unsigned had = thread.registers ? thread.registers * 8u : registers_at_start();
  if (more ? count < had : count > had)
    report_here(Kind::launch, "asks for registers", pc, [&] {
      return std::string(more ? "setmaxnreg.inc" : "setmaxnreg.dec") + " to " +
             std::to_string(count) + " registers, where a thread has " + std::to_string(had) +
             " if the compiler gives as many as the block can have; use the other form";
    });
  thread.registers = static_cast<uint8_t>(count / 8);
  for (Registers& each : calls)
    if (each.pc == pc && each.count == count) {
      ++each.came;
      return;
    }
  calls.push_back({pc, thread.linear, count, 1});
}

unsigned Async::registers_at_start() const {
  constexpr unsigned kFile = 65536;
  return std::min(255u, kFile / worker_.launch->threads() / 8 * 8);
}

// All threads have ended: whether every warpgroup got what it asked for.
void Async::end_block() {
  if (asked_.empty() || worker_.has_stopped_threads()) return;
  const unsigned groups = (worker_.launch->threads() + 127) / 128;
  unsigned total = 0;
  const Registers* last = nullptr;
  for (unsigned group = 0; group < groups; ++group) {
    const auto found = asked_.find(group);
    total += found == asked_.end() ? registers_at_start() : found->second.back().count;
    if (found == asked_.end()) continue;
    for (const Registers& each : found->second) {
      if (!last || each.count > last->count) last = &each;
      if (each.came % 128 == 0) continue;
      worker_.launch->sightings.add(Kind::warp, each.pc, 0, [&] {
        Sighting out{
            Kind::warp,
            "only " + std::to_string(each.came % 128) +
                " of the 128 threads of a warpgroup call setmaxnreg; let all of them do so",
            {}};
        out.sides.push_back(
            worker_.side("asks for registers", worker_.thread(each.thread), {each.pc}));
        return out;
      });
    }
  }
  if (total <= registers_at_start() * groups) return;
  worker_.launch->sightings.add(Kind::stuck, last->pc, 0, [&] {
    Sighting out{Kind::stuck,
                 "setmaxnreg waits in vain: the warpgroups ask for " + std::to_string(total * 128) +
                     " registers, and the block has " +
                     std::to_string(registers_at_start() * groups * 128) +
                     "; let other warpgroups give more (setmaxnreg.dec)",
                 {}};
    out.sides.push_back(
        worker_.side("asks for registers", worker_.thread(last->thread), {last->pc}));
    return out;
  });
}

void Async::clear() {
  for (auto& [address, it] : barriers_) forget_boxes(it);
  worker_.copies.forget_reads();
}

}  // namespace gradus::cuda::sim

// --- Calls of kernels
namespace gradus::cuda::sim {

namespace {
uintptr_t bits(const void* at) { return reinterpret_cast<uintptr_t>(at); }
}  // namespace

void init_mbarrier(uint64_t* barrier, int arrivals) {
  const uintptr_t pc = GRADUS_SIM_CALLER;
  check_access(Access::write, bits(barrier), 8, pc);
  const Unwatched guard;
  here->async().init(bits(barrier), static_cast<unsigned>(arrivals), pc);
}
void arrive_at_mbarrier(const uint64_t* barrier, int bytes) {
  const uintptr_t pc = GRADUS_SIM_CALLER;
  check_atomic(bits(barrier), 8, pc);
  const Unwatched guard;
  here->async().arrive(bits(barrier), bytes, pc);
}
void wait_for_phase(const uint64_t* barrier, int parity) {
  const uintptr_t pc = GRADUS_SIM_CALLER;
  check_atomic(bits(barrier), 8, pc);
  const Unwatched guard;
  here->async().wait(bits(barrier), static_cast<unsigned>(parity), pc);
}
void sync_some(int barrier, int threads) {
  const uintptr_t pc = GRADUS_SIM_CALLER;
  const Unwatched guard;
  here->async().meet(static_cast<unsigned>(barrier), static_cast<unsigned>(threads), true, pc);
}
void fence_async_proxy() {
  const Unwatched guard;
  here->async().fence_proxy();
}

void arrive_at_block(const uint64_t* barrier, unsigned rank) {
  const uintptr_t pc = GRADUS_SIM_CALLER;
  Cluster* const cluster = here->cluster;
  const bool own = rank == (cluster ? cluster->rank() : 0);
  if (own) check_atomic(bits(barrier), 8, pc);
  const Unwatched guard;
  if (own) return here->async().arrive(bits(barrier), 0, pc);
  if (!cluster || rank >= cluster->size())
    stop_here(Kind::launch, "arrives", pc, [&] {
      return "there is no block " + std::to_string(rank) + " in a cluster of " +
             std::to_string(cluster ? cluster->size() : 1);
    });
  refuse_ended(rank, "arrives", pc);
  cluster->block(rank).async().arrive_from_outside(bits(barrier), pc);
}

void store_later(uint32_t* to, uint32_t value, uint64_t* barrier) {
  const uintptr_t pc = GRADUS_SIM_CALLER;
  check_access(Access::write, bits(to), sizeof value, pc);
  const Unwatched guard;
  *to = value;
  Cluster* const cluster = here->cluster;
  const Cluster::Found found = cluster ? cluster->find(bits(barrier)) : Cluster::Found{};
  Worker& block = found.rank < 0 ? *here : cluster->block(static_cast<unsigned>(found.rank));
  block.async().count_bytes(found.rank < 0 ? bits(barrier) : found.address, sizeof value, pc);
}

void ask_for_registers(int count, bool more) {
  const uintptr_t pc = GRADUS_SIM_CALLER;
  const Unwatched guard;
  here->async().ask_for_registers(static_cast<unsigned>(count), more, pc);
}

}  // namespace gradus::cuda::sim
