// Copies to and from __device__ and __constant__ variables.
#include "gradus/cuda/sim/runtime/variables.h"

#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include "gradus/cuda/sim/check/elf.h"
#include "gradus/cuda/sim/check/symbols.h"
#include "gradus/cuda/sim/exec/worker.h"
#include "gradus/cuda/sim/simulator.h"

namespace gradus::cuda::sim {

namespace {

struct Variables {
  unsigned long long modules = 0;  // how many were loaded when they were read
  std::set<std::string> files;     // that were read
  std::vector<Range> constants;
  // The variables of one module in their order, with addresses in place of offsets.
  struct OfModule {
    Range all;
    uintptr_t place;  // of all.begin
    std::vector<Variable> each;
  };
  std::vector<OfModule> of_devices;
};

void add_module(Variables& out, const std::string& path, uintptr_t loaded_at) {
  std::vector<Variable> found;
  for (Variable& each : variables_in(path)) {
    each.offset += loaded_at;
    if (each.kind == Variable::Kind::constant)
      out.constants.push_back({each.offset, each.offset + each.size});
    if (each.kind == Variable::Kind::device) found.push_back(std::move(each));
  }
  if (found.empty()) return;
  std::ranges::sort(found, {}, &Variable::offset);
  Range all{found.front().offset, 0};
  for (const Variable& each : found) all.end = std::max(all.end, each.offset + each.size);
  const uintptr_t place = place_for_variables(all);
  if (place == 0) return;
  // The variables hold the values of the source text, or zeros.
  if (checks()) std::memset(written_at(place), 1, all.end - all.begin);
  out.of_devices.push_back({all, place, std::move(found)});
}

std::atomic<const Variables*> known{nullptr};

// Kernels read what is known without a lock, so that it stays as it is; more comes as a copy.
const Variables& variables() {
  static std::mutex mutex;
  const Variables* all = known.load(std::memory_order_acquire);
  const unsigned long long loaded = here ? 0 : modules_loaded();
  if (here || (all && all->modules == loaded)) return *all;
  const std::lock_guard lock(mutex);
  all = known.load(std::memory_order_acquire);
  if (all && all->modules == loaded) return *all;
  auto* const out = all ? new Variables(*all) : new Variables;
  out->modules = loaded;
  // The loader holds a lock while it lists modules, and others may ask for it under those that
  // add_module takes: so the list comes first.
  struct Module {
    std::string path;
    uintptr_t loaded_at;
  };
  std::vector<Module> modules;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        static_cast<std::vector<Module>*>(data)->push_back({path_of(*info), info->dlpi_addr});
        return 0;
      },
      &modules);
  for (const Module& each : modules)
    if (out->files.insert(each.path).second) add_module(*out, each.path, each.loaded_at);
  known.store(out, std::memory_order_release);
  return *out;
}

// REQUIRES: the address lies between the first variable of the module and the last.
const Variable& last_before(const Variables::OfModule& module, uintptr_t address) {
  return *std::prev(std::ranges::upper_bound(module.each, address, {}, &Variable::offset));
}

bool is_marked_constant(uintptr_t address) {
  return std::ranges::any_of(variables().constants,
                             [&](const Range& each) { return each.covers(address, 1); });
}

// The variable at a place in the arena.
struct Found {
  uintptr_t address = 0;
  const Variable* variable = nullptr;  // the last that begins there, or before
};
Found find(uintptr_t place) {
  for (const auto& module : variables().of_devices) {
    const uintptr_t address = place - module.place + module.all.begin;
    if (module.all.covers(address, 1)) return {address, &last_before(module, address)};
  }
  return {};
}

}  // namespace

void load_variables() { variables(); }

uintptr_t global_place(uintptr_t address) {
  // So close to the end of a variable, an address is rather meant for it than for the host's.
  constexpr uintptr_t kNear = 4096;
  if (in_arena(address)) return address;
  for (const auto& module : variables().of_devices) {
    if (!module.all.covers(address, 1)) continue;
    const Variable& variable = last_before(module, address);
    if (address - variable.offset < variable.size + kNear && !is_marked_constant(address))
      return module.place + (address - module.all.begin);
  }
  return address;
}

Range variable_around(uintptr_t place) {
  const auto [address, variable] = find(place);
  if (!variable || address - variable->offset >= variable->size) return {};
  const uintptr_t begin = place - (address - variable->offset);
  return {begin, begin + variable->size};
}

std::string describe_variable(uintptr_t place) {
  const auto [address, variable] = find(place - 1);
  if (!variable) return "far from every variable";
  const uintptr_t past = address + 1 - variable->offset - variable->size;
  return (past == 0 ? std::string("right") : std::to_string(past) + " bytes") +
         " after the end of " + readable_name(variable->symbol) + ", which has " +
         std::to_string(variable->size) + " bytes";
}

Range constants_around(uintptr_t address) {
  for (const Range& each : variables().constants)
    if (each.covers(address, 1)) return each;
  struct Search {
    uintptr_t address;
    Range found;
  } search{address, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& it = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          const bool fixed = segment.p_type == PT_GNU_RELRO ||
                             (segment.p_type == PT_LOAD && !(segment.p_flags & PF_W));
          const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          const Range range{begin, begin + segment.p_memsz};
          if (fixed && range.covers(it.address, 1)) it.found = range;
        }
        return it.found.end ? 1 : 0;
      },
      &search);
  return search.found;
}

bool is_variable(const void* data, size_t nbytes) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  if (is_marked_constant(address)) return true;
  const uintptr_t place = global_place(address);
  return in_arena(place) && zone_of(place) == kVariableZone &&
         variable_around(place).covers(place, nbytes);
}

}  // namespace gradus::cuda::sim
