// The interface of the CUDA simulator for its users: which mistakes kernels made, and how they used
// memory. docs/simulator.md is the guide. Only builds with -DGRADUS_CUDA=SIM have it.
//
//   GRADUS_SIM_DEVICES=n   how many devices there are: 0 to 16, 4 by default
//   GRADUS_SIM_CORES=n     how many blocks run at once, as many as there are cores by default
//   GRADUS_SIM_CHECK=0     runs kernels without checks, faster
//   GRADUS_SIM_REPORT=1    prints a table of every launch to stderr
//   GRADUS_SIM_ORDER=seed  queues work, and does it in an order that the seed chooses (set_order)
//   GRADUS_SIM_PATIENCE=s  after how many seconds a thread that waits for another in vain is ended,
//                          20 by default; one that works without end is ended after three times
//                          that
// With any other value there is no device, and errors say why.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace gradus::cuda::sim {

enum class Kind {
  out_of_bounds,   // an access outside of every allocation, or of an array of shared memory
  misaligned,      // a pointer to a type that needs more alignment
  use_after_free,  // an access to memory that was freed
  foreign_memory,  // memory of the host, or of a device without peer access
  unwritten,       // a read of memory that nobody has written
  race,            // two threads, one address, one of them writes, and nothing orders them
  order,           // two pieces of work on streams, or one and the host, that nothing orders
  under_way,       // memory that an asynchronous copy still writes, or reads where it is written
  layout,          // an operand in shared memory that lies otherwise than it is read
  barrier,         // a barrier that some thread of the block does not reach
  warp,            // a shuffle or vote whose lanes disagree about which lanes take part
  arithmetic,      // a division by zero, a shift by too much, a float that no integer holds
  assertion,       // an assert() that does not hold, or a __trap()
  stuck,           // threads wait for a value that nobody writes, or one never ends
  launch,          // a grid, block or amount of shared memory that a chip would refuse
  leak,            // memory that was never freed
  uncoalesced,     // advice: a warp moves more 32-byte sectors than its bytes need
  bank_conflict,   // advice: a warp's access to shared memory takes several wavefronts
};
const char* name_of(Kind kind);

// A place in source text. `line` is 0 where the program has no line table.
struct Frame {
  std::string function, file;
  int line = 0;
};

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};

// One side of a finding: which thread was where. The innermost frame comes first, the kernel last.
struct Side {
  std::string what;  // "reads 4 bytes", ...
  std::vector<Frame> frames;
  bool by_thread = false;  // whether a thread of a kernel did it: block and thread say which
  Index3 block{}, thread{};
};

struct Finding {
  Kind kind;
  std::string kernel;       // readable; empty for a leak
  std::string message;      // one line: what is wrong, and a fix
  std::vector<Side> sides;  // two for a race, at most one where no thread is to blame
  int64_t times = 1;        // how often it was seen at this place in one launch
};
std::ostream& operator<<(std::ostream& out, const Finding& finding);  // several lines

// Returns what was found since the last call, oldest first. The devices work again after it. Advice
// is not included; Recording gives it. A finding that nobody takes makes the next CUDA call fail,
// like an error of a kernel, with its text in the message.
std::vector<Finding> take_findings();

// Lets streams hold their work until somebody waits for it. The seed chooses one of the orders that
// streams, events and waits allow. Accesses that none of these orders are found, whichever comes
// first. std::nullopt: work is done when it is queued, as at the start of a program. The call waits
// for all work.
void set_order(std::optional<uint64_t> seed);

// Returns all memory in use, as leaks, without what an earlier call returned. Leaks at the end of
// the program are printed, and its exit status is not 0.
std::vector<Finding> take_leaks();

bool checks();  // false with GRADUS_SIM_CHECK=0

// How a kernel, or one line of it, used memory. A request is what the lanes of a warp access
// together.
struct Counts {
  int64_t global_loads = 0, global_stores = 0;  // of threads
  int64_t global_load_bytes = 0, global_store_bytes = 0;
  int64_t global_requests = 0;
  int64_t sectors = 0;                          // of 32 bytes that the requests touch
  int64_t least_sectors = 0;                    // how many would hold as many different bytes
  int64_t shared_loads = 0, shared_stores = 0;  // of threads
  int64_t shared_requests = 0;
  int64_t shared_wavefronts = 0;            // 1 a request of up to 128 bytes without bank conflicts
  int64_t least_wavefronts = 0;             // how many there would be without bank conflicts
  int64_t atomics = 0, shared_atomics = 0;  // of threads: all, and those of shared memory
  int64_t global_atomic_bytes = 0;
};

// Bytes that a lane of a warp accessed. The offset counts from the beginning of the allocation; in
// shared memory it counts from an address of bank 0.
struct LaneAccess {
  uint64_t offset = 0;
  unsigned size = 0, lane = 0;
};

struct LineCounts {
  std::vector<Frame> frames;
  Counts counts;
  std::vector<LaneAccess> first_request;  // of the launch's first warp; empty where it made none
  uint64_t allocated = 0;  // bytes of the allocation that it accessed; 0 for other memory
};

struct LaunchCounts {
  std::string kernel;
  Index3 grid, block;
  int64_t shared_bytes = 0;  // dynamic
  int64_t threads = 0;
  int64_t idle_threads = 0;     // ended without an access to memory
  int64_t barriers = 0;         // summed over blocks
  int64_t tensor_products = 0;  // of two numbers, by tensor cores (wmma, mma, wgmma)
  Counts counts;
  std::vector<LineCounts> lines;  // one for each access of the source text, by file and line
  std::vector<Finding> advice() const;
};
// The table of GRADUS_SIM_REPORT=1: the launch, a row for each access of its text, and the advice.
std::ostream& operator<<(std::ostream& out, const LaunchCounts& launch);

// Counts every launch of the process while it lives, which slows kernels down.
class Recording {
 public:
  Recording();
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  std::vector<LaunchCounts> launches() const;  // oldest first
};

}  // namespace gradus::cuda::sim
