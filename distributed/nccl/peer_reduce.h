// all_reduce among GPUs of one machine by their copy engines, which leave the multiprocessors to
// those who compute. NCCL's kernels take some 24 of them, also while they wait for a rank whose
// multiprocessors are busy.
//
// A ring (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", 2009; distributed/threads/ring.cpp shows it): everyone sends to the next rank
// alone, so no two copies meet at a receiver. Parts are added by a few small blocks. The ranks tell
// each other of what has come by words in their memory, for which streams wait; no host waits for
// another. Private to the library.
#pragma once

#include <array>

#include "gradus/cuda/runtime/event.h"
#include "gradus/distributed/nccl/peer_memory.h"
#include "gradus/distributed/reduce_op.h"
#include "gradus/tensor/tensor.h"

namespace gradus::distributed {

class PeerReduce {
 public:
  static constexpr int kMostRanks = 16;
  // So many pieces of a tensor, or of several tensors, are under way at a time.
  static constexpr size_t kSlots = 4;
  static constexpr int64_t kPieceBytes = int64_t{32} << 20;

  // Collective. Null at all ranks where PeerMemory::connect says so, and for one rank or more than
  // kMostRanks. Errors: Error in these cases, but for one rank, where it is required.
  static std::unique_ptr<PeerReduce> connect(const std::string& group, int rank, int size,
                                             int device, const std::shared_ptr<Store>& store);

  // Collective: as PeerMemory::allocate, for tensors that all_reduce takes.
  std::shared_ptr<PeerBlock> allocate(size_t nbytes);
  // Whether x can be combined here: a sum or mean of float32 or float64 in memory of allocate(). It
  // is the same at all ranks where x lies at the same place of a block at each of them.
  bool takes(const Tensor& x, ReduceOp op) const;
  // Queues it on the stream. Pieces that overlap none under way do not wait for those.
  void all_reduce(const Tensor& x, ReduceOp op, const cuda::Stream& stream);
  // The stream waits for all that was queued so far.
  void follow(const cuda::Stream& stream) const;
  // What waits on this GPU for other ranks ends, with whatever values.
  void abort();

 private:
  // Of one piece under way: where the others' values arrive, and how often it has been used.
  struct Slot {
    uint32_t turn = 0;
    const char *begin = nullptr, *end = nullptr;  // of the piece, in this rank's memory
    cuda::Event done;
  };
  enum Mark : int { kArrived, kGathered, kMarks };
  // A part of a piece, in bytes from its beginning; there are as many as ranks.
  struct Span {
    int64_t begin, size;
  };

  PeerReduce(std::unique_ptr<PeerMemory> memory, int rank, int size, int device);
  void reduce_piece(const PeerBlock& block, int64_t offset, int64_t numel, ScalarType dtype,
                    double divisor, const cuda::Stream& stream);
  Span span_of(int part, int64_t numel, int64_t itemsize) const;
  char* desk(int owner, size_t slot, int step) const;
  uint32_t* word(int owner, Mark mark, size_t slot, int step) const;

  std::unique_ptr<PeerMemory> memory_;
  int rank_, size_, device_;
  int64_t desk_bytes_;  // for one part of a piece
  std::shared_ptr<PeerBlock> words_;
  std::shared_ptr<PeerBlock> desks_;  // by slot and step; null until memory is asked for
  std::array<Slot, kSlots> slots_;
  size_t next_ = 0;
  cuda::Stream release_;  // on which abort() writes
};

}  // namespace gradus::distributed
