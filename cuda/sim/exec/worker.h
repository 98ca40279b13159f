// Runs one block at a time: its threads as fibers, its shared memory, its barriers.
//
// A worker belongs to a thread of the operating system. The thread-local variables of that thread
// are the __shared__ arrays of the block that the worker runs. A fiber runs the threads of the
// block one after the other, until one has to wait; then another fiber runs the next ones.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include <sim/warp.h>
#include "gradus/cuda/sim/check/copies.h"
#include "gradus/cuda/sim/check/counter.h"
#include "gradus/cuda/sim/check/findings.h"
#include "gradus/cuda/sim/check/order.h"
#include "gradus/cuda/sim/exec/current.h"
#include "gradus/cuda/sim/exec/fiber.h"
#include "gradus/cuda/sim/runtime/memory.h"

namespace gradus::cuda::sim {

inline constexpr unsigned kWarp = 32, kMostThreads = 1024, kMostWarps = kMostThreads / kWarp;

class Async;
class Cluster;
struct Running;

// Multiplies for sim/tensor_core.h. `lanes`: the address of each lane's Fragments.
void multiply_fragments(const uint64_t (&lanes)[kWarp]);
void multiply_matrices(const uint64_t (&lanes)[kWarp]);

// Knows which block each interval belongs to (shadow.h).
class Intervals {
 public:
  explicit Intervals(unsigned generation = 0) : generation_(generation) {}
  // Starts a launch. The intervals of earlier launches are not current any more.
  void restart();
  uint32_t take(uint32_t block);
  bool is_current(uint32_t interval) const { return interval >= first_; }
  unsigned generation() const { return generation_; }  // counts how often numbers began again
  uint32_t block_of(uint32_t interval) const {
    const uint32_t at = interval - first_;
    return chunks_[at / kChunk].load(std::memory_order_acquire)[at % kChunk];
  }

 private:
  static constexpr uint32_t kLimit = 1u << Record::kIntervalBits, kChunk = 1 << 16;
  uint32_t first_ = 1;
  unsigned generation_;
  std::atomic<uint32_t> next_{1};
  std::array<std::atomic<uint32_t*>, kLimit / kChunk> chunks_{};
};

struct Launch {
  const void* kernel = nullptr;
  Invoke invoke = nullptr;
  void** args = nullptr;
  const size_t* sizes = nullptr;  // of the arguments, then 0
  dim3 grid, block;
  size_t shared_bytes = 0;
  int device = 0;
  bool checked = true;
  bool early = false;  // may start before the kernel before it has ended
  Intervals* intervals = nullptr;
  Counter* counter = nullptr;     // null: nobody counts
  const Running* work = nullptr;  // null: it was not queued (queue.h)
  Order order;
  Sightings sightings;
  std::atomic<uint64_t> next_block{0};
  std::atomic<uint64_t> progress{0};  // counts barriers, and blocks that have ended
  std::atomic<bool> gave_up{false};   // a block waited in vain and was stopped
  uint64_t blocks = 0;
  unsigned cluster = 1;  // how many blocks run together

