// NanWatcher: what runs where, and what is told of the NaN that it makes.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "gradus/autograd/engine/node.h"
#include "gradus/nn/module.h"
#include "gradus/optim/grad_scaler.h"
#include "gradus/optim/optimizer.h"
#include "gradus/tensor/base/observed.h"
#include "gradus/tensor/nonfinite.h"
#include "gradus/watch/guard/nan_guard.h"
#include "gradus/watch/profiler/open_calls.h"

namespace gradus {

struct NanGuard::State {
  Callback callback;
  bool told = false;  // guarded by the watcher's mutex
};

namespace guarding {

// An operation, as messages describe it.
struct OperationNote {
  std::string operation;
  std::shared_ptr<const std::string> module;
  NanReport::Phase phase = NanReport::Phase::Forward;
  Device device = kCPU;
  std::vector<void*> frames;                            // return addresses of the call
  std::vector<std::vector<int64_t>> results, operands;  // shapes
  ScalarType dtype = kFloat;                            // of the operands, or of the results
  bool complex = false;                                 // the results are
  int parameters = 0;                                   // of an optimizer's step: the first results
};

// One for the process. Every function may be called by any thread.
class NanWatcher final : public Observer<nn::Module>,
                         public Observer<Node>,
                         public Observer<optim::Optimizer>,
                         public Observer<amp::ScaledPass> {
 public:
  static NanWatcher& get();

  void add(std::shared_ptr<NanGuard::State> guard);
  void remove(const std::shared_ptr<NanGuard::State>& guard);
  void reset(const std::shared_ptr<NanGuard::State>& guard);

  // Whether an operation of this thread is looked at now.
  bool looks();
  // Describes an operation that this thread runs.
  OperationNote note(std::string operation, const CheckedOperation& of, int parameters);
  // Keeps the note of an operation on a GPU, which may tell later. captured: it may do so in every
  // replay.
  void keep(uint64_t number, OperationNote note, bool captured);
  // Throws, or calls back. Errors: NanError.
  void tell(const OperationNote& note, const NonfiniteFinding& finding);

  void begin(const nn::Module& module) noexcept override;
  void begin(const Node& node) noexcept override;
  void begin(const optim::Optimizer& optimizer) noexcept override;
  void begin(const amp::ScaledPass& pass) noexcept override;
  void end() noexcept override;

 private:
  struct Open;

  profiler::OpenCalls<Open>& thread();
  bool is_open(bool Open::*kind);
  static void tell_of_device(int device, const NonfiniteFinding& finding);

  std::atomic<uint64_t> session_{0};
  std::atomic<bool> looks_{false};  // the innermost guard does not rest
  std::atomic<int> scaled_{0};      // passes that a GradScaler handles
  std::mutex mutex_;                // guards what follows
  std::vector<std::shared_ptr<NanGuard::State>> guards_;
  std::set<const amp::GradScaler*> scalers_;
  std::deque<std::pair<uint64_t, OperationNote>> notes_;
  std::unordered_map<uint64_t, OperationNote> captured_;
};

}  // namespace guarding
}  // namespace gradus
