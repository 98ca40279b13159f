// NanWatcher: what runs where, and what is told of the NaN that it makes.
#pragma once

#include <atomic>
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

// An operation that runs.
struct NamedOperation {
  const char *function, *chosen;  // as profiler::operation_name takes them
  const CheckedOperation& checked;
  int parameters;  // of an optimizer's step: the first results
};

// The facts of an operation that messages tell. Every operation is noted, and a message tells of
// one. So names are joined later, and a note that is written over keeps its memory.
struct OperationNote {
  uint64_t number = 0;
  const char *function = "an operation that is not known any more", *chosen = nullptr;
  std::shared_ptr<const std::string> module, node;  // null where there is none
  NanReport::Phase phase = NanReport::Phase::Forward;
  Device device = kCPU;
  std::vector<void*> frames;    // return addresses of the call
  std::vector<int64_t> shapes;  // of results, then operands: each its rank, then its sizes
  int results = 0;              // how many of the shapes
  ScalarType dtype = kFloat;    // of the operands, or of the results
  bool complex = false;         // the results are
  int parameters = 0;           // as above
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
  void describe(const NamedOperation& operation, OperationNote& note);
  // Keeps the note of an operation on a GPU, which may tell later. captured: it may do so in every
  // replay.
  void keep(const NamedOperation& operation, bool captured);
  // Throws, or calls back. Errors: NanError.
  void tell(const OperationNote& note, const NonfiniteFinding& finding);

  void begin(const nn::Module& module) noexcept override;
  void begin(const Node& node) noexcept override;
  void begin(const optim::Optimizer& optimizer) noexcept override;
  void begin(const amp::ScaledPass& pass) noexcept override;
  void end() noexcept override;

 private:
  struct Open;

  struct Thread;

  Thread& thread();
  bool is_open(bool Open::*kind);
  static void tell_of_device(int device, const NonfiniteFinding& finding);

  std::atomic<uint64_t> session_{0};
  std::atomic<bool> looks_{false};  // the innermost guard does not rest
  std::atomic<int> scaled_{0};      // passes that a GradScaler handles
  std::mutex mutex_;                // guards what follows
  std::vector<std::shared_ptr<NanGuard::State>> guards_;
  std::set<const amp::GradScaler*> scalers_;
  std::vector<OperationNote> notes_;  // the last ones; the oldest is written over
  size_t next_note_ = 0;
  std::unordered_map<uint64_t, OperationNote> captured_;
};

}  // namespace guarding
}  // namespace gradus
