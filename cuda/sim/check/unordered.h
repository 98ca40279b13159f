// Finds two pieces of queued work that use the same memory while no stream, event or wait orders
// them (runtime/queue.h), whichever of them runs first here.
#pragma once

#include <cstdint>
#include <vector>

#include "gradus/cuda/sim/check/access.h"
#include "gradus/cuda/sim/check/findings.h"
#include "gradus/cuda/sim/runtime/queue.h"

namespace gradus::cuda::sim {

class Worker;
struct Seen;

// Makes room for the records. Call it before work is queued.
void reserve_work_cells();
// Forgets who used the memory.
void forget_works(uintptr_t address, size_t nbytes);

// A thread of a kernel accesses global memory.
void check_order(Worker& worker, const Seen& seen, uintptr_t address);
// The running work, which is no kernel, accesses memory of the arena.
void note_access(Access access, uintptr_t address, size_t nbytes);
// The running work gives the memory back.
void check_give_back(uintptr_t address, size_t nbytes);
// Whether nothing orders this work, which gave memory back, and the one that runs.
bool is_unordered(uint32_t given_back, const Running& now);
// The sides of a report that say where both were queued.
std::vector<Sighting::Side> sides_of_works(uint32_t other, const char* verb, const Running& now);

}  // namespace gradus::cuda::sim
