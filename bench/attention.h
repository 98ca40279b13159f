// Attention on a GPU, as bench/gpu.cpp measures it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "bench/timer.h"

namespace bench {

using namespace gradus;

// Attention, forward and backward. Of causal attention half of the scores count.
inline void attention() {
  const auto time = [](ScalarType dtype, const std::vector<int64_t>& shape, bool causal = true) {
    const auto random = [&](bool grad) {
      return randn(shape, kCUDA).to(dtype).requires_grad_(grad);
    };
    const Tensor q = random(true), k = random(true), v = random(true), grad = random(false);
    const auto step = [&] {
      const Tensor y = scaled_dot_product_attention(q, k, v, {}, 0, causal);
      autograd::grad({y}, {q, k, v}, {grad});
    };
    std::string name = dtype == kFloat ? "attention float32" : "attention bfloat16";
    for (size_t i = 0; i < shape.size(); ++i) name += (i ? " x " : " ") + std::to_string(shape[i]);
    name += causal ? ", causal" : ", full";
    // Two products forward and five backward.
    const double flop = (causal ? 7.0 : 14.0) * static_cast<double>(q.numel() * shape[2]);
    report(name.c_str(), "gradus", device_seconds(step, 5), flop, "FLOP");
  };
  time(kBFloat16, {64, 6, 256, 64});
  time(kBFloat16, {8, 12, 1024, 64});
  time(kBFloat16, {16, 16, 1024, 128});
  time(kBFloat16, {8, 16, 2048, 128});
  time(kBFloat16, {4, 16, 2048, 128});
  time(kBFloat16, {4, 16, 4096, 64});
  time(kBFloat16, {4, 16, 4096, 64}, /*causal=*/false);
  time(kBFloat16, {4, 16, 4096, 128});
  time(kBFloat16, {2, 16, 4096, 128});
  time(kBFloat16, {2, 16, 4096, 128}, /*causal=*/false);
  time(kBFloat16, {2, 16, 8192, 64});
  time(kBFloat16, {2, 16, 8192, 128});
  time(kBFloat16, {1, 16, 8192, 128});
  time(kBFloat16, {1, 16, 16384, 128});
  for (const int64_t length : {1024, 4096}) time(kFloat, {16, 12, length, 64});
}

// One query for each head, as a model that generates asks for it: heads of queries may share keys
// and values, whose bytes count.
inline void one_query() {
  struct Case {
    int64_t batch, heads, shared, keys, width;
  };
  constexpr int kCalls = 20;
  for (const auto& [batch, heads, shared, keys, width] :
       {Case{16, 32, 8, 4096, 128}, Case{1, 32, 8, 8192, 128}, Case{16, 12, 12, 1024, 64},
        Case{16, 32, 32, 4096, 128}}) {
    const auto made = [](const std::vector<int64_t>& sizes) {
      return randn(sizes, kCUDA).to(kBFloat16);
    };
    const Tensor q = made({batch, heads, 1, width}), k = made({batch, shared, keys, width}),
                 v = made({batch, shared, keys, width});
    const double seconds = device_seconds([&] {
      for (int i = 0; i < kCalls; ++i)
        scaled_dot_product_attention(q, k, v, {}, 0.0, false, {}, true);
    });
    std::string name = "one query of " + std::to_string(batch) + " x " + std::to_string(heads) +
                       " heads, " + std::to_string(shared) + " of keys, " + std::to_string(keys) +
                       " x " + std::to_string(width);
    report(name.c_str(), "gradus", seconds / kCalls,
           4.0 * static_cast<double>(batch * shared * keys * width), "B");
  }
}

}  // namespace bench
