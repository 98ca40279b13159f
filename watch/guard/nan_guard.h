// NanGuard: the first NaN or infinity of a training, by module, operation and line.
//
//   NanGuard guard;  // for this scope
//   for (auto& [x, y] : batches) train(x, y);
//   // NanGuard: blocks.3.attn.proj (Linear), matmul, forward, train.cpp:41: 512 of 65,536 outputs
//   // are NaN, first at [3, 17]; inputs are finite, largest 6.1e4 in float16
//
// GRADUS_NAN_GUARD=1 in the environment has a guard for the whole program, without a change of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gradus/tensor/base/device.h"
#include "gradus/tensor/base/error.h"

namespace gradus {

// The report of a NanGuard.
struct NanReport {
  enum class Phase : uint8_t { Forward, Backward, Optimizer };

  std::string message;    // all of the below, and the inputs, in a line
  std::string module;     // "blocks.3.attn.proj (Linear)"; empty outside of modules
  std::string operation;  // "matmul"; "matmul in AddmmBackward0"
  // Where the program called it, "train.cpp:41": of a backward pass, the forward call. Empty where
  // it is not known (docs/watching.md).
  std::string line;
  Phase phase = Phase::Forward;  // the part of a step
  Device device = kCPU;
  // Whether the operation made it. Otherwise an operand had it, and no operation before: a batch
  // or a parameter.
  bool made = true;
  int64_t nans = 0, infinities = 0, numel = 0;  // of its results
  std::vector<int64_t> first;  // the place of the first one, in the results or in the operand
};

// The error that a NanGuard throws, with the report's message. Modules and nodes that the error
// passes add nothing, since a GPU tells of an operation while another one is called.
class NanError : public Error {
 public:
  explicit NanError(NanReport report) : Error(report.message), report_(std::move(report)) {}
  const char* what() const noexcept override { return report_.message.c_str(); }
  const NanReport& report() const { return report_; }

 private:
  NanReport report_;
};

// While it lives, every operation is looked at, of all threads: forward, backward and in the steps
// of optimizers. Found is the first operation whose results have
//
//   - a NaN, and no operand has one: the operation made it;
//   - an infinity, and no operand has one: the operation made it. Numbers that a program gives are
//     operands. So masked_fill(mask, -INFINITY) and full({n}, INFINITY) are not found, nor what
//     adds such a mask; log() of 0 is;
//   - a NaN that came with an operand, and that no operation made: a batch or a parameter has it.
//
// Not looked at is what only moves elements (copies, views, joins, indices, sorting) or keeps them
// finite (relu, tanh), and random numbers. A copy to another dtype is looked at, since it may
// overflow. Factorizations are looked at, but for matrices whose `info` is not 0: info or a
// LinAlgError tells of those. A GradScaler passes over a step whose gradients are not finite. So
// backward passes and changes of gradients are not looked at from its scale() to the end of its
// update().
//
// The CPU tells at once: the call of the operation throws NanError, and its result is written. A
// GPU tells where the host next waits for it or starts a kernel: item(), a copy to the CPU,
// synchronize(), check(). Work that is captured for a graph (cuda::make_graphed) is looked at in
// each replay, where a guard lived at the capture.
class NanGuard {
 public:
  using Callback = std::function<void(const NanReport&)>;

  // Throws NanError for what it finds.
  NanGuard() : NanGuard(nullptr) {}
  // Calls `callback` instead, once, on the thread that found it; then it rests until reset(). The
  // innermost of several guards reports.
  explicit NanGuard(Callback callback);
  // Waits for the GPUs that were looked at. A finding is a warning then, since it cannot be thrown.
  ~NanGuard();
  NanGuard(const NanGuard&) = delete;
  NanGuard& operator=(const NanGuard&) = delete;

  // Waits for the GPUs that were looked at. Errors: NanError.
  void check();
  // Looks for the next one, where a callback has told of one.
  void reset();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

namespace detail {
// Starts the guard of GRADUS_NAN_GUARD=1. Returns whether there is one.
bool start_nan_guard_of_environment();
}  // namespace detail

}  // namespace gradus
