// A profile as a file of the Trace Event Format, which ui.perfetto.dev and chrome://tracing open.
#include <unistd.h>

#include <algorithm>
#include <set>

#include "gradus/cuda/runtime/device.h"
#include "gradus/watch/log_file.h"
#include "gradus/watch/profiler/results.h"
#include "gradus/watch/text.h"

namespace gradus::profiler {

namespace {

using watch::detail::format, watch::detail::json_text;

// The words of PyTorch's traces.
const char* category_of(EventKind kind) {
  switch (kind) {
    case EventKind::Operator:
      return "cpu_op";
    case EventKind::Module:
      return "nn_module";
    case EventKind::Backward:
      return "autograd";
    default:
      return "user_annotation";
  }
}

class Trace {
 public:
  explicit Trace(const Recording& recording) : recording_(recording) {
    const int host = getpid();
    std::set<int> threads;
    std::set<DeviceIndex> devices;
    for (const FunctionEvent& event : recording.events) {
      threads.insert(event.thread);
      if (event.device.is_cuda()) devices.insert(event.device.index());
    }
    name("process_name", host, 0, "host");
    for (const int thread : threads)
      name("thread_name", host, thread, "thread " + std::to_string(thread));
    for (const DeviceIndex device : devices) {
      const int process = process_of(device);
      name("process_name", process, 0,
           "cuda:" + std::to_string(device) + ' ' + cuda::getDeviceProperties(device).name);
      name("thread_name", process, 0, "operations");
    }
    for (size_t i = 0; i < recording.events.size(); ++i) add(i, host);
    add_memory(host);
  }

  std::string str() const {
    return "{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\", \"traceEvents\": [\n" + rows_ +
           "\n]}\n";
  }

 private:
  // A process of its own for each device, which no program has as its number.
  static int process_of(DeviceIndex device) { return -1 - device; }

  void row(const std::string& members) {
    if (!rows_.empty()) rows_ += ",\n";
    rows_ += '{' + members + '}';
  }
  void name(const char* what, int process, int thread, const std::string& name) {
    row(format("\"ph\": \"M\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, \"args\": {\"name\": ",
               what, process, thread) +
        json_text(name) + '}');
  }
  void span(const char* category, const std::string& name, int process, int thread, double start,
            double time, const std::string& arguments) {
    row("\"ph\": \"X\", \"name\": " + json_text(name) +
        format(", \"cat\": \"%s\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, "
               "\"args\": {",
               category, process, thread, start, time) +
        arguments + '}');
  }

  void add(size_t number, int host) {
    const FunctionEvent& event = recording_.events[number];
    std::string arguments =
        format("\"event\": %zu, \"backward\": %s", number, event.is_backward ? "true" : "false");
    if (!event.module.empty()) arguments += ", \"module\": " + json_text(event.module);
    if (event.bytes > 0)
      arguments += format(", \"bytes\": %lld", static_cast<long long>(event.bytes));
    if (!event.input_shapes.empty())
      arguments += ", \"Input Dims\": " + detail::shapes_text(event.input_shapes);
    span(category_of(event.kind), event.name, host, event.thread, event.start, event.cpu_time,
         arguments);
    if (event.kind != EventKind::Operator || event.device_time <= 0) return;
    const int process = process_of(event.device.index());
    span("kernel", event.name, process, 0, event.device_start, event.device_time, arguments);
    // An arrow from the call to the work.
    row(
        format("\"ph\": \"s\", \"id\": %zu, \"name\": \"launch\", \"cat\": \"ac2g\", \"pid\": %d, "
               "\"tid\": %d, \"ts\": %.3f",
               number, host, event.thread, event.start));
    row(
        format("\"ph\": \"f\", \"bp\": \"e\", \"id\": %zu, \"name\": \"launch\", \"cat\": "
               "\"ac2g\", \"pid\": %d, \"tid\": 0, \"ts\": %.3f",
               number, process, event.device_start));
  }

  void add_memory(int host) {
    std::map<std::string, int64_t> live;
    for (const MemoryChange& change : recording_.memory) {
      const std::string device = change.device.str();
      live[device] += change.bytes;
      row("\"ph\": \"C\", \"name\": " + json_text("memory of " + device) +
          format(", \"pid\": %d, \"tid\": 0, \"ts\": %.3f, \"args\": {\"bytes\": %lld}", host,
                 change.time, static_cast<long long>(live[device])));
    }
  }

  const Recording& recording_;
  std::string rows_;
};

}  // namespace

void profile::export_chrome_trace(const std::string& path) const {
  constexpr const char* kOp = "export_chrome_trace";
  watch::detail::write_file(kOp, path, Trace(results(kOp).recording).str());
}

}  // namespace gradus::profiler
