// The memory of `extern __shared__ T name[]`: cuda/sim/compile renames every such array in an
// object file to this one.
#pragma once

namespace gradus::cuda::sim {
inline constexpr unsigned kMostDynamicShared = 227 << 10;
}

extern "C" {
extern thread_local unsigned char gradus_sim_dynamic_shared[gradus::cuda::sim::kMostDynamicShared];
}
