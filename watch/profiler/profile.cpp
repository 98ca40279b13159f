// profile: starting, stopping, and what follows from the events; record_function and emit_nvtx.
#include "gradus/watch/profiler/profile.h"

#include <algorithm>
#include <chrono>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/cuda/nvtx.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/tensor/base/warning.h"
#include "gradus/tensor/factories.h"
#include "gradus/watch/profiler/results.h"

namespace gradus::profiler {

namespace {

// The call of a module within which this thread recorded a node; null for none. REQUIRES: the calls
// are sorted by `first`, outer ones before inner ones, and `outer` leads from each to the next
// outer one (-1: none).
const ModuleCall* call_of(uint64_t node, const std::vector<const ModuleCall*>& calls,
                          const std::vector<int64_t>& outer) {
  const auto after = std::ranges::upper_bound(calls, node, {}, &ModuleCall::first);
  int64_t at = after - calls.begin() - 1;
  while (at >= 0 && calls[static_cast<size_t>(at)]->end <= node)
    at = outer[static_cast<size_t>(at)];
  return at < 0 ? nullptr : calls[static_cast<size_t>(at)];
}

// Finds the module of each node of the backward passes. Numbers of nodes count for each thread, and
// a backward pass usually runs on the thread of its forward pass.
void name_backward(Recording& recording) {
  int threads = 0;
  for (const FunctionEvent& event : recording.events) threads = std::max(threads, event.thread + 1);
  for (int thread = 0; thread < threads; ++thread) {
    std::vector<const ModuleCall*> calls;
    for (const ModuleCall& call : recording.modules)
      if (call.thread == thread) calls.push_back(&call);
    std::ranges::sort(calls, [](const ModuleCall* a, const ModuleCall* b) {
      return a->first != b->first ? a->first < b->first : a->end > b->end;
    });
    std::vector<int64_t> outer(calls.size(), -1);
    for (size_t i = 1; i < calls.size(); ++i) {
      auto at = static_cast<int64_t>(i) - 1;
      while (at >= 0 && calls[static_cast<size_t>(at)]->end < calls[i]->end)
        at = outer[static_cast<size_t>(at)];
      outer[i] = at;
    }
    for (const auto& [number, place] : recording.nodes) {
      FunctionEvent& event = recording.events[place];
      if (event.thread != thread) continue;
      if (const ModuleCall* call = call_of(number, calls, outer)) event.module = call->path;
    }
  }
}

// Parents stand before what runs within them.
void resolve(Recording& recording) {
  name_backward(recording);
  std::vector<FunctionEvent>& events = recording.events;
  for (FunctionEvent& event : events) {
    event.self_cpu_time = event.cpu_time;
    event.self_device_time = event.device_time;
    event.is_backward = event.kind == EventKind::Backward;
    if (event.parent < 0 || event.is_backward) continue;
    const FunctionEvent& parent = events[static_cast<size_t>(event.parent)];
    if (!parent.is_backward) continue;
    event.is_backward = true;
    if (event.module.empty()) event.module = parent.module;
  }
  for (size_t i = events.size(); i-- > 0;) {
    const FunctionEvent& event = events[i];
    if (event.parent < 0) continue;
    FunctionEvent& parent = events[static_cast<size_t>(event.parent)];
    parent.self_cpu_time = std::max(0.0, parent.self_cpu_time - event.cpu_time);
    if (parent.kind == EventKind::Operator)
      parent.self_device_time = std::max(0.0, parent.self_device_time - event.device_time);
    else
      parent.device_time += event.device_time;
  }
}

}  // namespace

profile::profile(ProfileOptions options) : options_(std::move(options)) {
  if (options_.activities.contains(ProfilerActivity::CUDA) && !cuda::is_available())
    warn("profile: CUDA is not available, so no time of devices is measured: " +
         cuda::why_unavailable());
  if (options_.schedule)
    turn_to(options_.schedule(0));
  else
    start();
}

profile::~profile() {
  try {
    if (running_) stop();
  } catch (const std::exception&) {  // of the devices' work; it is raised again at their next use
  }
}

void profile::start() {
  Recorder::get().start(options_, /*nvtx=*/false);
  running_ = true;
}

void profile::stop() {
  if (!running_ && options_.schedule) return;
  check<Error>(running_, "profile: stop() where it does not run; call start() first");
  running_ = false;
  auto results = std::make_unique<Results>();
  results->recording = Recorder::get().stop();
  resolve(results->recording);
  results_ = std::move(results);
  if (options_.on_trace_ready) options_.on_trace_ready(*this);
}

void profile::step() {
  ++steps_;
  if (options_.schedule) turn_to(options_.schedule(steps_));
}

void profile::turn_to(ProfilerAction next) {
  const bool records = next == ProfilerAction::RECORD || next == ProfilerAction::RECORD_AND_SAVE;
  if (running_ && (action_ == ProfilerAction::RECORD_AND_SAVE || !records)) stop();
  action_ = next;
  if (records && !running_) start();
}

ProfilerSchedule schedule(const ScheduleOptions& options) {
  const auto [wait, warmup, active, repeat, skip_first] = options;
  check(wait >= 0 && warmup >= 0 && active > 0 && repeat >= 0 && skip_first >= 0,
        "schedule: wait = ", wait, ", warmup = ", warmup, ", active = ", active,
        ", repeat = ", repeat, " and skip_first = ", skip_first,
        "; expected 0 or more, and 1 or more steps that are active");
  return [options](int64_t step) {
    step -= options.skip_first;
    const int64_t cycle = options.wait + options.warmup + options.active;
    if (step < 0 || (options.repeat > 0 && step / cycle >= options.repeat))
      return ProfilerAction::NONE;
    const int64_t at = step % cycle;
    if (at < options.wait) return ProfilerAction::NONE;
    if (at < options.wait + options.warmup) return ProfilerAction::WARMUP;
    return at < cycle - 1 ? ProfilerAction::RECORD : ProfilerAction::RECORD_AND_SAVE;
  };
}

const profile::Results& profile::results(const char* op, bool with_memory) const {
  check<Error>(!running_, op, ": the profile still runs; call stop() before you ask what it saw");
  check<Error>(results_ != nullptr, op, ": stop() failed, so nothing is known; profile again");
  check<Error>(!with_memory || options_.profile_memory, op,
               ": memory was not recorded; set profile_memory = true");
  return *results_;
}

const std::vector<FunctionEvent>& profile::events() const {
  return results("events").recording.events;
}

record_function::record_function(const std::string& name) : recorded_(Recorder::get().is_on()) {
  if (recorded_) Recorder::get().begin(name);
}
record_function::~record_function() {
  if (recorded_) Recorder::get().end();
}

emit_nvtx::emit_nvtx() {
  cuda::nvtx::check_available();
  Recorder::get().start({}, /*nvtx=*/true);
}
emit_nvtx::~emit_nvtx() { Recorder::get().stop(); }

double copy_bandwidth(Device device) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::pair<DeviceType, DeviceIndex>, double>;
  const std::lock_guard lock(mutex);
  double& found = known[{device.type(), device.index()}];
  if (found > 0) return found;
  const NoGradGuard no_grad;
  const bool simulated = device.is_cuda() && cuda::getDeviceProperties(device.index()).simulated;
  // The memory is larger than all caches, unless it is simulated.
  for (int64_t megabytes = simulated ? 1 : 64; megabytes > 0; megabytes /= 2) try {
      const Tensor from = zeros({megabytes << 18}, TensorOptions(kFloat).device(device));
      const Tensor to = empty_like(from);
      double best = 0;  // seconds
      for (int run = 0; run < 4; ++run) {
        if (device.is_cuda()) cuda::synchronize(device.index());
        const auto start = std::chrono::steady_clock::now();
        constexpr int kCopies = 2;
        for (int i = 0; i < kCopies; ++i) to.copy_(from);
        if (device.is_cuda()) cuda::synchronize(device.index());
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        if (run == 1 || (run > 1 && time.count() / kCopies < best)) best = time.count() / kCopies;
      }
      return found = 2.0 * static_cast<double>(from.nbytes()) / best;
    } catch (const OutOfMemoryError&) {
    }
  return 0;
}

}  // namespace gradus::profiler
