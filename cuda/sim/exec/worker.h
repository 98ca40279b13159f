// One block at a time: its threads as fibers, its shared memory, its barriers.
//
// A worker belongs to a thread of the operating system, whose thread-local variables are the
// __shared__ arrays of the block that it runs. A fiber runs one thread of the block after the
// other, until one has to wait: only then does the next thread need another fiber.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include <sim/warp.h>
#include "gradus/cuda/sim/check/counter.h"
#include "gradus/cuda/sim/check/findings.h"
#include "gradus/cuda/sim/check/order.h"
#include "gradus/cuda/sim/exec/fiber.h"
#include "gradus/cuda/sim/runtime/memory.h"

namespace gradus::cuda::sim {

inline constexpr unsigned kWarp = 32, kMostThreads = 1024, kMostWarps = kMostThreads / kWarp;

// Of sim/tensor_core.h, by the addresses of the lanes' Fragments.
void multiply_fragments(const uint64_t (&lanes)[kWarp]);

// Which block each interval belongs to (shadow.h).
class Intervals {
 public:
  // Starts a launch. All intervals of the ones before are over.
  void restart();
  uint32_t take(uint32_t block);
  bool is_current(uint32_t interval) const { return interval >= first_; }
  unsigned generation() const { return generation_; }  // of numbers: they begin anew at times
  uint32_t block_of(uint32_t interval) const {
    const uint32_t at = interval - first_;
    return chunks_[at / kChunk].load(std::memory_order_acquire)[at % kChunk];
  }

 private:
  static constexpr uint32_t kLimit = 1u << Record::kIntervalBits, kChunk = 1 << 16;
  uint32_t first_ = 1;
  unsigned generation_ = 0;
  std::atomic<uint32_t> next_{1};
  std::array<std::atomic<uint32_t*>, kLimit / kChunk> chunks_{};
};

struct Launch {
  const void* kernel = nullptr;
  Invoke invoke = nullptr;
  void** args = nullptr;
  dim3 grid, block;
  size_t shared_bytes = 0;
  int device = 0;
  bool checked = true;
  Intervals* intervals = nullptr;
  Counter* counter = nullptr;  // null: nobody counts
  Order order;
  Sightings sightings;
  std::atomic<uint64_t> next_block{0};
  std::atomic<uint64_t> progress{0};  // counts barriers, and blocks that have ended
  std::atomic<bool> gave_up{false};   // a block, that waited in vain
  uint64_t blocks = 0;

  unsigned threads() const { return block.x * block.y * block.z; }
};

enum class BarrierOp : uint8_t { none, count, all, any };
enum class State : uint8_t { ready, at_barrier, at_warp, at_activemask, gave_way, done, stopped };

// A plain read that met an atomic operation of another thread. It begins a loop of atomicCAS, or it
// is a race: an atomic operation of its own thread, before the next barrier, would tell.
struct Doubt {
  uint64_t before = 0;  // a Record; 0 without a doubt
  uintptr_t address, pc;
  size_t size;
};

struct Thread {
  uint3 index;
  unsigned linear;
  State state;
  uint8_t epoch;  // counts its __syncwarp since the interval began
  bool accessed;  // memory, since its start
  uint32_t interval;
  Fence fence;
  Doubt doubt;
  unsigned looks;  // at addresses that another thread may change, since its start
  Fiber* fiber;
  // Where and why it waits.
  uintptr_t pc;
  BarrierOp barrier_op;
  WarpOp warp_op;
  unsigned mask, argument, width;
  uint64_t call;   // the number of its last call of a warp, counted over the worker; 0 before
  uint64_t value;  // what it brings, then what it gets
};

// Zeros that take no room until they are touched.
class Pages {
 public:
  explicit Pages(size_t nbytes);  // Errors: std::bad_alloc
  ~Pages();
  Pages(Pages&& other) noexcept;
  void clear();
  template <class T>
  T* as() const {
    return static_cast<T*>(begin_);
  }

 private:
  void* begin_;
  size_t nbytes_;
};

// Bytes of the worker's thread-local memory, with their shadow.
class SharedMemory {
 public:
  explicit SharedMemory(const ModuleMemory& memory);
  bool contains(uintptr_t address) const { return address - begin_ < size_; }
  const SharedArray* array_at(uintptr_t address) const {
    return module_->array_at(address - begin_);
  }
  uintptr_t begin() const { return begin_; }
  Cell* cell_at(uintptr_t address) { return cells_.as<Cell>() + (address - begin_) / 4; }
  uint8_t* written_at(uintptr_t address, size_t size) {
    const uintptr_t at = address - begin_;
    if (at < touched_begin_) touched_begin_ = at;
    if (at + size > touched_end_) touched_end_ = at + size;
    return written_.as<uint8_t>() + at;
  }
  void forget();  // what was written
  void forget_records() { cells_.clear(); }

 private:
  const Module* module_;
  uintptr_t begin_, size_;
  uintptr_t touched_begin_ = UINTPTR_MAX, touched_end_ = 0;
  Pages written_, cells_;
};

class Worker {
 public:
  Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs blocks of the launch until none are left.
  void run(Launch& launch);

