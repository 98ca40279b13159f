// Finds the names, files and lines of addresses.
#include "gradus/cuda/sim/check/symbols.h"

#include <backtrace.h>
#include <cxxabi.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "gradus/cuda/sim/check/elf.h"

namespace gradus::cuda::sim {

namespace {

void ignore_error(void*, const char*, int) {}

// libbacktrace looks for libraries once. Where some came in since, it begins anew.
backtrace_state* state() {
  static std::mutex mutex;
  static backtrace_state* current = nullptr;
  static unsigned long long known = 0;
  const unsigned long long loaded = modules_loaded();
  const std::lock_guard lock(mutex);
  if (!current || known != loaded)
    current = backtrace_create_state(nullptr, 1, ignore_error, nullptr);
  known = loaded;
  return current;
}

// A variable of a module's thread-local memory, as the loader knows it.
struct ThreadLocal {
  unsigned long module, offset;
};
extern "C" void* __tls_get_addr(ThreadLocal* variable);

std::string readable(const char* symbol) {
  if (!symbol) return "";
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr), std::free);
  return name ? name.get() : symbol;
}

// Drops arguments and result: "void f<int>(int*, long)" becomes "f<int>".
std::string short_name(std::string name) {
  int depth = 0;
  size_t end = name.size(), begin = 0;
  // The argument list is the last pair of parentheses outside of template arguments.
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')' || name[i] == '>') ++depth;
    if (name[i] == '(' || name[i] == '<') --depth;
    if (name[i] == '(' && depth == 0) {
      end = i;
      break;
    }
  }
  name.erase(end);
  depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(') ++depth;
    if (name[i] == '>' || name[i] == ')') --depth;
    if (name[i] == ' ' && depth == 0) begin = i + 1;
  }
  return name.substr(begin);
}

int add_pc(void* out, uintptr_t pc) {
  auto& trace = *static_cast<Trace*>(out);
  trace.push_back(pc);
  constexpr size_t kDeepest = 24;
  return trace.size() >= kDeepest;
}

int add_frame(void* out, uintptr_t, const char* file, int line, const char* function) {
  if (!file && !function) return 0;
  static_cast<std::vector<Frame>*>(out)->push_back(
      {short_name(readable(function)), file ? file : "", line});
  return 0;
}

// libbacktrace could read symbols too, but it first reads the debug information of all libraries. A
// program without findings does not need that.
const std::string& symbol_in(const std::string& path, uintptr_t offset) {
  using Names = std::unordered_map<uintptr_t, std::string>;
  static std::mutex mutex;
  static auto& files = *new std::map<std::string, Names>;
  static const auto& none = *new std::string;
  const std::lock_guard lock(mutex);
  const auto [file, is_new] = files.try_emplace(path);
  if (is_new) file->second = functions_in(path);
  const auto found = file->second.find(offset);
  return found == file->second.end() ? none : found->second;
}

std::string symbol_of(const void* function) {
  struct Search {
    uintptr_t address;
    std::string found;
  } search{reinterpret_cast<uintptr_t>(function), ""};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& it = *static_cast<Search*>(data);
        const uintptr_t offset = it.address - info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || offset - segment.p_vaddr >= segment.p_memsz) continue;
          it.found = symbol_in(path_of(*info), offset);
          return 1;
        }
        return 0;
      },
      &search);
  return search.found;
}

// Returns the simulator's folder, given a file in its room check/.
std::string_view simulator_of(std::string_view file) {
  return file.substr(0, file.rfind("check/"));
}

// Whether the function is `name`, or an instance of that template.
bool is_instance(std::string_view function, std::string_view name) {
  return function.starts_with(name) &&
         (function.size() == name.size() || function[name.size()] == '<');
}

// Whether the frame belongs to the simulator, or to the code that starts kernels.
bool is_machinery(const Frame& frame) {
  // Compares with the path of this file, and with that of its header, which is reached by a link.
  // Headers of kernels may be installed elsewhere.
  return frame.file.starts_with(simulator_of(__FILE__)) ||
         frame.file.find("cuda/sim/include/") != std::string::npos ||
         frame.file.starts_with(simulator_of(kSymbolsHeader)) ||
         is_instance(frame.function, "gradus::cuda::launch") ||
         is_instance(frame.function, "gradus::cuda::detail::launch") ||
         is_instance(frame.function, "gradus::cuda::detail::handle");
}

