// Launches of kernels of the user's own.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "gradus/cuda/rtc/program.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/tensor/codegen/elements.h"

namespace gradus::cuda::rtc {

// The programs of a kernel, by what its text depends on in a call.
class Programs {
 public:
  // make: the program, where there is none yet.
  template <class Make>
  Program of(const std::string& form, Make make) {
    const std::lock_guard lock(mutex_);
    const auto found = programs_.find(form);
    return found != programs_.end() ? found->second : programs_.emplace(form, make()).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Program> programs_;
};

// Queues kernel `index` of the program on the current stream of the current device. It warns of a
// grid of fewer blocks than the device has multiprocessors, and of blocks that are no multiple of
// 32 threads: once in a process for each reason, with GRADUS_WARN_OCCUPANCY=1 once for each kernel,
// with 0 never.
void launch_own(const Program& program, size_t index, const std::string& name, dim3 grid,
                dim3 block, size_t shared_bytes, void** arguments);

// The same for an elementwise kernel, the only one of its program. values: of its parameters.
void launch_elements(const Program& program, const std::string& name,
                     const codegen::ElementsForm& form, const codegen::Walk& walk,
                     codegen::KernelArguments values);

}  // namespace gradus::cuda::rtc