  // --- What a thread of the kernel asks for
  uint64_t barrier(BarrierOp op, int predicate, uintptr_t pc);
  uint64_t warp(WarpOp op, unsigned mask, uint64_t value, unsigned argument, unsigned width,
                uintptr_t pc);
  unsigned active_lanes(uintptr_t pc);
  void fence();
  // Around an access that is atomic, or volatile: what it tells others, and what it learns.
  void publish(uintptr_t address);
  void meet(uintptr_t address, bool is_volatile, uintptr_t pc);
  // Whether an access of another thread, or block, came before this one by what was met.
  bool knows(Record access) const;
  // Whether a __syncwarp of both lanes came after an access of the same warp.
  bool has_synced(const Thread& lane, Record access) const {
    return clock(access.interval(), access.epoch()) <=
           synced_[lane.linear][access.thread() % kWarp];
  }
  // Ends the thread that runs, after a mistake that it cannot go on from.
  [[noreturn]] void stop_thread();
  // For each access to memory: ends a thread that makes them without end.
  void tick(uintptr_t pc) {
    if (++ticks_ % kTicks == 0) [[unlikely]]
      look_at_clock(pc);
  }
  // Counts the turns of threads, for whoever looks on from another thread of the system.
  uint64_t turns() const { return turns_.load(std::memory_order_relaxed); }

  SharedMemory* shared_at(uintptr_t address) {
    for (SharedMemory& each : shared_)
      if (each.contains(address)) return &each;
    return nullptr;
  }
  std::vector<CountedAccess>& accesses() { return accesses_[current->linear / kWarp]; }
  uint32_t block_number() const { return block_number_; }
  bool has_stopped_threads() const { return stopped_ > 0; }
  Sighting::Side side(std::string what, const Thread& thread, Trace trace) const;

  Launch* launch = nullptr;
  Thread* current = nullptr;  // runs now
  uint3 block{};
  uint32_t interval = 0;         // since the last barrier
  std::array<Range, 64> ranges;  // in use, by where an access stands in the program
  Range constants;               // that were read last
  const Range place;             // the variables that tell a thread its place

 private:
  static constexpr unsigned kTicks = 1 << 20;

  void look_at_clock(uintptr_t pc);
  void run_block(uint64_t number);
  void flush_accesses();

  [[noreturn]] static void fiber_main(void* worker);
  Fiber* free_fiber();
  void reclaim_fibers();
  void run_thread(Fiber* fiber);
  void enter(Thread& thread);
  void leave();
  void resume(Thread& thread);
  void wait(State state);
  [[noreturn]] void stop_block();

  bool release_barrier();
  bool release_active_lanes();
  bool release_those_that_gave_way();
  void report_vain_wait(const Thread& thread);
  void settle_doubt();
  MeetingPoint point_of(uintptr_t address) const;
  static bool same_line(uintptr_t a, uintptr_t b);
  static uint64_t clock(uint32_t interval, uint8_t epoch) {
    return uint64_t{interval} << 8 | epoch;
  }
  bool try_complete(Thread& thread);
  void finish_call(unsigned begin, unsigned present);
  void sync_lanes(unsigned begin, unsigned present);
  void complete_without(const Thread& ended);
  void report_stuck();
  void report_lanes(const Thread& thread, const Thread* other, const std::string& message);

  std::vector<Thread> threads_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  std::vector<Thread*> ready_;
  size_t next_ready_ = 0;
  unsigned started_ = 0, ended_ = 0, waiting_ = 0, stopped_ = 0, gave_way_ = 0;
  unsigned ticks_ = 0;
  std::atomic<uint64_t> turns_{0};
  uint64_t last_turn_ = 0;
  std::chrono::duration<double> last_turn_at_{};  // by the clock of this thread's work
  uint64_t last_progress_ = 0;
  std::chrono::steady_clock::time_point last_progress_at_{};
  bool abandoned_ = false;
  uint32_t block_number_ = 0;
  unsigned generation_ = 0;
  uint64_t calls_ = 0;
  Met met_;
  std::unordered_map<unsigned, uint32_t> fenced_;    // threads since the last barrier: Fence's
  std::unordered_map<unsigned, uint32_t> released_;  // and until it
  std::vector<std::array<uint64_t, kWarp>> synced_;  // by thread: how far it knows its lanes
  Fiber home_;
  Fiber* starting_ = nullptr;
  std::vector<SharedMemory> shared_;
  std::vector<std::vector<CountedAccess>> accesses_;  // by warp
};

std::chrono::duration<double> patience();  // GRADUS_SIM_PATIENCE

// The worker whose kernel code this thread of the operating system runs, null outside; and the same
// where accesses are looked at.
extern constinit thread_local Worker* here [[gnu::tls_model("initial-exec")]];
extern constinit thread_local Worker* watching [[gnu::tls_model("initial-exec")]];

// The simulator's own work is not looked at. It may well run instrumented code: of an instance of a
// template that a kernel's file has too, the linker keeps one.
class Unwatched {
 public:
  Unwatched() : before_(watching) { watching = nullptr; }
  ~Unwatched() { watching = before_; }
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;

 private:
  Worker* before_;
};

// Where the function that calls this was called from. The address that a call returns to may belong
// to the next line.
#define GRADUS_SIM_CALLER (reinterpret_cast<uintptr_t>(__builtin_return_address(0)) - 1)

}  // namespace gradus::cuda::sim
