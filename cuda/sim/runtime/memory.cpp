// cudaMalloc, cudaFree, cudaMemcpy, cudaMemset and their like.
#include "gradus/cuda/sim/runtime/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "gradus/cuda/sim/check/findings.h"
#include "gradus/cuda/sim/check/symbols.h"
#include "gradus/cuda/sim/check/unordered.h"
#include "gradus/cuda/sim/runtime/device.h"
#include "gradus/cuda/sim/runtime/host_guards.h"
#include "gradus/cuda/sim/runtime/queue.h"
#include "gradus/cuda/sim/runtime/streams.h"
#include "gradus/cuda/sim/runtime/variables.h"
#include "gradus/cuda/sim/simulator.h"

namespace gradus::cuda::sim {

constinit Arena arena;

namespace {
constexpr size_t kAlignment = 512;  // of cudaMalloc
constexpr size_t kApart = 1 << 20;  // between allocations
constexpr size_t kPage = 4096;
}  // namespace

Trace trace_of_call() { return running ? *queued_work(running->number).trace : current_trace(); }

void clear(void* from, size_t nbytes) {
  const auto begin = reinterpret_cast<uintptr_t>(from), end = begin + nbytes;
  const uintptr_t first = (begin + kPage - 1) / kPage * kPage, last = end / kPage * kPage;
  if (nbytes < 16 * kPage) {
    std::memset(from, 0, nbytes);
    return;
  }
  std::memset(from, 0, first - begin);
  madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  std::memset(reinterpret_cast<void*>(last), 0, end - last);
}

namespace {

struct Memory {
  std::shared_mutex mutex;
  std::map<uintptr_t, Allocation> allocations;  // by address; those given back stay until reused
  std::array<uintptr_t, kZones> next{};         // where each zone is free
  std::array<size_t, kZones> taken{};
};
Memory& memory() {
  static auto& all = *new Memory;
  return all;
}

void* reserve(size_t nbytes) {
  void* at = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  madvise(at, nbytes, MADV_DONTDUMP);
  madvise(at, nbytes, MADV_NOHUGEPAGE);
  return at;
}

// REQUIRES: the mutex is held.
bool reserve_arena() {
  if (arena.begin) return true;
  void* const data = reserve(kArenaBytes);
  void* const written = data ? reserve(kArenaBytes) : nullptr;
  void* const cells = written ? reserve(kArenaBytes / 4 * sizeof(Cell)) : nullptr;
  if (!cells) return false;
  arena.written = static_cast<uint8_t*>(written);
  arena.cells = static_cast<Cell*>(cells);
  const auto begin = reinterpret_cast<uintptr_t>(data);
  for (size_t zone = 0; zone < memory().next.size(); ++zone)
    memory().next[zone] = begin + zone * kZoneBytes + kApart;
  arena.begin = begin;
  return true;
}

// The allocation at or before the address. REQUIRES: the mutex is held.
Allocation* at_or_before(uintptr_t address) {
  auto& all = memory().allocations;
  auto next = all.upper_bound(address);
  if (next == all.begin()) return nullptr;
  Allocation& found = std::prev(next)->second;
  return zone_of(found.begin) == zone_of(address) ? &found : nullptr;
}

// A place of `nbytes` that was given back longest ago, or never used. REQUIRES: the mutex is held.
uintptr_t place_in(int zone, size_t nbytes) {
  auto& all = memory().allocations;
  const uintptr_t begin = arena.begin + static_cast<uintptr_t>(zone) * kZoneBytes;
  uintptr_t& next = memory().next[static_cast<size_t>(zone)];
  for (int round = 0; round < 2; ++round, next = begin + kApart) {
    uintptr_t at = next;
    for (auto it = all.lower_bound(at); it != all.end(); ++it) {
      const Allocation& other = it->second;
      if (other.begin >= at + nbytes + kApart) break;
      if (other.reserved > 0) at = other.begin + other.reserved + kApart;
      at = (at + kAlignment - 1) / kAlignment * kAlignment;
    }
    if (at + nbytes + kApart > begin + kZoneBytes) continue;
    // Older allocations at this place are forgotten.
    all.erase(all.lower_bound(at), all.lower_bound(at + nbytes + kApart));
    next = (at + nbytes + kApart + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  }
  return 0;
}

cudaError_t allocate(void** out, size_t nbytes, int zone) {
  if (!out) return cudaErrorInvalidValue;
  *out = nullptr;
  if (nbytes == 0) return cudaSuccess;
  const std::lock_guard lock(memory().mutex);
  if (!reserve_arena()) return cudaErrorInitializationError;
  size_t& taken = memory().taken[static_cast<size_t>(zone)];
  if (nbytes > kDeviceBytes || taken > kDeviceBytes - nbytes) return cudaErrorMemoryAllocation;
  const uintptr_t at = place_in(zone, nbytes);
  if (at == 0) return cudaErrorMemoryAllocation;
  taken += nbytes;
  Allocation made{.begin = at, .reserved = nbytes, .used = nbytes, .taken = {}, .given_back = {}};
  if (checks()) made.taken = current_trace();
  memory().allocations[at] = std::move(made);
  *out = reinterpret_cast<void*>(at);
  return cudaSuccess;
}

cudaError_t release(void* data, bool host) {
  if (!data) return cudaSuccess;
  const auto at = reinterpret_cast<uintptr_t>(data);
  const std::lock_guard lock(memory().mutex);
  if (!in_arena(at) || (zone_of(at) == kHostZone) != host) return cudaErrorInvalidValue;
  const auto found = memory().allocations.find(at);
  if (found == memory().allocations.end() || found->second.reserved == 0)
    return cudaErrorInvalidValue;
  Allocation& it = found->second;
  clear(data, it.reserved);
  if (checks()) {
    clear(written_at(at), it.reserved);
    clear(cell_at(at), it.reserved / 4 * sizeof(Cell));
    forget_works(at, it.reserved);
    if (it.in_use) it.given_back = trace_of_call();
    if (running) it.given_back_by = running->number;
  }
  memory().taken[static_cast<size_t>(zone_of(at))] -= it.reserved;
  if (!it.in_use) it.used = it.reserved;
  it.reserved = 0;
  it.in_use = false;
  return cudaSuccess;
}

}  // namespace

Range range_in_use(uintptr_t address) {
  if (!in_arena(address)) return {};
  if (zone_of(address) == kVariableZone) return variable_around(address);
  const std::shared_lock lock(memory().mutex);
  const Allocation* it = at_or_before(address);
  if (!it || !it->in_use || address - it->begin >= it->used) return {};
  return {it->begin, it->begin + it->used};
}

uintptr_t place_for_variables(Range variables) {
  const std::lock_guard lock(memory().mutex);
  if (!reserve_arena()) return 0;
  uintptr_t& next = memory().next[kVariableZone];
  const uintptr_t at = next + variables.begin % kPage;
  next = (at + (variables.end - variables.begin) + kApart) / kPage * kPage;
  return at;
}

Allocation allocation_around(uintptr_t address) {
  const std::shared_lock lock(memory().mutex);
  const Allocation* it = at_or_before(address);
  return it ? *it : Allocation{.begin = address, .taken = {}, .given_back = {}};
}

Neighbour describe_address(uintptr_t address) {
  if (zone_of(address) == kVariableZone) return {describe_variable(address), false, {}};
  const std::shared_lock lock(memory().mutex);
  const auto& all = memory().allocations;
  const auto next = all.upper_bound(address);
  const Allocation* before = at_or_before(address);
  const Allocation* after =
      next != all.end() && zone_of(next->first) == zone_of(address) ? &next->second : nullptr;
  if (before && !before->in_use && address - before->begin < before->used)
    return {"byte " + std::to_string(address - before->begin) + " of " +
                std::to_string(before->used) + " that were given back",
            true, *before};
  const size_t past = before ? address - before->begin - before->used : SIZE_MAX;
  const size_t ahead = after ? after->begin - address : SIZE_MAX;
  if (past == SIZE_MAX && ahead == SIZE_MAX) return {"far from every allocation", false, {}};
  if (ahead < past)
    return {
        std::to_string(ahead) + " bytes before " + std::to_string(after->used) + " allocated bytes",
        false, *after};
  constexpr size_t kAbsurd = size_t{1} << 31;  // as of an unsigned index below 0
  return {(past == 0 ? std::string("right") : std::to_string(past) + " bytes") +
              " after the end of " + std::to_string(before->used) + " allocated bytes" +
              (past >= kAbsurd ? " (a negative index?)" : ""),
          false, *before};
}

namespace {
uintptr_t place_of(const void* data) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  const uintptr_t place = global_place(address);
  return in_arena(address) || range_in_use(place).end ? place : address;
}
}  // namespace

bool is_page_locked(const void* data) {
  const auto at = reinterpret_cast<uintptr_t>(data);
  return in_arena(at) && zone_of(at) == kHostZone;
}

namespace {
// Whether nbytes from the address on are in use, or no memory of the arena. Reports queued work
// that is to use them.
bool may_use(uintptr_t address, size_t nbytes) {
  if (!in_arena(address) || range_in_use(address).covers(address, nbytes)) return true;
  if (!running) return false;
  const QueuedWork& work = queued_work(running->number);
  const Neighbour found = describe_address(address);
  const uint32_t by = found.freed ? found.allocation.given_back_by : 0;
  const bool unordered = by && is_unordered(by, *running);
  std::vector<Side> sides = {{queued_on(running->number), frames_of(*work.trace)}};
  if (found.freed) sides.push_back({"given back", frames_of(found.allocation.given_back)});
  publish({unordered     ? Kind::order
           : found.freed ? Kind::use_after_free
                         : Kind::out_of_bounds,
           work.title.text(),
           "the address is " + found.text +
               (unordered ? ", and nothing orders this work before that; call record_stream before"
                          : "; keep the memory until the work is done"),
           std::move(sides)});
  return false;
}

// Whether the memory may be in use once queued work comes to it.
bool may_be_used_later(uintptr_t address, size_t nbytes) {
  if (!in_arena(address) || range_in_use(address).covers(address, nbytes)) return true;
  const Allocation it = allocation_around(address);
  return Range{it.begin, it.begin + it.reserved}.covers(address, nbytes);
}
}  // namespace

cudaError_t copy(void* to, const void* from, size_t nbytes) {
  if (nbytes == 0) return cudaSuccess;
  if (!to || !from) return cudaErrorInvalidValue;
  const uintptr_t target = place_of(to), source = place_of(from);
  const bool into = in_arena(target), out_of = in_arena(source);
  if (!may_use(target, nbytes) || !may_use(source, nbytes)) return cudaErrorInvalidValue;
  if (checks()) {
    note_access(Access::read, source, nbytes);
    note_access(Access::write, target, nbytes);
  }
  std::memmove(to, from, nbytes);
  if (!checks() || !into || zone_of(target) == kHostZone) return cudaSuccess;
  if (out_of && zone_of(source) != kHostZone)
    std::memmove(written_at(target), written_at(source), nbytes);
  else
    std::memset(written_at(target), 1, nbytes);
  return cudaSuccess;
}

cudaError_t queue_copy(void* to, const void* from, size_t nbytes, cudaStream_t stream) {
  const Title title{"copy", nullptr, nbytes};
  const auto work = [=] { return copy(to, from, nbytes); };
  if (const auto status = record(stream, title, work)) return *status;
  if (!queues_work()) return work();
  if (nbytes == 0) return cudaSuccess;
  if (!to || !from) return cudaErrorInvalidValue;
  const uintptr_t target = place_of(to), source = place_of(from);
  if (!may_be_used_later(target, nbytes) || !may_be_used_later(source, nbytes))
    return cudaErrorInvalidValue;
  if (!in_arena(source)) {  // pageable memory of the host has been read when the call returns
    const auto* const bytes = static_cast<const std::byte*>(from);
    enqueue(stream, title, [=, kept = std::vector<std::byte>(bytes, bytes + nbytes)] {
      return copy(to, kept.data(), nbytes);
    });
  } else {
    const uint32_t number = enqueue(stream, title, work);
    if (is_page_locked(to)) guard_host(to, nbytes, true, number);
    if (is_page_locked(from)) guard_host(from, nbytes, false, number);
  }
  // And it has been written.
  if (!in_arena(target)) finish(end_of(current_zone(), stream));
  return cudaSuccess;
}

std::vector<Allocation> take_allocations_in_use() {
  std::vector<Allocation> out;
  const std::lock_guard lock(memory().mutex);
  for (auto& [begin, each] : memory().allocations)
    if (each.in_use && !each.reported && zone_of(begin) != kHostZone) {
      each.reported = true;
      out.push_back(each);
    }
  return out;
}

void forget_records() {
  if (arena.begin) madvise(arena.cells, kArenaBytes / 4 * sizeof(Cell), MADV_DONTNEED);
}

void with_allocation(void* data, const std::function<void(Allocation&)>& f) {
  const std::lock_guard lock(memory().mutex);
  const auto found = memory().allocations.find(reinterpret_cast<uintptr_t>(data));
  if (found != memory().allocations.end()) f(found->second);
}

}  // namespace gradus::cuda::sim

