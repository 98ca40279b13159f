// The ring: how N ranks add up a tensor that each of them has.
//
// The ranks sit in a circle. Everyone cuts its tensor into N chunks of about the same size, and
// only ever talks to its neighbours: it hands a chunk to the right and gets one from the left.
//
//   1. sum_around. In step s = 0 ... N - 2, rank r hands on chunk r - s, and adds what it gets from
//      the left, chunk r - s - 1, to its own. A chunk grows by one rank's share in every step. With
//      three ranks, where abc is the sum of a, b and c:
//
//          rank 0     rank 1     rank 2                      after the last step
//        [a0 a1 a2] [b0 b1 b2] [c0 c1 c2]      chunk 0: a0 -> ab0 -> abc0   whole at rank 2
//           step 0: a0 to 1, b1 to 2, c2 to 0  chunk 1: b1 -> bc1 -> abc1   whole at rank 0
//           step 1: ca2 to 1, ab0 to 2, ...    chunk 2: c2 -> ca2 -> abc2   whole at rank 1
//
//      Rank r ends with the whole sum of chunk r + 1.
//   2. copy_around. The whole chunks go around once more, and replace what they meet.
//
// Every rank hands on 2 (N - 1) chunks of 1 / N of the tensor: nearly twice its size, however many
// ranks there are, and all links are busy all the time. So large tensors are added this way and
// not, say, at one rank, which would have to receive N - 1 whole tensors.
//
// The sum of a chunk begins at the rank of its number and follows the circle, so its rounding
// depends on nothing else, and all ranks get the same bits.
#include <algorithm>

#include "gradus/cuda/runtime/stream.h"
#include "gradus/distributed/threads/threads_group.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::distributed {

namespace {

// x as `count` pieces, the first ones one element longer where it does not divide; some may be
// empty. The pieces are views.
Tensors cut(const Tensor& x, int count) {
  const Tensor flat = raw::as_strided(x, {x.numel()}, {1}, x.storage_offset());
  const int64_t length = x.numel() / count, longer = x.numel() % count;
  Tensors out;
  for (int64_t i = 0, begin = 0; i < count; ++i) {
    const int64_t size = length + (i < longer);
    out.push_back(raw::narrow(flat, 0, begin, size));
    begin += size;
  }
  return out;
}

// mine = mine (op) theirs.
void combine(const Tensor& mine, const Tensor& theirs, ReduceOp op) {
  if (mine.numel() == 0) return;
  constexpr BinaryOp steps[] = {BinaryOp::add, BinaryOp::add, BinaryOp::minimum, BinaryOp::maximum,
                                BinaryOp::mul};
  raw::zip_(steps[static_cast<size_t>(op)], mine, raw::to(theirs, mine.device()));
}

size_t wrapped(int chunk, int size) { return static_cast<size_t>((chunk % size + size) % size); }

}  // namespace

void settle(const Tensor& x) {
  if (x.is_cuda()) cuda::getCurrentCUDAStream(x.device().index()).synchronize();
}

// Hands a chunk to the right neighbour, and uses what the left one hands on.
template <class Use>
void ThreadsGroup::hand_on(const Tensor& give, Use use) {
  const int left = (rank() + size() - 1) % size();
  settle(give);
  room_->offer(rank(), give, watch());
  const Tensor got = room_->take(left, watch());
  use(got);
  settle(give);
  room_->release(left);
}

void ThreadsGroup::sum_around(const Tensors& chunks, ReduceOp op) {
  for (int step = 0; step < size() - 1; ++step) {
    const Tensor& mine = chunks[wrapped(rank() - step - 1, size())];
    hand_on(chunks[wrapped(rank() - step, size())],
            [&](const Tensor& theirs) { combine(mine, theirs, op); });
  }
  if (op == ReduceOp::AVG)
    raw::zip_(BinaryOp::div, chunks[wrapped(rank() + 1, size())], Scalar(size()));
}

void ThreadsGroup::copy_around(const Tensors& chunks) {
  for (int step = 0; step < size() - 1; ++step) {
    const Tensor& mine = chunks[wrapped(rank() - step, size())];
    hand_on(chunks[wrapped(rank() + 1 - step, size())],
            [&](const Tensor& theirs) { raw::copy_(mine, theirs); });
  }
  room_->await_release(rank(), watch());
}

void ThreadsGroup::all_reduce(const Tensor& x, ReduceOp op) {
  meet();  // nothing changes before all have called the same
  const Tensors chunks = cut(x, size());
  sum_around(chunks, op);
  copy_around(chunks);
}

void ThreadsGroup::reduce_scatter(const Tensor& out, const Tensor& in, ReduceOp op) {
  meet();
  const Tensor sums = raw::clone(in);
  Tensors chunks = cut(sums, size());
  // Rank r ends with chunk r + 1, and is to have chunk r: the chunks move up by one.
  std::rotate(chunks.rbegin(), chunks.rbegin() + 1, chunks.rend());
  sum_around(chunks, op);
  raw::copy_(raw::as_strided(out, {out.numel()}, {1}, out.storage_offset()),
             chunks[wrapped(rank() + 1, size())]);
  room_->await_release(rank(), watch());
}

}  // namespace gradus::distributed