  unsigned threads() const { return block.x * block.y * block.z; }
};

enum class BarrierOp : uint8_t { none, count, all, any };
enum class State : uint8_t {
  ready,
  at_barrier,
  at_warp,
  at_activemask,
  at_phase,    // of an mbarrier (async.h)
  at_meeting,  // of some threads of the block
  at_cluster,
  gave_way,
  done,
  stopped
};

// A plain read of a word that another thread changed atomically. The read is a race, unless it
// begins a loop of atomicCAS: then its own thread makes an atomic operation before the next
// barrier.
struct Doubt {
  uint64_t before = 0;  // a Record; 0 without a doubt
  uintptr_t address, pc;
  size_t size;
};

struct Thread {
  uint3 index;
  unsigned linear;
  State state;
  uint8_t epoch;  // how many __syncwarp it has passed since the interval began
  bool accessed;  // whether it has accessed memory since its start
  bool early;     // has not waited for the kernel before
  uint32_t interval;
  Fence fence;
  Doubt doubt;
  unsigned looks;  // reads, since its start, of addresses that another thread may change
  Fiber* fiber;
  // Where and why it waits.
  uintptr_t pc;
  BarrierOp barrier_op;
  WarpOp warp_op;
  unsigned mask, argument, width;
  uintptr_t waits_for;     // an mbarrier, or the number of a meeting
  uint32_t cluster_phase;  // of the cluster's barrier, from 1 on, at which it arrived last
  uint8_t registers;       // that setmaxnreg asked for last, in units of 8; 0 without
  uint64_t call;           // the worker's number of its last call of a warp; 0 before the first
  uint64_t value;          // its argument of that call, then its result
};

// Zeroed memory that takes no room until it is touched.
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

// The shared memory of the worker's block: bytes of its thread-local memory, with their shadow.
class SharedMemory {
 public:
  explicit SharedMemory(const ModuleMemory& memory);
  bool contains(uintptr_t address) const { return address - begin_ < size_; }
  const SharedArray* array_at(uintptr_t address) const {
    return module_->array_at(address - begin_);
  }
  // Whether the byte says that an array was initialised: GCC keeps one for arrays of a class that
  // has constructors, though they need none.
  bool guards_variable(uintptr_t address) const {
    const SharedArray* const array = array_at(address);
    return array && array->symbol.starts_with("_ZGV");
  }
  uintptr_t begin() const { return begin_; }
  Cell* cell_at(uintptr_t address) { return cells_.as<Cell>() + (address - begin_) / 4; }
  // The copy under way that will write each word; null without one.
  Copy** copy_at(uintptr_t address) { return copies_.as<Copy*>() + (address - begin_) / 4; }
  uint8_t* written_at(uintptr_t address, size_t size) {
    const uintptr_t at = address - begin_;
    if (at < touched_begin_) touched_begin_ = at;
    if (at + size > touched_end_) touched_end_ = at + size;
    return written_.as<uint8_t>() + at;
  }
  void forget();  // forgets what was written
  void forget_records() { cells_.clear(); }

 private:
  const Module* module_;
  uintptr_t begin_, size_;
  uintptr_t touched_begin_ = UINTPTR_MAX, touched_end_ = 0;
  Pages written_, cells_, copies_;
};

class Worker {
 public:
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs blocks of the launch until none are left.
  void run(Launch& launch);
  // Lets threads of the block run that can. `spun`: those looked at memory again and again.
  enum class Progress : uint8_t { ran, spun, waits, over };
  Progress proceed();
  void report_waits();    // of threads that wait in vain
  void begin_interval();  // all threads of the block have met
  void watch_turns_of(Worker& first) { watched_ = &first; }

  // --- Called by threads of the kernel
  uint64_t barrier(BarrierOp op, int predicate, uintptr_t pc);
  uint64_t warp(WarpOp op, unsigned mask, uint64_t value, unsigned argument, unsigned width,
                uintptr_t pc);
  unsigned active_lanes(uintptr_t pc);
  void fence();
  // Called at an access that is atomic or volatile: before it to publish, after it to meet
  // (order.h).
  void publish(uintptr_t address);
  void meet(uintptr_t address, bool is_volatile, uintptr_t pc);
  // Whether the running thread has met a point that orders the access before now.
  bool knows(Record access) const;
  // Whether a __syncwarp of both lanes came after the access, which is of the same warp.
  bool has_synced(const Thread& lane, Record access) const {
    return clock(access.interval(), access.epoch()) <=
           synced_[lane.linear][access.thread() % kWarp];
  }
  // Ends the running thread after a mistake that it cannot continue from.
  [[noreturn]] void stop_thread();
  // Called for each access to memory. Ends a thread that never stops accessing memory.
  void tick(uintptr_t pc) {
    if (++ticks_ % kTicks == 0) [[unlikely]]
      look_at_clock(pc);
  }
  // How many turns threads have had. The watchdog reads it from another thread of the system.
  uint64_t turns() const { return turns_.load(std::memory_order_relaxed); }

