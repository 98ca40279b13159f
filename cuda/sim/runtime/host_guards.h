// Page-locked memory that copies use and the host must not touch yet (queue.h). The system
// protects its pages from the call that queues a copy until the host has waited. An access before
// that is found by its fault.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gradus/cuda/sim/runtime/queue.h"

namespace gradus::cuda::sim {

// `written`: the copy writes the memory; else it reads, and the host may read, too.
void guard_host(const void* memory, size_t nbytes, bool written, uint32_t work);
// Opens the pages of an address that has faulted, so that the access can be made again. Reports the
// access where it is the host's. Returns whether the memory is page-locked.
bool open_guard(uintptr_t address, void* context);
// Ends those whose work is in this past of the host.
void lift_guards(const Past& host);
// Protects again what work of a device had to open.
void guard_again();

}  // namespace gradus::cuda::sim
