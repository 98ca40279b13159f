// What the lanes of a warp do together: they meet, and the last to come works out all results.

#include <algorithm>
#include <bit>

#include "gradus/cuda/sim/worker.h"

namespace gradus::cuda::sim {

namespace {

constexpr unsigned kNoLane = ~0u;

// The lane that a shuffle reads; kNoLane for the own value.
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
  const unsigned lane = thread.linear % kWarp, begin = thread.linear - lane;
  thread.pc = pc;
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
  for (unsigned other = begin; other < std::min(begin + kWarp, started_); ++other) {
    Thread& it = threads_[other];
    if (&it == &thread || it.state != State::at_warp || !(mask >> (other - begin) & 1)) continue;
    if (it.mask == mask && it.warp_op == op) continue;
    report_lanes(thread, &it,
                 it.mask == mask
                     ? "lanes of one warp meet in different operations; let all lanes of the mask "
                       "make the same call"
                     : "lanes of one warp meet with different masks; give all of them the same");
    stop_block();
  }
  if (try_complete(thread)) {
    thread.state = State::ready;
    return thread.value;
  }
  wait(State::at_warp);
  return thread.value;
}

// Whether every lane that the mask of this one names, and that has not returned, is here; then all
// of them get their results, and all but the one that runs become ready.
bool Worker::try_complete(Thread& thread) {
  const unsigned begin = thread.linear / kWarp * kWarp;
  const unsigned end = std::min(begin + kWarp, launch->threads());
  unsigned present = 0;
  for (unsigned at = begin; at < end; ++at) {
    if (!(thread.mask >> (at - begin) & 1)) continue;
    if (at >= started_) return false;
    const State state = threads_[at].state;
    if (state == State::at_warp)
      present |= 1u << (at - begin);
    else if (state != State::done && state != State::stopped)
      return false;
  }
  finish_call(begin, present);
  for (unsigned at = begin; at < end; ++at)
    if (present >> (at - begin) & 1 && &threads_[at] != current) {
      threads_[at].state = State::ready;
      ready_.push_back(&threads_[at]);
    }
  return true;
}

// `present` are lanes of the warp at `begin` that made the same call.
void Worker::finish_call(unsigned begin, unsigned present) {
  const unsigned first = begin + static_cast<unsigned>(std::countr_zero(present));
  const WarpOp op = threads_[first].warp_op;
  uint64_t in[kWarp] = {}, all = threads_[first].value, ballot = 0;
  uint8_t epoch = 0;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (!(present >> lane & 1)) continue;
    const Thread& thread = threads_[begin + lane];
    in[lane] = thread.value;
    all = begin + lane == first ? thread.value : reduce(op, all, thread.value);
    ballot |= uint64_t{thread.value != 0} << lane;
    epoch = std::max(epoch, thread.epoch);
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (!(present >> lane & 1)) continue;
    Thread& thread = threads_[begin + lane];
    uint64_t equal = 0;
    for (unsigned other = 0; other < kWarp; ++other)
      if (present >> other & 1 && in[other] == in[lane]) equal |= 1u << other;
    if (op == WarpOp::sync) {
      thread.epoch = static_cast<uint8_t>(epoch + 1);
    } else if (is_shuffle(op)) {
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

// A thread has ended: others may have waited for it alone.
void Worker::complete_without(const Thread& ended) {
  const unsigned begin = ended.linear / kWarp * kWarp, end = std::min(begin + kWarp, started_);
  for (unsigned at = begin; at < end; ++at)
    if (threads_[at].state == State::at_warp && threads_[at].mask >> (ended.linear - begin) & 1)
      try_complete(threads_[at]);
}

unsigned Worker::active_lanes(uintptr_t pc) {
  const Unwatched guard;
  Thread& thread = *current;
  thread.pc = pc;
  wait(State::at_activemask);
  return static_cast<unsigned>(thread.value);
}

// Active are the lanes that wait at one place when none of the warp can go on: lanes that return,
// or take another branch, have done so by then. REQUIRES: every thread has started, and none can
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
