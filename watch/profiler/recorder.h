// Recorder: what a running profile is told, kept until it stops.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gradus/autograd/engine/node.h"
#include "gradus/cuda/runtime/event.h"
#include "gradus/nn/module.h"
#include "gradus/optim/optimizer.h"
#include "gradus/tensor/backend.h"
#include "gradus/tensor/base/observed.h"
#include "gradus/watch/profiler/open_calls.h"
#include "gradus/watch/profiler/profile.h"

namespace gradus::profiler {

// A tensor was allocated, or the last handle to it has gone.
struct MemoryChange {
  double time;    // microseconds, as that of a FunctionEvent
  int64_t bytes;  // negative: freed
  Device device;
  size_t tensor;  // in Recording::tensors
};

// A tensor's memory, and the first operation that used it: the one that computed it.
struct MadeTensor {
  int64_t bytes = 0;
  Device device = Device(kCPU);
  std::string maker, module;
  std::vector<int64_t> sizes;
};

// The modules' calls by the numbers of the nodes that they recorded.
struct ModuleCall {
  int thread;
  uint64_t first, end;  // sequence numbers
  std::string path, type;
  size_t event;
};

// Whether memory of `device` is meant by `which`, which may lack an index.
inline bool is_of(Device device, Device which) {
  return device.type() == which.type() && (which.index() < 0 || device == which);
}

// Everything that one profile saw.
struct Recording {
  std::vector<FunctionEvent> events;
  std::vector<std::pair<uint64_t, size_t>> nodes;  // sequence number and event of a backward
  std::vector<ModuleCall> modules;
  std::vector<MemoryChange> memory;
  std::vector<MadeTensor> tensors;
};

// An operation, as the backend that hands it on describes it.
struct Operation {
  std::string name;
  std::vector<const Tensor*> tensors;
  int64_t bytes = 0;
  Device device = Device(kCPU);
};

// One for the process. Every function may be called by any thread.
class Recorder final : public Observer<nn::Module>,
                       public Observer<Node>,
                       public Observer<optim::Optimizer> {
 public:
  static Recorder& get();

  // Whether anything is told to it.
  bool is_on() const { return on_.load(std::memory_order_relaxed); }

  // Errors: Error where it runs already.
  void start(const ProfileOptions& options, bool nvtx);
  // Errors: those of the devices' work.
  Recording stop();

  void begin(const nn::Module& module) noexcept override;
  void begin(const Node& node) noexcept override;
  void begin(const optim::Optimizer& optimizer) noexcept override;
  void end() noexcept override;

  // Each is followed by an end().
  void begin(const Operation& operation) noexcept;
  void begin(const std::string& annotation) noexcept;

  // Notes an allocation, and hands out the storage so that its end is noted too.
  StoragePtr allocated(StoragePtr storage);
  // The largest live tensors on the device with what made them, in lines.
  std::string largest_tensors(Device device);

 private:
  struct Open;
  struct Thread;
  struct Marks {
    size_t event;
    cuda::Event begin, end;
  };
  struct Base {  // where the clocks of a device and the host meet
    cuda::Event event{true};
    double time = 0;
  };

  Thread& thread();
  double now() const;
  // REQUIRES, of those below: mutex_ is held.
  bool open(Thread& thread, Open& opened, EventKind kind, std::string name);
  void note_makers(const Operation& operation, size_t event);
  cuda::Event spare_event();
  void resolve_devices(Recording& recording);

  template <class F>
  void begin_quietly(F f) noexcept;
  void freed(const StorageImpl* storage) noexcept;

  std::atomic<bool> on_{false};
  std::atomic<uint64_t> session_{0};
  std::mutex mutex_;  // guards what follows
  ProfileOptions options_;
  bool nvtx_ = false, devices_ = false, modules_ = false;
  int threads_ = 0;
  int64_t started_ = 0;  // nanoseconds of the steady clock
  Recording recording_;
  std::unordered_map<const StorageImpl*, size_t> live_;  // places in recording_.tensors
  std::deque<Marks> marks_;
  std::vector<cuda::Event> spare_;
};

}  // namespace gradus::profiler
