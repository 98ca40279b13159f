// The asynchronous operations of Hopper in a block (sim/hopper.h): barriers that count bytes, boxes
// and products under way, and the order that they make.
// A worker makes it when a kernel calls the first of these operations.
//
// Order. A phase of a barrier orders some threads' accesses and not others', so each thread has a
// clock: how far it knows each thread of its block, in intervals (shadow.h). Arriving at a barrier
// gives the own clock to the phase, and waiting takes that of the phase. Copies and products are
// made by engines, which have numbers like threads, from the highest one down.
//
// Time. All is done as late as it may be: a box comes when no thread can run and one waits for its
// phase, a product or a store when a thread waits for its group.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <sim/hopper.h>
#include "gradus/cuda/sim/check/copies.h"
#include "gradus/cuda/sim/check/shadow.h"
#include "gradus/cuda/sim/runtime/tensor_maps.h"

namespace gradus::cuda::sim {

class Worker;
struct Thread;

using Clock = std::vector<uint32_t>;  // by thread or engine: the last interval that is known

// A copy of a box between a tensor and shared memory.
struct Box {
  Copy copy;
  TensorMap map;
  Place at;
  int shift[2];       // of pixels
  uint32_t interval;  // of a store: when its engine reads shared memory
  bool adds;          // a store: to what the tensor has

  // Calls for_chunks() of its map.
  template <class F>
  void for_chunks(const F& f) const {
    sim::for_chunks(map, at.at, map.pixels ? shift : nullptr, copy.to, f);
  }
};

struct Mbarrier {
  unsigned arrivals = 0, pending = 0;  // that a phase needs; that it still needs
  int64_t bytes = 0;                   // that are expected and have not come
  int64_t expected = 0, brought = 0;   // in this phase
  uint64_t phases = 0;                 // that have ended
  unsigned engine = 0, made_by = 0;
  uintptr_t pc = 0;       // where it was initialised
  Clock arriving, ended;  // of the phase under way, and of those that have ended
  std::deque<Box> boxes;  // under way
};

// Some threads of a block that meet.
struct Meeting {
  unsigned came = 0;
  Clock clock;
};

struct Warpgroup {
  struct Item {
    Product of[128] = {};  // by thread
    unsigned came = 0, thread = 0;
    uint64_t group = 0;
    uint32_t interval = 0;
    uintptr_t pc = 0;
  };
  std::deque<Item> items;
  uint64_t done = 0, groups = 0;  // items that are done, groups that have ended
  unsigned engine = 0, at_end = 0;
  uint32_t last = 0;  // the interval of the last item that is done
  std::vector<std::unique_ptr<std::array<uint32_t, 4>>> held;  // registers of items
  std::vector<uint64_t> next = std::vector<uint64_t>(128);     // each thread's next item
  std::vector<uint8_t> fenced = std::vector<uint8_t>(128);
};

class Async {
 public:
  explicit Async(Worker& worker);

  // --- Order
  bool knows(unsigned thread, Record access) const {
    return access.thread() == thread || known_[thread][access.thread()] >= access.interval();
  }
  void release(Clock& into);  // what the running thread has done and knows
  void acquire(unsigned thread, const Clock& from);
  void learn(unsigned thread, unsigned engine, uint32_t interval);
  void fence_proxy();
  void sync_lanes(unsigned begin, unsigned present);
  void sync_block();  // what one thread knows of engines, all do
  bool is_engine(unsigned thread) const { return thread >= known_.size() && thread != outside_; }
  // Whether copies and products may see this write by a thread, which another one has ordered.
  bool is_published(Record write) const;
  unsigned new_engine();
  uint32_t new_interval(unsigned issuer);  // for what an engine does, on behalf of a thread
  unsigned issuer_of(uint32_t interval) const;

  // --- Calls of threads
  void init(uintptr_t barrier, unsigned arrivals, uintptr_t pc);
  void arrive(uintptr_t barrier, int64_t bytes, uintptr_t pc);
  // The calling thread is one of another block of the cluster.
  void arrive_from_outside(uintptr_t barrier, uintptr_t pc);
  void load_from_outside(uintptr_t barrier, Box box, uintptr_t pc);
  // The record of an access by a thread of another block, which runs now.
  Record access_from_outside(unsigned thread, uintptr_t pc, unsigned bytes);
  void count_bytes(uintptr_t barrier, int64_t bytes, uintptr_t pc);
  void ask_for_registers(unsigned count, bool more, uintptr_t pc);
  void wait(uintptr_t barrier, unsigned parity, uintptr_t pc);
  void meet(unsigned number, unsigned threads, bool orders, uintptr_t pc);
  void load(uintptr_t barrier, Box box, uintptr_t pc);
  void store(Box box);
  void end_stores();
  void wait_for_stores(unsigned pending);
  void multiply(const Product& product, uintptr_t pc);
  void fence_products();
  void end_products(uintptr_t pc);
  void wait_for_products(unsigned pending);

  // --- Calls of the worker
  // Brings boxes that a waiting thread needs. Returns whether a thread can run.
  bool bring_boxes();
  bool report_stuck();  // returns whether a thread waits for a phase or a meeting
  void end_thread(const Thread& thread);
  void end_block();  // all threads have ended
  void clear();      // the block is over

 private:
  struct Stores {
    std::deque<Box> boxes;
    uint32_t groups = 0;
    unsigned engine = 0;
  };
  Mbarrier& at(uintptr_t barrier, uintptr_t pc);
  void publish_outside(Mbarrier& barrier);
  void end_phase_if_done(Mbarrier& barrier, uintptr_t address);
  void bring(Mbarrier& barrier);
  void forget_boxes(Mbarrier& barrier);
  void finish_store(Stores& stores);
  void finish(Warpgroup& group);
  void make_sums(const Warpgroup::Item& item) const;
  template <class F>
  void for_operands(const Warpgroup::Item& item, const F& f) const;
  void read(uintptr_t chunk, Record as, uintptr_t pc, const char* what);
  unsigned registers_at_start() const;  // of a thread, at most
  void note_swizzle(uintptr_t chunk, unsigned swizzle);
  void check_swizzle(uintptr_t chunk, unsigned swizzle, uintptr_t pc);

  Worker& worker_;
  unsigned next_engine_ = 1023;
  unsigned outside_ = 0;  // the engine that stands for threads of other blocks
  std::vector<Clock> known_;
  struct Published {
    uint32_t own = 0, block = 0;  // intervals: its own through this one, those of all before
    Clock known;
  };
  std::vector<Published> published_;
  std::unordered_map<uint32_t, unsigned> issuers_;
  std::map<uintptr_t, Mbarrier> barriers_;
  std::map<unsigned, Meeting> meetings_;
  std::map<unsigned, Stores> stores_;
  std::map<unsigned, Warpgroup> warpgroups_;
  // The swizzle of the box that was brought there, plus 1, by 16 bytes of dynamic shared memory.
  std::vector<uint8_t> swizzles_;
  struct Registers {
    uintptr_t pc;
    unsigned thread, count, came;
  };
  std::map<unsigned, std::vector<Registers>> asked_;  // by warpgroup, in order
};

}  // namespace gradus::cuda::sim