  SharedMemory* shared_at(uintptr_t address) {
    for (SharedMemory& each : shared_)
      if (each.contains(address)) return &each;
    return nullptr;
  }
  std::vector<CountedAccess>& accesses() { return accesses_[current->linear / kWarp]; }
  uint32_t block_number() const { return block_number_; }
  Thread& thread(unsigned linear) { return threads_[linear]; }
  // The thread that made an access of this block, or that asked an engine for it.
  unsigned thread_of(Record access) const;
  uint32_t take_interval() { return launch->intervals->take(block_number_); }

  // --- Asynchronous operations of Hopper
  Async& async();  // makes it
  // Whether a copy or product of this block made the access. A barrier orders it for all threads
  // only if one of them has waited for it before.
  bool is_of_engine(Record access) const { return async_ && has_engine(access); }
  void park(State state) { wait(state); }
  void wake(Thread& thread) {
    thread.state = State::ready;
    ready_.push_back(&thread);
  }
  bool has_stopped_threads() const { return stopped_ > 0; }
  Sighting::Side side(std::string what, const Thread& thread, Trace trace) const;

  Launch* launch = nullptr;
  Cluster* cluster = nullptr;  // that the block is of; null without clusters
  Thread* current = nullptr;   // runs now
  uint3 block{};
  uint32_t interval = 0;         // since the last barrier
  std::array<Range, 64> ranges;  // in use; the index depends on the access's place in the program
  Range constants;               // the ones that were read last
  const Range place;             // the variables that tell a thread its place
  Copies copies;                 // of the block, under way
  int64_t tensor_products = 0;   // of the block (LaunchCounts)

 private:
  bool has_engine(Record access) const;
  static constexpr unsigned kTicks = 1 << 20;

  void find_shared_memory();
  void look_at_clock(uintptr_t pc);
  void begin(Launch& launched);
  void run_cluster(uint64_t first);
  void begin_block(uint64_t number);
  void end_block();
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
  void finish_on_tensor_cores(unsigned begin, unsigned present);
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
  std::chrono::duration<double> last_turn_at_{};  // in processor time of this thread
  uint64_t last_progress_ = 0;
  std::chrono::steady_clock::time_point last_progress_at_{};
  bool abandoned_ = false;
  int64_t barriers_ = 0;
  Worker* watched_ = this;                       // whose turns the watchdog sees
  std::vector<std::unique_ptr<Worker>> others_;  // blocks of clusters but the first
  uint32_t block_number_ = 0;
  unsigned generation_ = 0;
  uint64_t calls_ = 0;
  Met met_;
  std::unique_ptr<Async> async_;  // of the block; null until it calls such an operation
  std::unordered_map<unsigned, uint32_t> fenced_;    // the last fence by thread, since the barrier
  std::unordered_map<unsigned, uint32_t> released_;  // and until the last barrier
  // The last __syncwarp of each thread with each lane.
  std::vector<std::array<uint64_t, kWarp>> synced_;
  Fiber home_;
  Fiber* starting_ = nullptr;
  std::vector<SharedMemory> shared_;
  unsigned long long modules_ = 0;                    // how many were loaded when shared_ was made
  std::vector<std::vector<CountedAccess>> accesses_;  // by warp
};

std::chrono::duration<double> patience();  // GRADUS_SIM_PATIENCE

// While it lives, accesses of this thread are not checked. The simulator uses it for its own work,
// which may run instrumented code: if a kernel's file instantiates the same template, the linker
// keeps only one copy.
class Unwatched {
 public:
  Unwatched() : before_(watching) { watching = nullptr; }
  ~Unwatched() { watching = before_; }
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;

 private:
  Worker* before_;
};

// The place that called the function which uses this macro. The place is one byte before the
// address that the call returns to, since that one may belong to the next line.
#define GRADUS_SIM_CALLER (reinterpret_cast<uintptr_t>(__builtin_return_address(0)) - 1)

}  // namespace gradus::cuda::sim