using namespace gradus::cuda::sim;

cudaError_t cudaMalloc(void** out, size_t nbytes) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (const cudaError_t forbidden = refuse_in_capture()) return result(forbidden);
  return result(allocate(out, nbytes, current_zone()));
}
cudaError_t cudaFree(void* data) {
  if (const cudaError_t forbidden = refuse_in_capture()) return result(forbidden);
  finish_all();
  const cudaError_t status = release(data, false);  // also after an error: it is no leak
  const cudaError_t broken = pending_error();
  return result(broken ? broken : status);
}
cudaError_t cudaMallocAsync(void** out, size_t nbytes, cudaStream_t stream) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  if (const auto refused = refuse_of_captured(stream)) return result(refused);  // is not recorded
  return cudaMalloc(out, nbytes);
}
cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  if (is_stream(stream))
    if (const auto refused = refuse_of_captured(stream)) return result(refused);
  if (queues_work() && is_stream(stream) && data) {
    const Allocation it = allocation_around(reinterpret_cast<uintptr_t>(data));
    if (it.begin != reinterpret_cast<uintptr_t>(data) || it.reserved == 0)
      return result(cudaErrorInvalidValue);
    enqueue(stream, {"cudaFreeAsync"}, [=] {
      check_give_back(it.begin, it.reserved);
      return release(data, false);
    });
    return result(pending_error());
  }
  const cudaError_t status = cudaFree(data);
  return is_stream(stream) ? status : result(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaMallocManaged(void** out, size_t, unsigned) {
  if (out) *out = nullptr;
  publish({Kind::foreign_memory,
           "cudaMallocManaged",
           "no memory is both the host's and a simulated device's; use cudaMalloc, and cudaMemcpy",
           {{"called", frames_of(current_trace())}}});
  return result(cudaErrorNotSupported);
}
cudaError_t cudaHostAlloc(void** out, size_t nbytes, unsigned) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (const cudaError_t forbidden = refuse_in_capture()) return result(forbidden);
  const cudaError_t status = allocate(out, nbytes, kHostZone);
  // Writes of the host are not seen.
  if (status == cudaSuccess && checks() && *out)
    std::memset(written_at(reinterpret_cast<uintptr_t>(*out)), 1, nbytes);
  return result(status);
}
cudaError_t cudaMallocHost(void** out, size_t nbytes) { return cudaHostAlloc(out, nbytes, 0); }
cudaError_t cudaFreeHost(void* data) {
  if (const cudaError_t forbidden = refuse_in_capture()) return result(forbidden);
  finish_all();
  return result(release(data, true));
}

cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  const std::shared_lock lock(memory().mutex);
  if (total) *total = kDeviceBytes;
  if (available) *available = kDeviceBytes - memory().taken[static_cast<size_t>(current_zone())];
  return result(pending_error());
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* data) {
  if (!out) return result(cudaErrorInvalidValue);
  const uintptr_t at = place_of(data);
  *out = {cudaMemoryTypeUnregistered, -1, nullptr, const_cast<void*>(data)};
  if (!range_in_use(at).covers(at, 1)) return result(pending_error());
  void* const device = const_cast<void*>(data);
  if (zone_of(at) == kHostZone)
    *out = {cudaMemoryTypeHost, 0, device, device};
  else
    *out = {cudaMemoryTypeDevice, zone_of(at) == kVariableZone ? current_zone() : zone_of(at),
            device, nullptr};
  return result(pending_error());
}

namespace {
// Where the direction that the caller names must have memory of a device. A variable of a .cu file
// may be of either.
bool fits(cudaMemcpyKind kind, const void* to, const void* from) {
  const auto on_device = [](const void* data) {
    return in_arena(place_of(data)) && !is_page_locked(data);
  };
  const auto on_host = [](const void* data) {
    return !in_arena(reinterpret_cast<uintptr_t>(data)) || is_page_locked(data);
  };
  switch (kind) {
    case cudaMemcpyHostToHost:
      return on_host(to) && on_host(from);
    case cudaMemcpyHostToDevice:
      return on_device(to) && on_host(from);
    case cudaMemcpyDeviceToHost:
      return on_host(to) && on_device(from);
    case cudaMemcpyDeviceToDevice:
      return on_device(to) && on_device(from);
    case cudaMemcpyDefault:
      return true;
  }
  return false;
}
}  // namespace

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t nbytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return result(cudaErrorInvalidMemcpyDirection);
  if (nbytes > 0 && !fits(kind, to, from)) return result(cudaErrorInvalidValue);
  return result(queue_copy(to, from, nbytes, stream));
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t nbytes, cudaMemcpyKind kind) {
  if (const cudaError_t forbidden = refuse_in_capture()) return result(forbidden);
  const cudaError_t status = cudaMemcpyAsync(to, from, nbytes, kind, nullptr);
  const auto on_device = [](const void* data) {
    return in_arena(place_of(data)) && !is_page_locked(data);
  };
  if (!queues_work() || status != cudaSuccess) return status;
  // The host waits for no copy within devices. Pageable memory has been read, and the bytes may be
  // on their way (CUDA Runtime API, "API synchronization behavior").
  if (on_device(to) && (on_device(from) || !is_page_locked(from))) return status;
  finish(end_of(current_zone(), nullptr));
  return result(pending_error());
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t nbytes, cudaStream_t stream) {
  if (!is_device(to_device) || !is_device(from_device)) return result(cudaErrorInvalidDevice);
  return cudaMemcpyAsync(to, from, nbytes, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t nbytes) {
  return cudaMemcpyPeerAsync(to, to_device, from, from_device, nbytes, nullptr);
}

cudaError_t cudaMemsetAsync(void* data, int value, size_t nbytes, cudaStream_t stream) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  const uintptr_t at = place_of(data);
  if (nbytes > 0 && (!in_arena(at) || !may_be_used_later(at, nbytes)))
    return result(cudaErrorInvalidValue);
  const auto set = [=] {
    if (!may_use(at, nbytes)) return cudaErrorInvalidValue;
    if (checks()) note_access(Access::write, at, nbytes);
    std::memset(data, value, nbytes);
    if (checks() && nbytes > 0) std::memset(written_at(at), 1, nbytes);
    return cudaSuccess;
  };
  return result(do_or_record(stream, {"memset", nullptr, nbytes}, set));
}
cudaError_t cudaMemset(void* data, int value, size_t nbytes) {
  if (const cudaError_t forbidden = refuse_in_capture()) return result(forbidden);
  return cudaMemsetAsync(data, value, nbytes, nullptr);
}
