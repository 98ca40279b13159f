// Programs in memory: each text is compiled and loaded once for each kind of device.
#include "gradus/cuda/rtc/program.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <semaphore>
#include <utility>

#include <unistd.h>

#include "gradus/cuda/rtc/compiler.h"
#include "gradus/cuda/rtc/disk_cache.h"
#include "gradus/cuda/runtime/context.h"

namespace gradus::cuda {

namespace {

using Kernels = std::vector<const void*>;

std::atomic<int64_t> compiled{0};

std::string key_of(const rtc::Job& job) {
  std::string out = rtc::compiler_version();
  const auto add = [&](const std::string& part) { out += '\n' + part; };
  add(std::to_string(job.architecture));
  for (const std::string& option : job.options) add("option " + option);
  for (const std::string& kernel : job.kernels) add("kernel " + kernel);
  add(rtc::line_directive(job.source.file(), job.source.line()));
  return out + job.source.text();
}

// Whether the text alone decides what is compiled. Files that it includes may change.
bool stands_alone(const rtc::Job& job) {
  return std::none_of(job.options.begin(), job.options.end(), [](const std::string& option) {
    return option.starts_with("-I") || option.starts_with("-include") ||
           option.starts_with("--include-path") || option.starts_with("--pre-include");
  });
}

std::string compile_and_keep(const rtc::Job& job, const std::string& key) {
  std::string program = rtc::compile(job);
  ++compiled;
  if (stands_alone(job)) rtc::keep_on_disk(key, program);
  return program;
}

struct Found {
  std::string program;
  bool on_disk;
};
Found find_or_compile(const rtc::Job& job, const std::string& key) {
  auto kept = stands_alone(job) ? rtc::find_on_disk(key) : std::nullopt;
  return kept ? Found{std::move(*kept), true} : Found{compile_and_keep(job, key), false};
}

// Programs of one text share what was loaded. Nothing is unloaded, since work may be under way.
struct Entry {
  std::mutex mutex;
  Kernels kernels;
  std::future<Found> ahead;  // of a thread that compiles
  pid_t owner = 0;           // the process of that thread

  bool is_under_way() const { return ahead.valid() && owner == getpid(); }
};

class Entries {
 public:
  Entry& of(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return all_[key];
  }
  // Compilers end before the process takes their library down.
  void wait() {
    const std::lock_guard lock(mutex_);
    for (auto& [key, entry] : all_)
      if (entry.is_under_way()) entry.ahead.wait();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Entry> all_;
};
Entries& entries() {
  static auto& all = *new Entries;
  return all;
}

const Kernels& kernels_of(const rtc::Job& job) {
  const std::string key = key_of(job);
  Entry& entry = entries().of(key);
  const std::lock_guard one_compiles(entry.mutex);
  if (!entry.kernels.empty()) return entry.kernels;
  const Found found = entry.is_under_way() ? entry.ahead.get() : find_or_compile(job, key);
  try {
    entry.kernels = rtc::load(found.program, job);
  } catch (const Error&) {
    if (!found.on_disk) throw;  // else it was made for another build of the library
    entry.kernels = rtc::load(compile_and_keep(job, key), job);
  }
  return entry.kernels;
}

int architecture_of(int device) {
  const DeviceProperties& properties = getDeviceProperties(device);
  return properties.major * 10 + properties.minor;
}

}  // namespace

struct Program::State {
  Source source;
  std::vector<std::string> kernels, options;
  std::array<std::atomic<const Kernels*>, kMaxDevices> loaded{};  // by device

  rtc::Job job(int architecture) const { return {source, kernels, options, architecture}; }
};

Program::Program(Source source, std::vector<std::string> kernels, std::vector<std::string> options)
    : state_(new State{std::move(source), std::move(kernels), std::move(options)}) {}

const void* Program::kernel(size_t index) const {
  const int device = checked_device("Program", -1);
  auto& known = state_->loaded[static_cast<size_t>(device)];
  const Kernels* kernels = known.load(std::memory_order_acquire);
  if (!kernels) [[unlikely]] {
    kernels = &kernels_of(state_->job(architecture_of(device)));
    known.store(kernels, std::memory_order_release);
  }
  return (*kernels)[index];
}

void Program::prepare(int device) const {
  const int architecture = architecture_of(checked_device("Program", device));
  std::string key = key_of(state_->job(architecture));
  static const struct AtExit {
    ~AtExit() { entries().wait(); }
  } at_exit;
  Entry& entry = entries().of(key);
  const std::unique_lock lock(entry.mutex, std::try_to_lock);  // else somebody compiles it now
  if (!lock || !entry.kernels.empty() || entry.is_under_way()) return;
  entry.owner = getpid();
  entry.ahead =
      std::async(std::launch::async, [state = state_, architecture, key = std::move(key)] {
        static std::counting_semaphore<> places(8);  // a compiler takes some hundred megabytes
        places.acquire();
        struct Release {
          ~Release() { places.release(); }
        } release;
        return find_or_compile(state->job(architecture), key);
      });
}

int64_t compilations() { return compiled.load(); }

std::string rtc::line_directive(const std::string& file, int line) {
  std::string out = "#line " + std::to_string(line) + " \"";
  for (const char c : file) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"\n";
}

}  // namespace gradus::cuda
