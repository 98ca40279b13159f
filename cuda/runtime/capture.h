// The rules that operations and kernels heed where the current stream is captured for a graph
// (graph.h).
#pragma once

#include <string_view>

#include "gradus/tensor/generator.h"

namespace gradus::cuda {

// Errors: Error where the current stream is captured: "OPERATION cannot be captured for a graph,
// because WHY".
void check_not_captured(std::string_view operation, std::string_view why);

// A draw that is captured must not repeat its numbers at each replay. So its state says where in
// memory the replay's state is, and how far behind it the draw comes. This bit in the offset says
// that `seed` is that address, on the device.
inline constexpr uint64_t kCapturedDraw = uint64_t{1} << 63;

// Errors: Error where the current stream is captured, and the state would stay.
void check_draw(const PhiloxState& state);

#ifdef __CUDACC__
// The state that a kernel draws with.
__device__ inline PhiloxState drawn_state(const PhiloxState& state) {
  if (!(state.offset & kCapturedDraw)) return state;
  const PhiloxState& replay = *reinterpret_cast<const PhiloxState*>(state.seed);
  return {replay.seed, replay.offset + (state.offset & ~kCapturedDraw)};
}
#endif

}  // namespace gradus::cuda
