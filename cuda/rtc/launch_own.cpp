// Starts kernels of the user's own, and says where they leave most of a GPU idle.
#include "gradus/cuda/rtc/launch_own.h"

#include <cstdlib>
#include <mutex>
#include <set>

#include "gradus/tensor/base/warning.h"

namespace gradus::cuda::rtc {

namespace {

// Read at each launch: it costs little beside a launch, and a program may set it.
std::string wanted() {
  const char* value = std::getenv("GRADUS_WARN_OCCUPANCY");
  return value ? value : "";
}

void warn_once(const void* kernel, int reason, const std::string& text) {
  static std::mutex mutex;
  static auto& said = *new std::set<std::pair<const void*, int>>;
  const bool of_each = wanted() == "1";
  {
    const std::lock_guard lock(mutex);
    if (!said.emplace(of_each ? kernel : nullptr, reason).second) return;
  }
  warn(of_each ? text
               : text + " (said once; GRADUS_WARN_OCCUPANCY=1 says it of each kernel, 0 of none)");
}

void warn_of_idle_hardware(const void* kernel, const std::string& name, dim3 grid, dim3 block) {
  const uint64_t blocks = uint64_t{grid.x} * grid.y * grid.z;
  const unsigned threads = block.x * block.y * block.z;
  const int multiprocessors = getDeviceProperties(current_device()).multiprocessors;
  if (blocks > 0 && blocks < static_cast<uint64_t>(multiprocessors))
    warn_once(kernel, 0,
              name + ": a grid of " + std::to_string(blocks) + " blocks leaves " +
                  std::to_string(multiprocessors - static_cast<int>(blocks)) + " of the " +
                  std::to_string(multiprocessors) +
                  " multiprocessors idle; divide the work into more blocks");
  if (threads % 32 != 0)
    warn_once(kernel, 1,
              name + ": a block of " + std::to_string(threads) +
                  " threads leaves lanes of its last warp idle; take a multiple of 32");
}

}  // namespace

void launch_own(const Program& program, size_t index, const std::string& name, dim3 grid,
                dim3 block, size_t shared_bytes, void** arguments) {
  const void* kernel = program.kernel(index);
  if (wanted() != "0") warn_of_idle_hardware(kernel, name, grid, block);
  detail::launch(kernel, {grid, block, shared_bytes}, arguments);
}

void launch_elements(const Program& program, const std::string& name,
                     const codegen::ElementsForm& form, const codegen::Walk& walk,
                     codegen::KernelArguments values) {
  form.add_to(values, walk);
  launch_own(program, 0, name, dim3(static_cast<unsigned>(form.blocks(walk))),
             codegen::kElementThreads, 0, values.pointers().data());
}

}  // namespace gradus::cuda::rtc
