// The memory of the simulated devices, and a record of each of its bytes.
//
// All of it lies in one range of addresses, the arena. The arena has a zone for each device, one
// for page-locked memory of the host, and one for the records of __device__ variables
// (variables.h). So the address says whose memory it is. An address is reused only after all others
// were used, and allocations lie far apart. So a pointer into freed memory, or past an end, meets
// no other allocation. The arena records for each byte whether it was written, and for each word
// who accessed it last (shadow.h). The system backs only pages that are touched, so this costs no
// more memory than is used.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

#include "gradus/cuda/sim/check/shadow.h"

namespace gradus::cuda::sim {

inline constexpr int kMostDevices = 16;
inline constexpr int kHostZone = kMostDevices, kVariableZone = kMostDevices + 1;
inline constexpr int kZones = kMostDevices + 2;
inline constexpr uintptr_t kZoneBytes = uintptr_t{1} << 37;
inline constexpr uintptr_t kArenaBytes = kZoneBytes * kZones;
inline constexpr size_t kDeviceBytes = size_t{16} << 30;  // of each simulated device

using Trace = std::vector<uintptr_t>;  // the calls that led to a place, innermost first

struct Allocation {
  uintptr_t begin = 0;
  size_t reserved = 0;  // bytes that cudaMalloc was asked for
  size_t used = 0;      // bytes in use, from the beginning
  bool in_use = true;
  bool reported = false;       // as a leak
  Trace taken, given_back;     // the calls that allocated and freed it
  uint32_t given_back_by = 0;  // the queued work that did so last; 0 for none
  unsigned marks_waiting = 0;  // queued calls of mark_used and mark_unused
};

struct Arena {
  uintptr_t begin = 0;         // 0 until the first allocation
  uint8_t* written = nullptr;  // by byte
  Cell* cells = nullptr;       // by word
};
extern constinit Arena arena;

inline bool in_arena(uintptr_t address) {
  return arena.begin != 0 && address - arena.begin < kArenaBytes;
}
inline int zone_of(uintptr_t address) {
  return static_cast<int>((address - arena.begin) / kZoneBytes);
}
inline uint8_t* written_at(uintptr_t address) { return arena.written + (address - arena.begin); }
inline Cell* cell_at(uintptr_t address) { return arena.cells + (address - arena.begin) / 4; }

// The bytes in use around an address; empty where there are none.
struct Range {
  uintptr_t begin = 0, end = 0;
  bool covers(uintptr_t address, size_t size) const {
    return address >= begin && address < end && size <= end - address;
  }
};
Range range_in_use(uintptr_t address);

// The allocation at or before an address.
Allocation allocation_around(uintptr_t address);

// Describes an address that is not in use. freed: an allocation was there.
struct Neighbour {
  std::string text;
  bool freed = false;
  Allocation allocation;
};
Neighbour describe_address(uintptr_t address);

// Calls f with the allocation that begins there, if there is one. Nobody else changes it meanwhile.
void with_allocation(void* data, const std::function<void(Allocation&)>& f);
// Sets bytes of a range to zero, and gives its whole pages back to the system.
void clear(void* from, size_t nbytes);
// The calls that led here, or those that queued what runs now.
Trace trace_of_call();

bool is_page_locked(const void* memory);
// A copy that cudaMemcpyAsync or its like queues on the stream, does or records.
cudaError_t queue_copy(void* to, const void* from, size_t nbytes, cudaStream_t stream);
// Copies into or out of the arena, and marks what it writes as written. The status says whether
// both ranges lie within memory in use.
cudaError_t copy(void* to, const void* from, size_t nbytes);
std::vector<Allocation> take_allocations_in_use();  // of devices, without those returned before
void forget_records();                              // of who accessed what
// A place in the arena with the alignment of these variables; 0 if there is no room.
uintptr_t place_for_variables(Range variables);

}  // namespace gradus::cuda::sim
