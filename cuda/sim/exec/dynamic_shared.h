// What `extern __shared__ T name[]` stands for: cuda/sim/compile gives every such name in an object
// file this one.
#pragma once

namespace gradus::cuda::sim {
inline constexpr unsigned kMostDynamicShared = 227 << 10;
}

extern "C" {
extern thread_local unsigned char gradus_sim_dynamic_shared[gradus::cuda::sim::kMostDynamicShared];
}
