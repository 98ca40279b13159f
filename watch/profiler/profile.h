// profile: what a program's time and memory go to, by operation and by module, under the names of
// torch.profiler.
//
//   profiler::profile prof({.record_shapes = true, .with_modules = true});  // starts
//   for (int step = 0; step < 5; ++step) train(batch);
//   prof.stop();
//   std::cout << prof.key_averages().table("self_cpu_time_total", 10);
//   prof.export_chrome_trace("trace.json");  // for ui.perfetto.dev
//
// Operations are seen at the functions of Backend (tensor/table/backend.def), which every
// computation of the library passes: a profile puts backends that note each call in the place of
// the library's own (exchange_backend). So an operation pays nothing where no profile runs, and one
// place sees forward and backward passes, optimizers and chains that `fuse` has made. Views compute
// nothing and are not seen. Modules, nodes of a backward pass and steps of optimizers say where an
// operation belongs (tensor/base/observed.h).
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gradus/tensor/base/device.h"

namespace gradus::profiler {

enum class ProfilerActivity : uint8_t { CPU, CUDA };

// The action of a profile in a step. WARMUP records nothing, as NONE: steps pass until what is made
// at first is there. RECORD_AND_SAVE is the last step of those that are recorded together.
enum class ProfilerAction : uint8_t { NONE, WARMUP, RECORD, RECORD_AND_SAVE };
using ProfilerSchedule = std::function<ProfilerAction(int64_t step)>;

struct ScheduleOptions {
  int64_t wait = 0, warmup = 0, active = 1;
  int64_t repeat = 0;  // 0: to the end
  int64_t skip_first = 0;
};
// Skips some steps; then it waits, warms up and records, over and over.
// Errors: ValueError for a negative number, and unless active is positive.
ProfilerSchedule schedule(const ScheduleOptions& options);

class profile;

struct ProfileOptions {
  // CUDA: the time of devices, measured by events around what an operation queues. CPU: the host's
  // time, which is measured in any case. Empty: all that there is.
  std::set<ProfilerActivity> activities = {};
  bool record_shapes = false;   // of the operands and results of each operation
  bool profile_memory = false;  // allocations, and what made the tensors that live
  bool with_modules = false;    // the path of the module of each operation
  // The steps that are recorded, as step() counts them; empty: all.
  ProfilerSchedule schedule = {};
  // Called whenever recording has ended, to write what was seen.
  std::function<void(profile&)> on_trace_ready = {};
};

// The kinds of events.
enum class EventKind : uint8_t { Operator, Module, Backward, Optimizer, Annotation };

// One call. Times are microseconds since the profile was started.
struct FunctionEvent {
  EventKind kind = EventKind::Operator;
  std::string name;          // "matmul", "relu", "AddmmBackward0", "Linear"
  std::string module;        // "LeNet.fc1": the module in whose call it was made
  bool is_backward = false;  // within a backward pass; `module` is then that of the forward call
  int thread = 0;
  int64_t parent = -1;  // the event within which this one ran
  double start = 0, cpu_time = 0, self_cpu_time = 0;
  // The time of a CUDA device. Events that are no operations have the sum of what is within them.
  double device_start = 0, device_time = 0, self_device_time = 0;
  Device device = kCPU;
  // Read and written, each operand once. 0 where it is not known.
  int64_t bytes = 0;
  int64_t cpu_memory = 0, device_memory = 0;  // of the tensors that it made
  std::vector<std::vector<int64_t>> input_shapes = {};
};

// The events of one name. Times are microseconds; averages are cpu_time() and device_time().
struct FunctionEventAvg {
  std::string key;
  EventKind kind = EventKind::Operator;
  int64_t count = 0;
  double cpu_time_total = 0, self_cpu_time_total = 0;
  double device_time_total = 0, self_device_time_total = 0;
  int64_t bytes = 0, cpu_bytes = 0;  // of all; of those on the CPU
  int64_t cpu_memory_usage = 0, device_memory_usage = 0;
  std::string input_shapes = "";

