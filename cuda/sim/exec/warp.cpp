// Operations of the lanes of a warp together. The last lane to arrive computes the results of all.

#include <algorithm>
#include <bit>
#include <sstream>

#include "gradus/cuda/sim/exec/async.h"
#include "gradus/cuda/sim/exec/worker.h"

namespace gradus::cuda::sim {

namespace {

constexpr unsigned kNoLane = ~0u;

// Returns the lane that a shuffle reads; kNoLane for the own value.
unsigned source_of(const Thread& thread, unsigned lane) {
  const unsigned width = thread.width, part = lane / width * width, at = lane % width;
  switch (thread.warp_op) {
    case WarpOp::shuffle:
      return part + thread.argument % width;
    case WarpOp::shuffle_up:
      return at >= thread.argument ? lane - thread.argument : kNoLane;
    case WarpOp::shuffle_down:
      return thread.argument < width - at ? lane + thread.argument : kNoLane;
    case WarpOp::shuffle_xor: {
      const unsigned other = lane ^ thread.argument;
      return other < part + width ? other : kNoLane;
    }
    default:
      return kNoLane;
  }
}

const char* mismatch(const Thread& a, const Thread& b) {
  return a.mask == b.mask
             ? "lanes of one warp meet in different operations; let all lanes of the "
               "mask make the same call"
             : "lanes of one warp meet with different masks; give all of them the same";
}

bool is_shuffle(WarpOp op) { return op >= WarpOp::shuffle && op <= WarpOp::shuffle_xor; }

uint64_t reduce(WarpOp op, uint64_t a, uint64_t b) {
  const auto is_less = [](uint64_t x, uint64_t y) {
    return static_cast<int>(x) < static_cast<int>(y);
  };
  switch (op) {
    case WarpOp::add:
      return static_cast<uint32_t>(a + b);
    case WarpOp::min:
      return std::min(a, b);
    case WarpOp::max:
      return std::max(a, b);
    case WarpOp::smin:
      return is_less(a, b) ? a : b;
    case WarpOp::smax:
      return is_less(a, b) ? b : a;
    case WarpOp::bit_and:
    case WarpOp::all:
      return a & b;
    case WarpOp::bit_or:
    case WarpOp::any:
      return a | b;
    case WarpOp::bit_xor:
      return a ^ b;
    default:
      return 0;
  }
}

}  // namespace

uint64_t Worker::warp(WarpOp op, unsigned mask, uint64_t value, unsigned argument, unsigned width,
                      uintptr_t pc) {
  const Unwatched guard;
  Thread& thread = *current;
  const unsigned lane = thread.linear % kWarp;
  settle_doubt();
  thread.pc = pc;
  thread.call = ++calls_;
  thread.warp_op = op;
  thread.mask = mask;
  thread.argument = argument;
  thread.width = std::has_single_bit(width) && width <= kWarp ? width : kWarp;
  thread.value = value;
  thread.state = State::at_warp;
  if (!(mask >> lane & 1)) {
    report_lanes(thread, nullptr,
                 "the mask leaves out the lane that calls; name every lane that takes part");
    stop_block();
  }
  if (try_complete(thread)) {
    thread.state = State::ready;
    return thread.value;
  }
  wait(State::at_warp);
  return thread.value;
}

// Whether all lanes that the mask of this lane names wait in the same call; lanes that have
// returned do not count. Then all get their results, and all but the running one become ready. A
// lane that waits in another call may arrive here later.
bool Worker::try_complete(Thread& thread) {
  const unsigned begin = thread.linear / kWarp * kWarp;
  const unsigned end = std::min(begin + kWarp, launch->threads());
  unsigned present = 0;
  uint64_t first_call = thread.call;
  const Thread* left = nullptr;  // the last lane that called something else, and that returned
  for (unsigned at = begin; at < end; ++at) {
    if (!(thread.mask >> (at - begin) & 1)) continue;
    if (at >= started_) return false;
    const Thread& other = threads_[at];
    if (other.state == State::stopped) continue;
    if (other.state == State::done) {
      if (!left || other.call > left->call) left = &other;
      continue;
    }
    if (other.state != State::at_warp || other.mask != thread.mask ||
        other.warp_op != thread.warp_op)
      return false;
    present |= 1u << (at - begin);
    first_call = std::min(first_call, other.call);
  }
  if (left && left->call > first_call) report_lanes(thread, left, mismatch(thread, *left));
  finish_call(begin, present);
  for (unsigned at = begin; at < end; ++at)
    if (present >> (at - begin) & 1 && &threads_[at] != current) {
      threads_[at].state = State::ready;
      ready_.push_back(&threads_[at]);
    }
  return true;
}

// `present`: the lanes of the warp at `begin` that made the same call.
void Worker::finish_call(unsigned begin, unsigned present) {
  const unsigned first = begin + static_cast<unsigned>(std::countr_zero(present));
  const WarpOp op = threads_[first].warp_op;
  if (op >= WarpOp::multiply_add) return finish_on_tensor_cores(begin, present);
  uint64_t in[kWarp] = {}, all = threads_[first].value, ballot = 0;
  if (op == WarpOp::sync && launch->checked) sync_lanes(begin, present);
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (!(present >> lane & 1)) continue;
    const Thread& thread = threads_[begin + lane];
    in[lane] = thread.value;
    all = begin + lane == first ? thread.value : reduce(op, all, thread.value);
    ballot |= uint64_t{thread.value != 0} << lane;
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (!(present >> lane & 1)) continue;
    Thread& thread = threads_[begin + lane];
    uint64_t equal = 0;
    for (unsigned other = 0; other < kWarp; ++other)
      if (present >> other & 1 && in[other] == in[lane]) equal |= 1u << other;
    if (op == WarpOp::sync) continue;
    if (is_shuffle(op)) {
      const unsigned source = source_of(thread, lane);
      if (source == kNoLane) continue;
      if (present >> source & 1)
        thread.value = in[source];
      else
        report_lanes(thread, nullptr,
                     "the shuffle reads lane " + std::to_string(source) +
                         ", which takes no part; its value is undefined");
    } else if (op == WarpOp::ballot) {
      thread.value = ballot;
    } else if (op == WarpOp::match_any) {
      thread.value = equal;
    } else if (op == WarpOp::match_all) {
      thread.value = equal == present ? present : 0;
    } else {
      thread.value = all;
    }
  }
}

