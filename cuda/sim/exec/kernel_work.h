// A kernel with everything that a launch of it needs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace gradus::cuda::sim {

// The bytes of a kernel's arguments, of the sizes that declare() was told.
class Arguments {
 public:
  Arguments(void** args, const size_t* sizes);
  // The arguments as cudaLaunchKernel takes them.
  void** pointers() const { return pointers_.get(); }

 private:
  struct alignas(64) Part {
    std::byte bytes[64];
  };
  std::vector<std::vector<Part>> values_;
  std::unique_ptr<void*[]> pointers_;
};

struct KernelWork {
  const void* kernel;
  dim3 grid, block;
  size_t shared_bytes;
  int device;
  bool early;  // may start before the kernel before it has ended
  Arguments arguments;
};

// Errors: what cudaLaunchKernel refuses.
cudaError_t check_launch(const void* kernel, dim3 grid, dim3 block, size_t shared_bytes);
// A launch to be done later. REQUIRES: check_launch succeeds.
std::shared_ptr<const KernelWork> keep_launch(const void* kernel, dim3 grid, dim3 block,
                                              void** args, size_t shared_bytes, int device,
                                              bool early);
// Does it. Errors of the kernel come up at the next call.
void run_kernel(const KernelWork& work);

}  // namespace gradus::cuda::sim