  double cpu_time() const { return cpu_time_total / static_cast<double>(count); }
  double device_time() const { return device_time_total / static_cast<double>(count); }
};

class EventList : public std::vector<FunctionEventAvg> {
 public:
  double self_cpu_time_total() const;
  double self_device_time_total() const;
  // Columns as PyTorch's table has them, and two more: the bytes that operations move, and which
  // share that is of what a copy moves in the time (copy_bandwidth). sort_by: "cpu_time",
  // "device_time", "cpu_time_total", "device_time_total", "self_cpu_time_total",
  // "self_device_time_total", "cpu_memory_usage", "device_memory_usage", "bytes" or "count"; "cuda"
  // may stand for "device". Empty: in order of the first call.
  // Errors: ValueError for another sort_by and a row_limit below 1.
  std::string table(const std::string& sort_by = "", int64_t row_limit = 100) const;
};

// The calls of one module.
struct ModuleAvg {
  std::string path;  // "LeNet.fc1"
  std::string type;  // "Linear"
  int64_t count = 0;
  // Time of what it calls is part of it. backward: the nodes that its forward passes recorded.
  double cpu_time_total = 0, device_time_total = 0;
  double backward_cpu_time_total = 0, backward_device_time_total = 0;
  int64_t bytes = 0;
};
class ModuleList : public std::vector<ModuleAvg> {
 public:
  std::string table(int64_t row_limit = 100) const;
};

// Starts where it is made and ends with its scope, or before by stop(). Threads share it. One runs
// at a time.
class profile {
 public:
  // Errors: Error where another one runs. A warning where CUDA is asked for and there is none.
  explicit profile(ProfileOptions options = {});
  ~profile();
  profile(const profile&) = delete;
  profile& operator=(const profile&) = delete;

  // Forgets what was seen, and begins anew. Errors: Error where one runs.
  void start();
  // Waits for the devices, once. Errors: those of the devices' work and of on_trace_ready; Error
  // where it does not run, unless a schedule is waiting.
  void stop();
  // The next step begins, which a schedule may record. Errors: as start() and stop().
  void step();

  // Errors, of all below: Error where the profile still runs.
  const std::vector<FunctionEvent>& events() const;
  // group_by_input_shape: other shapes are another row; needs record_shapes.
  EventList key_averages(bool group_by_input_shape = false) const;
  // Rows are in order of the first call. Errors: Error without with_modules.
  ModuleList module_averages() const;
  // A JSON file of the Trace Event Format, which ui.perfetto.dev and chrome://tracing open. The
  // folder is made where it is missing. An older file of this name is replaced when the new one is
  // complete.
  void export_chrome_trace(const std::string& path) const;
  // The memory of tensors over time, by the operations that made them: a picture where the path
  // ends with ".svg", else JSON: times and bytes. Errors: Error without profile_memory.
  void export_memory_timeline(const std::string& path, Device device = Device(kCPU)) const;
  // The same picture as text.
  std::string memory_timeline(Device device = Device(kCPU)) const;

 private:
  struct Results;
  // Messages begin with `op`. Errors: Error where there are none, or no memory in them.
  const Results& results(const char* op, bool with_memory = false) const;
  void turn_to(ProfilerAction next);

  ProfileOptions options_;
  ProfilerAction action_ = ProfilerAction::NONE;
  int64_t steps_ = 0;
  std::unique_ptr<Results> results_;
  bool running_ = false;
};

// Gives what runs in its scope a name in a profile, and in an emit_nvtx. Costs the load of a flag
// where neither is.
class record_function {
 public:
  explicit record_function(const std::string& name);
  ~record_function();
  record_function(const record_function&) = delete;
  record_function& operator=(const record_function&) = delete;

 private:
  bool recorded_;
};

// While it lives, operations, modules, nodes of backward passes and record_function are ranges of
// NVTX, which Nsight Systems shows (`nsys profile PROGRAM`).
// Errors: Error where NVTX cannot be loaded, or a profile or another one runs.
class emit_nvtx {
 public:
  emit_nvtx();
  ~emit_nvtx();
  emit_nvtx(const emit_nvtx&) = delete;
  emit_nvtx& operator=(const emit_nvtx&) = delete;
};

// Bytes that a large copy reads and writes in a second, measured at the first call for a device; 0
// where there is no memory to measure it.
double copy_bandwidth(Device device);

}  // namespace gradus::profiler

namespace gradus::autograd {
namespace profiler = gradus::profiler;
}  // namespace gradus::autograd