// Tensor cores work for whole warps. Lanes that were stopped for a mistake of theirs are not
// blamed.
void Worker::finish_on_tensor_cores(unsigned begin, unsigned present) {
  const Thread& first = threads_[begin + static_cast<unsigned>(std::countr_zero(present))];
  const WarpOp op = first.warp_op;
  uint64_t in[kWarp] = {};
  unsigned stopped = 0;
  const Thread* other = nullptr;  // a lane that names another matrix
  for (unsigned lane = 0; lane < kWarp && begin + lane < launch->threads(); ++lane) {
    const Thread& thread = threads_[begin + lane];
    in[lane] = thread.value;
    stopped |= unsigned{thread.state == State::stopped} << lane;
    if (op == WarpOp::matrix && present >> lane & 1 &&
        (thread.value != first.value || thread.argument != first.argument))
      other = &thread;
  }
  if ((present | stopped) != ~0u)
    report_lanes(first, nullptr, "tensor cores work for all 32 lanes of a warp together");
  if (other)
    report_lanes(first, other,
                 "lanes of one warp name different matrices; give all of them the same pointer, "
                 "ldm and layout");
  if (present != ~0u || op == WarpOp::matrix) return;
  op == WarpOp::multiply_add ? multiply_fragments(in) : multiply_matrices(in);
  tensor_products += op == WarpOp::multiply_add ? 16 * 8 * 8 : 16 * 16 * 16;
}

// Tells each lane how far all lanes are, and what they knew of the others.
void Worker::sync_lanes(unsigned begin, unsigned present) {
  met_.share(std::bitset<kMostThreads>(present) << begin);
  std::array<uint64_t, kWarp> all{};
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (!(present >> lane & 1)) continue;
    const Thread& thread = threads_[begin + lane];
    for (unsigned other = 0; other < kWarp; ++other)
      all[other] = std::max(all[other], synced_[begin + lane][other]);
    all[lane] = clock(thread.interval, thread.epoch);
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (!(present >> lane & 1)) continue;
    Thread& thread = threads_[begin + lane];
    synced_[begin + lane] = all;
    if (++thread.epoch == 0) thread.interval = launch->intervals->take(block_number_);
  }
  if (async_) async_->sync_lanes(begin, present);
}

// A thread has ended. Others may have waited for it alone.
void Worker::complete_without(const Thread& ended) {
  const unsigned begin = ended.linear / kWarp * kWarp, end = std::min(begin + kWarp, started_);
  for (unsigned at = begin; at < end; ++at)
    if (threads_[at].state == State::at_warp && threads_[at].mask >> (ended.linear - begin) & 1)
      try_complete(threads_[at]);
}

