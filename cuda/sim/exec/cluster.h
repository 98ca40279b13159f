// Blocks of a cluster: they run in turns on one thread of the operating system, and reach each
// other's shared memory and barriers.
//
// Every block has its shared memory at the same addresses. The block whose turn it is has it there,
// the others have it in images. `mapa` gives a pointer into the image of another block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gradus/cuda/sim/exec/worker.h"

namespace gradus::cuda::sim {

// The size that __cluster_dims__ gives a kernel; 1 without.
unsigned cluster_size_of(const void* kernel);

class Cluster {
 public:
  static constexpr unsigned kMost = 8;  // that every chip runs

  explicit Cluster(std::vector<Worker*> blocks);
  // Runs the blocks, which have begun, to their ends.
  void run();

  unsigned size() const { return static_cast<unsigned>(blocks_.size()); }
  unsigned rank() const { return current_; }  // of the block whose turn it is
  Worker& block(unsigned rank) { return *blocks_[rank]; }
  bool has_ended(unsigned rank) const { return ended_[rank]; }

  // Where the block has what lies at this address of shared memory here.
  uintptr_t at(uintptr_t address, unsigned rank) const;
  // The block whose image has the address, and where it has it itself; -1 where none has.
  struct Found {
    int rank = -1;
    uintptr_t address = 0;
  };
  Found find(uintptr_t address) const;

  // Whether the access, by whichever block, came before the last barrier of the cluster.
  bool came_before(Record access) const { return access.interval() < since_; }

  // --- The barrier of the cluster, called by threads
  void arrive(Thread& thread);
  void wait(Thread& thread, uintptr_t pc);

 private:
  void turn_to(unsigned rank);
  bool release();  // where every thread that has not ended has arrived

  std::vector<Worker*> blocks_;
  std::vector<bool> ended_;
  std::vector<Range> parts_;  // of shared memory
  std::vector<std::vector<std::byte>> images_;
  unsigned current_ = 0;
  uint32_t phases_ = 0, since_ = 0;  // barriers so far, and the first interval after the last one
};

// Reports an operation of the running thread on another block of its cluster that has ended, and
// ends the thread.
void refuse_ended(unsigned rank, const char* what, uintptr_t pc);

}  // namespace gradus::cuda::sim
