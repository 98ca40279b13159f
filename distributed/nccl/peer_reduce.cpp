// The ring of all_reduce by copy engines.
#include "gradus/distributed/nccl/peer_reduce.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "gradus/cuda/ops/add_part.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/distributed/nccl/stream_values.h"

namespace gradus::distributed {

namespace {

constexpr int64_t kAlignment = 16;  // of a part, as add_part asks for
constexpr size_t kWordBytes = 4096;

void copy(char* to, const char* from, int64_t nbytes, const cuda::Stream& stream) {
  if (nbytes == 0) return;
  const cudaError_t status =
      cudaMemcpyAsync(to, from, static_cast<size_t>(nbytes), cudaMemcpyDeviceToDevice,
                      static_cast<cudaStream_t>(stream.handle()));
  check<Error>(status == cudaSuccess, "all_reduce: copy of ", nbytes,
               " bytes to another rank's GPU: ", cudaGetErrorString(status));
}

}  // namespace

std::unique_ptr<PeerReduce> PeerReduce::connect(const std::string& group, int rank, int size,
                                                int device, const std::shared_ptr<Store>& store) {
  if (size < 2) return nullptr;
  auto memory = size > kMostRanks ? nullptr : PeerMemory::connect(group, rank, size, device, store);
  check<Error>(memory || peer_copies() != PeerCopies::required,
               "init_process_group: GRADUS_PEER_COPIES is 1, and group '", group, "' has ", size,
               " ranks where ", kMostRanks,
               " are the most, or a rank that says 0, is on another machine, or does not reach all "
               "others' GPUs; leave it unset to let NCCL average gradients there");
  if (!memory) return nullptr;
  return std::unique_ptr<PeerReduce>(new PeerReduce(std::move(memory), rank, size, device));
}

PeerReduce::PeerReduce(std::unique_ptr<PeerMemory> memory, int rank, int size, int device)
    : memory_(std::move(memory)),
      rank_(rank),
      size_(size),
      device_(device),
      desk_bytes_(kPieceBytes / size / kAlignment * kAlignment + kAlignment),
      words_(memory_->allocate(kWordBytes)),
      release_(cuda::getStreamFromPool(/*high_priority=*/true, device)) {}

std::shared_ptr<PeerBlock> PeerReduce::allocate(size_t nbytes) {
  const size_t desks = kSlots * static_cast<size_t>(size_ - 1);
  if (!desks_) desks_ = memory_->allocate(desks * static_cast<size_t>(desk_bytes_));
  return memory_->allocate(nbytes);
}

char* PeerReduce::desk(int owner, size_t slot, int step) const {
  const int64_t number = static_cast<int64_t>(slot) * (size_ - 1) + step;
  return desks_->at(owner) + number * desk_bytes_;
}

uint32_t* PeerReduce::word(int owner, Mark mark, size_t slot, int step) const {
  const size_t number =
      (static_cast<size_t>(mark) * kSlots + slot) * kMostRanks + static_cast<size_t>(step);
  static_assert(kMarks * kSlots * kMostRanks * sizeof(uint32_t) <= kWordBytes);
  return reinterpret_cast<uint32_t*>(words_->at(owner)) + number;
}

bool PeerReduce::takes(const Tensor& x, ReduceOp op) const {
  return cuda::takes_parts(x) && (op == ReduceOp::SUM || op == ReduceOp::AVG) && x.numel() > 0 &&
         memory_->find(x.data_ptr()) != nullptr;
}

void PeerReduce::all_reduce(const Tensor& x, ReduceOp op, const cuda::Stream& stream) {
  const PeerBlock& block = *memory_->find(x.data_ptr());
  const int64_t begin = static_cast<const char*>(x.data_ptr()) - block.at(rank_);
  const auto itemsize = static_cast<int64_t>(x.itemsize());
  const int64_t most = kPieceBytes / itemsize;
  for (int64_t at = 0; at < x.numel(); at += most)
    reduce_piece(block, begin + at * itemsize, std::min(most, x.numel() - at), x.scalar_type(),
                 op == ReduceOp::AVG ? size_ : 1, stream);
}

PeerReduce::Span PeerReduce::span_of(int part, int64_t numel, int64_t itemsize) const {
  const int64_t unit = kAlignment / itemsize, units = (numel + unit - 1) / unit;
  const int64_t share = (units + size_ - 1) / size_ * unit;
  const int64_t number = (part + 2 * size_) % size_;
  const int64_t begin = std::min(numel, number * share), end = std::min(numel, begin + share);
  return {begin * itemsize, (end - begin) * itemsize};
}

// Streams of all ranks wait for one another in one order, that of the calls: so nothing can wait in
// a circle, whatever streams share a queue of the hardware. A desk is free when the same slot is
// used again: what came last in the turn before has been sent off by its owner after his sums.
void PeerReduce::reduce_piece(const PeerBlock& block, int64_t offset, int64_t numel,
                              ScalarType dtype, double divisor, const cuda::Stream& stream) {
  const auto itemsize = static_cast<int64_t>(element_size(dtype));
  const size_t slot = next_++ % kSlots;
  Slot& mine = slots_[slot];
  const int next = (rank_ + 1) % size_, steps = size_ - 1;
  char* const x = block.at(rank_) + offset;
  char* const x_of_next = block.at(next) + offset;
  const char* const end = x + numel * itemsize;
  for (const Slot& other : slots_)
    if (&other == &mine || (other.begin < end && x < other.end)) other.done.block(stream);
  mine.begin = x, mine.end = end;
  const uint32_t turn = ++mine.turn;

  for (int step = 0; step < steps; ++step) {
    const Span sent = span_of(rank_ - step, numel, itemsize);
    copy(desk(next, slot, step), x + sent.begin, sent.size, stream);
    write_value(stream, word(next, kArrived, slot, step), turn);
    wait_value(stream, word(rank_, kArrived, slot, step), turn);
    const Span got = span_of(rank_ - step - 1, numel, itemsize);
    cuda::add_part(x + got.begin, desk(rank_, slot, step), got.size / itemsize, dtype,
                   step + 1 == steps ? divisor : 1, stream);
  }
  for (int step = 0; step < steps; ++step) {
    const Span sent = span_of(rank_ + 1 - step, numel, itemsize);
    copy(x_of_next + sent.begin, x + sent.begin, sent.size, stream);
    write_value(stream, word(next, kGathered, slot, step), turn);
    wait_value(stream, word(rank_, kGathered, slot, step), turn);
  }
  mine.done.record(stream);
}

void PeerReduce::follow(const cuda::Stream& stream) const {
  for (const Slot& slot : slots_) slot.done.block(stream);
}

// Another rank may write a smaller number over it once more, hence several times.
void PeerReduce::abort() {
  memory_->abandon();
  const cuda::DeviceGuard guard(device_);
  const std::vector<uint32_t> beyond(kWordBytes / sizeof(uint32_t), uint32_t{1} << 30);
  for (int again = 0; again < 5; ++again) {
    cudaMemcpyAsync(words_->data(), beyond.data(), kWordBytes, cudaMemcpyHostToDevice,
                    static_cast<cudaStream_t>(release_.handle()));
    cudaStreamSynchronize(static_cast<cudaStream_t>(release_.handle()));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace gradus::distributed
