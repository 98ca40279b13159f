// PeerReduce: all_reduce among GPUs of one machine by their copy engines, which leaves the
// multiprocessors free for computing. NCCL's kernels occupy about 24 multiprocessors, even while
// they wait for a rank whose multiprocessors are busy.
//
// The algorithm is a ring (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for
// clusters of workstations", 2009; distributed/threads/ring.cpp shows it): every rank sends only to
// the next one, so no two copies compete at a receiver. A few small thread blocks add the parts. A
// rank announces a part by writing a word in the receiver's memory, and streams wait for that word;
// no host waits for another. Private to the library.
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
  // How many pieces of one or several tensors may be in progress at a time.
  static constexpr size_t kSlots = 4;
  static constexpr int64_t kPieceBytes = int64_t{32} << 20;

  // Collective. Null at all ranks where PeerMemory::connect returns null, for one rank, and for
  // more than kMostRanks. Errors: Error in these cases, except for one rank, where peer copies are
  // required.
  static std::unique_ptr<PeerReduce> connect(const std::string& group, int rank, int size,
                                             int device, const std::shared_ptr<Store>& store);

  // Collective: as PeerMemory::allocate, for the tensors of all_reduce.
  std::shared_ptr<PeerBlock> allocate(size_t nbytes);
  // Whether x can be combined here: a sum or mean of float32 or float64 in memory of allocate().
  // The answer is the same at all ranks where x lies at the same place of a block at each of them.
  bool takes(const Tensor& x, ReduceOp op) const;
  // Queues it on the stream. A piece waits only for pieces in progress that it overlaps.
  void all_reduce(const Tensor& x, ReduceOp op, const cuda::Stream& stream);
  // Makes the stream wait for everything queued so far.
  void follow(const cuda::Stream& stream) const;
  // Ends all waits of this GPU for other ranks; the values are undefined.
  void abort();

 private:
  // A place for one piece in progress: the values of other ranks arrive there.
  struct Slot {
    uint32_t turn = 0;                            // how often it has been used
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
  std::shared_ptr<PeerBlock> desks_;  // by slot and step; null until the first allocate()
  std::array<Slot, kSlots> slots_;
  size_t next_ = 0;
  cuda::Stream release_;  // on which abort() writes
};

}  // namespace gradus::distributed
