// NVTX: names for parts of a program, which Nsight Systems shows. The names are torch.cuda.nvtx's.
#pragma once

#include <string>

namespace gradus::cuda::nvtx {

// The library of NVTX is loaded at the first call, and needs no GPU. Errors: Error where it cannot
// be loaded.
void check_available();

// A range of this thread begins, within those that are open.
// Errors, of all below: those of check_available().
void range_push(const std::string& name);
// The innermost range of this thread ends.
void range_pop();
// A moment.
void mark(const std::string& name);

}  // namespace gradus::cuda::nvtx
