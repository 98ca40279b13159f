// Programs in memory: each text is compiled and loaded once for each kind of device.
#include "gradus/cuda/rtc/program.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

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

Kernels compile_and_load(const rtc::Job& job, const std::string& key) {
  const bool kept_on_disk = stands_alone(job);
  if (const auto kept = kept_on_disk ? rtc::find_on_disk(key) : std::nullopt) try {
      return rtc::load(*kept, job);
    } catch (const Error&) {  // made for another build of the library: compiled again
    }
  const std::string program = rtc::compile(job);
  ++compiled;
  if (kept_on_disk) rtc::keep_on_disk(key, program);
  return rtc::load(program, job);
}

// Programs of one text share what was loaded. Nothing is unloaded, since work may be under way.
const Kernels& kernels_of(const rtc::Job& job) {
  struct Entry {
    std::mutex mutex;
    Kernels kernels;
  };
  static std::mutex mutex;
  static auto& all = *new std::map<std::string, Entry>;
  const std::string key = key_of(job);
  std::unique_lock lock(mutex);
  Entry& entry = all[key];
  lock.unlock();
  const std::lock_guard one_compiles(entry.mutex);
  if (entry.kernels.empty()) entry.kernels = compile_and_load(job, key);
  return entry.kernels;
}

}  // namespace

struct Program::State {
  Source source;
  std::vector<std::string> kernels, options;
  std::array<std::atomic<const Kernels*>, kMaxDevices> loaded{};  // by device
};

Program::Program(Source source, std::vector<std::string> kernels, std::vector<std::string> options)
    : state_(new State{std::move(source), std::move(kernels), std::move(options)}) {}

const void* Program::kernel(size_t index) const {
  const int device = checked_device("Program", -1);
  auto& known = state_->loaded[static_cast<size_t>(device)];
  const Kernels* kernels = known.load(std::memory_order_acquire);
  if (!kernels) [[unlikely]] {
    const DeviceProperties& properties = getDeviceProperties(device);
    kernels = &kernels_of({state_->source, state_->kernels, state_->options,
                           properties.major * 10 + properties.minor});
    known.store(kernels, std::memory_order_release);
  }
  return (*kernels)[index];
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
