// The events of all threads, and what is computed from them when a profile stops.
#include "gradus/watch/profiler/recorder.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "gradus/autograd/engine/graph_task.h"
#include "gradus/cuda/nvtx.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/cuda/runtime/graph.h"
#include "gradus/nn/named_class.h"
#include "gradus/watch/module_path.h"
#include "gradus/watch/profiler/device_layers.h"
#include "gradus/watch/profiler/profiling_backend.h"
#include "gradus/watch/text.h"

namespace gradus::profiler {

namespace {

constexpr double kMicrosecond = 1e-3;  // of nanoseconds
constexpr double kMillisecond = 1e3;   // of microseconds

int64_t clock_now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

// An event that runs.
struct Recorder::Open {
  size_t event = 0;
  const nn::Module* module = nullptr;  // of an event of a module, with its path
  std::string path = "";
  uint64_t first_node = 0;
  cuda::Event device_begin{true};
  int stream_device = -1;  // of device_begin, where it was recorded
};

struct Recorder::Thread {
  OpenCalls<Open> calls;
  int number = 0;
  std::map<std::string, std::vector<const nn::Module*>> instances;  // by path, as they came
};

Recorder& Recorder::get() {
  static Recorder& recorder = *new Recorder;  // as observers must, it outlives every thread
  return recorder;
}

Recorder::Thread& Recorder::thread() {
  thread_local Thread mine;
  if (mine.calls.enter(session_.load(std::memory_order_relaxed))) {
    mine.instances.clear();
    mine.number = threads_++;
  }
  return mine;
}

double Recorder::now() const { return static_cast<double>(clock_now() - started_) * kMicrosecond; }

void Recorder::start(const ProfileOptions& options, bool nvtx) {
  const std::lock_guard lock(mutex_);
  check<Error>(!is_on(), nvtx ? "emit_nvtx" : "profile",
               ": a profile or an emit_nvtx runs already, and there is one at a time; stop() it "
               "first");
  options_ = options;
  nvtx_ = nvtx;
  devices_ = !nvtx && cuda::is_available() &&
             (options.activities.empty() || options.activities.contains(ProfilerActivity::CUDA));
  recording_ = {};
  live_.clear();
  threads_ = 0;
  started_ = clock_now();
  session_.fetch_add(1, std::memory_order_relaxed);
  on_.store(true, std::memory_order_relaxed);
  modules_ = options.with_modules || nvtx;
  if (modules_) Observer<nn::Module>::add(*this);
  Observer<Node>::add(*this);
  Observer<optim::Optimizer>::add(*this);
  DeviceLayers<ProfilingBackend>::install();
}

// Begins the event of a call, or a range of NVTX where those are asked for. Returns whether there
// is an event.
bool Recorder::open(Thread& thread, Open& opened, EventKind kind, std::string name) {
  if (nvtx_) {
    cuda::nvtx::range_push(name);
    return false;
  }
  FunctionEvent event;
  event.kind = kind;
  event.name = std::move(name);
  event.thread = thread.number;
  const auto& calls = thread.calls.all();
  if (const Open* const within = thread.calls.module()) event.module = within->path;
  if (calls.size() > 1) event.parent = static_cast<int64_t>((calls.end() - 2)->event);
  event.cpu_time = -1;  // it runs
  opened.event = recording_.events.size();
  recording_.events.push_back(std::move(event));
  return true;
}

template <class F>
void Recorder::begin_quietly(F f) noexcept {
  const std::lock_guard lock(mutex_);
  Thread& mine = thread();
  if (!is_on()) return mine.calls.leave_out();
  mine.calls.begin([&](Open& opened) {
    f(mine, opened);
    if (!nvtx_) recording_.events[opened.event].start = now();
  });
}

void Recorder::begin(const nn::Module& module) noexcept {
  begin_quietly([&](Thread& mine, Open& opened) {
    const std::string type = nn::short_class_name(module);
    if (!nvtx_) {
      opened.path = type;
      if (const Open* const holder = mine.calls.module()) {
        const std::string name = watch::path_below(*holder->module, module);
        opened.path = holder->path + '.' + (name.empty() ? type : name);
      }
      // Modules that no other one holds may have one path: "Linear", "Linear (2)".
      std::vector<const nn::Module*>& known = mine.instances[opened.path];
      const auto number = std::ranges::find(known, &module) - known.begin();
      if (number == std::ssize(known)) known.push_back(&module);
      if (number > 0) opened.path += " (" + std::to_string(number + 1) + ')';
      opened.module = &module;
      opened.first_node = autograd::next_sequence_number();
    }
    open(mine, opened, EventKind::Module, type);
  });
}

void Recorder::begin(const Node& node) noexcept {
  begin_quietly([&](Thread& mine, Open& opened) {
    if (open(mine, opened, EventKind::Backward, node.label()))
      recording_.nodes.emplace_back(node.sequence_nr(), opened.event);
  });
}

void Recorder::begin(const optim::Optimizer& optimizer) noexcept {
  begin_quietly([&](Thread& mine, Open& opened) {
    open(mine, opened, EventKind::Optimizer,
         "Optimizer.step#" + nn::short_class_name(typeid(optimizer)) + ".step");
  });
}

void Recorder::begin(const std::string& annotation) noexcept {
  begin_quietly(
      [&](Thread& mine, Open& opened) { open(mine, opened, EventKind::Annotation, annotation); });
}

void Recorder::begin(const Operation& operation) noexcept {
  begin_quietly([&](Thread& mine, Open& opened) {
    if (!open(mine, opened, EventKind::Operator, operation.name)) return;
    if (devices_ && operation.device.is_cuda() &&
        cuda::Graph::capturing(operation.device.index()) == nullptr) {
      opened.device_begin = spare_event();
      opened.device_begin.record(cuda::getCurrentCUDAStream(operation.device.index()));
      opened.stream_device = operation.device.index();
    }
    FunctionEvent& noted = recording_.events[opened.event];
    noted.device = operation.device;
    noted.bytes = operation.bytes;
    if (options_.record_shapes)
      for (const Tensor* x : operation.tensors) noted.input_shapes.push_back(x->sizes().vec());
    if (options_.profile_memory) note_makers(operation, opened.event);
  });
}

void Recorder::end() noexcept {
  const std::lock_guard lock(mutex_);
  std::optional<Open> last = thread().calls.end();
  if (!last || !is_on()) return;
  try {
    if (nvtx_) return cuda::nvtx::range_pop();
    FunctionEvent& event = recording_.events[last->event];
    event.cpu_time = now() - event.start;
    if (last->stream_device >= 0) {
      cuda::Event device_end = spare_event();
      device_end.record(cuda::getCurrentCUDAStream(last->stream_device));
      marks_.push_back({last->event, std::move(last->device_begin), std::move(device_end)});
    }
    if (last->module)
      recording_.modules.push_back({event.thread, last->first_node,
                                    autograd::next_sequence_number(), std::move(last->path),
                                    event.name, last->event});
  } catch (...) {  // there is no memory for it: the profile lacks a row, and the program goes on
  }
}

cuda::Event Recorder::spare_event() {
  if (spare_.empty()) return cuda::Event(true);
  cuda::Event out = std::move(spare_.back());
  spare_.pop_back();
  return out;
}

// The first operation that uses new memory is the one that writes there.
void Recorder::note_makers(const Operation& operation, size_t event) {
  FunctionEvent& noted = recording_.events[event];
  for (const Tensor* x : operation.tensors) {
    const auto found = live_.find(x->storage().unsafeGetStorageImpl());
    if (found == live_.end()) continue;
    MadeTensor& made = recording_.tensors[found->second];
    if (!made.maker.empty()) continue;
    made.maker = operation.name;
    made.module = noted.module;
    made.sizes = x->sizes().vec();
    (made.device.is_cuda() ? noted.device_memory : noted.cpu_memory) += made.bytes;
  }
}

StoragePtr Recorder::allocated(StoragePtr storage) {
  StorageImpl* const memory = storage.get();
  {
    const std::lock_guard lock(mutex_);
    if (!is_on() || !options_.profile_memory) return storage;
    const auto bytes = static_cast<int64_t>(memory->nbytes());
    const size_t number = recording_.tensors.size();
    recording_.tensors.push_back({bytes, memory->device(), "", "", {}});
    recording_.memory.push_back({now(), bytes, memory->device(), number});
    live_[memory] = number;
  }
  return {memory, [inner = std::move(storage)](StorageImpl* gone) mutable {
            Recorder::get().freed(gone);
            inner.reset();
          }};
}

void Recorder::freed(const StorageImpl* storage) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(storage);
  if (found == live_.end()) return;
  const MadeTensor& made = recording_.tensors[found->second];
  try {
    recording_.memory.push_back({now(), -made.bytes, made.device, found->second});
  } catch (...) {  // as in end
  }
  live_.erase(found);
}

std::string Recorder::largest_tensors(Device device) {
  constexpr size_t kMost = 10;
  const std::lock_guard lock(mutex_);
  std::vector<const MadeTensor*> all;
  for (const auto& [storage, number] : live_)
    if (const MadeTensor& made = recording_.tensors[number]; is_of(made.device, device))
      all.push_back(&made);
  std::ranges::stable_sort(all, [](auto* a, auto* b) { return a->bytes > b->bytes; });
  std::string out;
  for (size_t i = 0; i < std::min(kMost, all.size()); ++i) {
    const MadeTensor& made = *all[i];
    out += "\n  " + watch::detail::with_unit(static_cast<double>(made.bytes), "B");
    if (made.maker.empty()) continue;
    out += ' ';
    append(out, IntArrayRef(made.sizes));
    out += " made by " + made.maker;
    if (!made.module.empty()) out += " in " + made.module;
  }
  if (out.empty()) return out;
  return "\nthe largest of " + std::to_string(all.size()) +
         " live tensors since the profile started:" + out;
}

Recording Recorder::stop() {
  DeviceLayers<ProfilingBackend>::remove();
  if (modules_) Observer<nn::Module>::remove(*this);
  Observer<Node>::remove(*this);
  Observer<optim::Optimizer>::remove(*this);
  const std::lock_guard lock(mutex_);
  const double stopped = now();
  on_.store(false, std::memory_order_relaxed);
  live_.clear();
  for (FunctionEvent& event : recording_.events)
    if (event.cpu_time < 0) event.cpu_time = stopped - event.start;
  Recording out = std::exchange(recording_, {});
  resolve_devices(out);
  return out;
}

// The only wait for the devices.
void Recorder::resolve_devices(Recording& recording) {
  std::deque<Marks> marks = std::exchange(marks_, {});
  std::map<DeviceIndex, Base> bases;
  for (const Marks& mark : marks) {
    const DeviceIndex device = recording.events[mark.event].device.index();
    if (bases.contains(device)) continue;
    cuda::synchronize(device);
    Base& base = bases[device];
    base.event.record(cuda::getCurrentCUDAStream(device));
    base.event.synchronize();
    base.time = now();
  }
  for (Marks& mark : marks) {
    FunctionEvent& event = recording.events[mark.event];
    const Base& base = bases.at(event.device.index());
    event.device_time = static_cast<double>(mark.begin.elapsed_time(mark.end)) * kMillisecond;
    // The two clocks differ by up to a microsecond, and no device begins before it is called.
    const double begun =
        base.time - static_cast<double>(mark.begin.elapsed_time(base.event)) * kMillisecond;
    event.device_start = std::max(event.start, begun);
    spare_.push_back(std::move(mark.begin));
    spare_.push_back(std::move(mark.end));
  }
}

}  // namespace gradus::profiler
