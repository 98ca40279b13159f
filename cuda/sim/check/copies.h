// The copies that threads of a block have begun by cp.async and have not waited for.
//
// A copy is done as late as it may be: when its thread waits for the group that it belongs to. The
// target keeps its old bytes until then. The table of SharedMemory tells which copy a word waits
// for, so an access finds it at once. A filter counts the sources by place, for writes to global
// memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace gradus::cuda::sim {

class Worker;
class SharedMemory;
struct Seen;
struct Thread;

struct Copy {
  uintptr_t to, from, pc;
  uintptr_t source;       // where the records of memory have `from`
  unsigned thread;        // of the block
  uint32_t group;         // of its thread
  uint32_t width, bytes;  // of the target; how many of them come from the source
  bool told;              // a finding names it
  bool box = false;       // of the tensor memory accelerator, not of a thread
};

// A product of a warpgroup, or the store of a box, that reads shared memory while it is under way.
struct Reader {
  uintptr_t pc;
  unsigned thread;
  bool product;
};

// Sums of a product under way, on a thread's stack.
struct Registers {
  uintptr_t begin;
  size_t bytes;
  uintptr_t pc;
  unsigned thread;
};

class Copies {
 public:
  bool any() const { return under_way_ > 0; }
  // `copy` has no group yet. REQUIRES: its target lies in `shared`.
  void begin(SharedMemory& shared, Copy copy);
  void end_group(const Thread& thread);
  void wait(Worker& worker, const Thread& thread, unsigned pending);

  // The same for a box, whose bytes somebody else moves.
  void begin_box(SharedMemory& shared, Copy& copy);
  void end_box(SharedMemory& shared, const Copy& copy);
  void begin_read(uintptr_t chunk, Reader by);  // of 16 bytes
  void end_read(uintptr_t chunk);
  const Reader* reader_of(uintptr_t chunk) const;  // null: none
  void forget_reads();
  void begin_registers(Registers sums);
  void end_registers(unsigned thread, uintptr_t begin);
  // Reports an access to the sums of a product under way. Returns whether it is one.
  bool meets_registers(Worker& worker, const Seen& seen);

  // Reports an access of the running thread that meets a copy under way. Returns whether it does.
  bool meets(Worker& worker, const Seen& seen, SharedMemory* shared);
  // Reports the copies of a thread that ends which belong to no group.
  void end_thread(Worker& worker, const Thread& thread);
  // Forgets all: the block has ended.
  void clear(Worker& worker);

 private:
  struct Queue {
    std::deque<Copy> copies;  // in the order in which they were begun; others point into it
    uint32_t groups = 0;      // that have ended
  };
  Queue& queue_of(unsigned thread);
  uint16_t& sources_at(uintptr_t place) {
    return sources_[place / 16 * 0x9E3779B1u >> 18 & 0x3fff];
  }
  void forget(SharedMemory& shared, const Copy& copy);
  Copy* copy_from(uintptr_t address, size_t size);
  void report(Worker& worker, const Seen& seen, Copy& copy, bool at_source);

  void report(Worker& worker, const Seen& seen, const Reader& by);

  struct Reading {
    Reader last;
    unsigned count = 0;
  };
  uint64_t under_way_ = 0;
  std::unordered_map<uintptr_t, Reading> reading_;                  // by chunk of shared memory
  std::unordered_map<unsigned, std::vector<Registers>> registers_;  // by thread
  std::vector<Queue> by_thread_;
  std::array<uint16_t, 1 << 14> sources_{};  // how many copies read each place, by its hash
};

}  // namespace gradus::cuda::sim