std::vector<SharedArray> arrays_in(const std::string& path) {
  std::vector<SharedArray> out;
  for (const Variable& each : variables_in(path)) {
    if (each.kind != Variable::Kind::shared) continue;
    const bool dynamic = each.symbol == "gradus_sim_dynamic_shared";
    out.push_back({each.offset, each.size,
                   dynamic ? "dynamic shared memory" : readable_name(each.symbol), each.symbol});
  }
  return out;
}

}  // namespace

Trace current_trace() {
  Trace out;
  backtrace_simple(state(), 1, add_pc, ignore_error, &out);
  return out;
}

std::vector<Frame> frames_of(const Trace& trace) {
  std::vector<Frame> out;
  for (const uintptr_t pc : trace) {
    std::vector<Frame> inlined;
    backtrace_pcinfo(state(), pc, add_frame, ignore_error, &inlined);
    for (Frame& frame : inlined) {
      if (frame.function.starts_with("__libc_start")) continue;  // what calls main
      if (is_machinery(frame)) {
        if (!out.empty()) return out;  // the frames outside are those that called the kernel
        continue;                      // the kernel called it
      }
      out.push_back(std::move(frame));
      if (out.back().function == "main") return out;
    }
  }
  if (out.empty() && !trace.empty())
    out.push_back({"an unknown line; compile with -g to see it", "", 0});
  return out;
}

std::string readable_name(const std::string& variable) {
  const std::string name = readable(variable.c_str());
  const size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

std::string path_of(const dl_phdr_info& info) {
  return info.dlpi_name && *info.dlpi_name ? info.dlpi_name : "/proc/self/exe";
}

unsigned long long modules_loaded() {
  unsigned long long out = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        *static_cast<unsigned long long*>(data) = info->dlpi_adds;
        return 1;
      },
      &out);
  return out;
}

std::string function_name(const void* function) {
  const std::string symbol = symbol_of(function);
  return symbol.empty() ? "(unnamed kernel)" : short_name(readable(symbol.c_str()));
}

Module::Module(const std::string& path, size_t nbytes) : size_(nbytes), arrays_(arrays_in(path)) {
  if (arrays_.empty()) arrays_.push_back({0, nbytes, "shared memory"});
  std::ranges::sort(arrays_, {}, &SharedArray::offset);
}

const SharedArray* Module::array_at(size_t offset) const {
  const auto after = std::ranges::upper_bound(arrays_, offset, {}, &SharedArray::offset);
  if (after == arrays_.begin()) return nullptr;
  const SharedArray& array = *std::prev(after);
  return offset - array.offset < array.size ? &array : nullptr;
}

std::vector<SharedArray> Module::arrays_of(const std::string& prefix) const {
  std::vector<SharedArray> out;
  for (const SharedArray& each : arrays_)
    if (each.symbol.starts_with(prefix)) out.push_back(each);
  return out;
}

std::vector<ModuleMemory> thread_local_memory() {
  static std::mutex mutex;
  static auto& modules = *new std::map<std::string, std::unique_ptr<Module>>;
  const std::lock_guard lock(mutex);
  struct Found {
    const Module* module;
    size_t number;
  };
  std::vector<Found> found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* list) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_TLS) continue;
          const std::string path = path_of(*info);
          auto& module = modules[path];
          if (!module) module = std::make_unique<Module>(path, segment.p_memsz);
          static_cast<std::vector<Found>*>(list)->push_back({module.get(), info->dlpi_tls_modid});
        }
        return 0;
      },
      &found);
  // The memory of a library that was loaded late comes to a thread when it is first asked for.
  std::vector<ModuleMemory> out;
  for (const Found& each : found) {
    ThreadLocal first{each.number, 0};
    out.push_back({each.module, reinterpret_cast<uintptr_t>(__tls_get_addr(&first))});
  }
  return out;
}

std::vector<std::pair<uintptr_t, size_t>> static_shared_arrays(const std::string& prefix) {
  std::vector<std::pair<uintptr_t, size_t>> out;
  for (const ModuleMemory& each : thread_local_memory())
    for (const SharedArray& array : each.module->arrays_of(prefix))
      if (!array.symbol.empty() && array.symbol != "gradus_sim_dynamic_shared")
        out.emplace_back(each.begin + array.offset, array.size);
  return out;
}
size_t static_shared_bytes(const void* kernel) {
  const std::string symbol = symbol_of(kernel);
  if (!symbol.starts_with("_Z")) return 0;
  size_t out = 0;
  // The ABI names a variable after its function: _ZZ1fvE1x is x of _Z1fv.
  for (const auto& [begin, size] : static_shared_arrays("_Z" + symbol.substr(1) + "E")) out += size;
  return out;
}

}  // namespace gradus::cuda::sim