// Reports threads that wait for lanes that will never arrive.
void Worker::report_stuck() {
  if (stopped_ > 0) return;
  const auto end = threads_.begin() + launch->threads();
  const auto waits = [](const Thread& each) { return each.state == State::at_warp; };
  const auto of_cluster = std::find_if(
      threads_.begin(), end, [](const Thread& each) { return each.state == State::at_cluster; });
  if (of_cluster != end) {
    launch->sightings.add(Kind::barrier, of_cluster->pc, 0, [&] {
      Sighting out{Kind::barrier,
                   "threads of the cluster never come to this barrier (barrier.cluster); let every "
                   "thread of every block reach it",
                   {}};
      out.sides.push_back(side("waits", *of_cluster, {of_cluster->pc}));
      return out;
    });
    return;
  }
  // The clearest report names two lanes that wait for each other.
  for (auto lane = threads_.begin(); lane != end; ++lane) {
    if (!waits(*lane)) continue;
    const unsigned begin = lane->linear / kWarp * kWarp;
    for (auto other = std::next(lane); other != end && other->linear < begin + kWarp; ++other)
      if (waits(*other) && (lane->mask >> (other->linear - begin) & 1)) {
        if (other->mask == lane->mask && other->warp_op == lane->warp_op) continue;
        return report_lanes(*lane, &*other, mismatch(*lane, *other));
      }
  }
  const Thread& lane = *std::find_if(threads_.begin(), end, waits);
  const unsigned begin = lane.linear / kWarp * kWarp;
  const auto other = std::find_if(threads_.begin() + begin, end, [&](const Thread& each) {
    return each.state == State::at_barrier && each.linear < begin + kWarp &&
           (lane.mask >> (each.linear - begin) & 1);
  });
  report_lanes(lane, other == end ? nullptr : &*other,
               "lanes that the mask names are elsewhere; let all of them make the call, or leave "
               "them out of the mask");
}

void Worker::report_lanes(const Thread& thread, const Thread* other, const std::string& message) {
  launch->sightings.add(Kind::warp, thread.pc, other ? other->pc : 0, [&] {
    const auto mask = [](const Thread& each) {
      std::ostringstream text;
      text << "is lane " << each.linear % kWarp;
      if (each.state == State::at_barrier)
        text << ", waits at a barrier";
      else
        text << ", mask 0x" << std::hex << each.mask;
      if (each.state == State::done) text << ", has returned since";
      return text.str();
    };
    Sighting out{Kind::warp, message, {}};
    out.sides.push_back(side(mask(thread), thread, {thread.pc}));
    if (other) out.sides.push_back(side(mask(*other), *other, {other->pc}));
    return out;
  });
}

unsigned Worker::active_lanes(uintptr_t pc) {
  const Unwatched guard;
  Thread& thread = *current;
  thread.pc = pc;
  wait(State::at_activemask);
  return static_cast<unsigned>(thread.value);
}

// The active lanes are those that wait at one place when no lane of the warp can run: by then other
// lanes have returned or taken another branch. REQUIRES: every thread has started, and none can
// run.
bool Worker::release_active_lanes() {
  const unsigned threads = launch->threads();
  for (unsigned at = 0; at < threads; ++at) {
    if (threads_[at].state != State::at_activemask) continue;
    const unsigned begin = at / kWarp * kWarp, end = std::min(begin + kWarp, threads);
    const auto together = [&](const Thread& other) {
      return other.state == State::at_activemask && other.pc == threads_[at].pc;
    };
    uint64_t lanes = 0;
    for (unsigned other = at; other < end; ++other)
      lanes |= uint64_t{together(threads_[other])} << (other - begin);
    for (unsigned other = at; other < end; ++other) {
      if (!(lanes >> (other - begin) & 1)) continue;
      threads_[other].value = lanes;
      threads_[other].state = State::ready;
      ready_.push_back(&threads_[other]);
    }
  }
  return !ready_.empty();
}

uint64_t warp_call(WarpOp op, unsigned mask, uint64_t value, unsigned argument, unsigned width) {
  return here->warp(op, mask, value, argument, width, GRADUS_SIM_CALLER);
}

}  // namespace gradus::cuda::sim

unsigned __activemask() { return gradus::cuda::sim::here->active_lanes(GRADUS_SIM_CALLER); }
