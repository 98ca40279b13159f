// Brings elements into the form that a loop reads: one after the other, in its type.
#pragma once

#include <cstddef>

#include "gradus/cpu/simd/loops.h"

namespace gradus::cpu {

// The most elements that are converted at a time.
inline constexpr int64_t kMostLoaded = 2048;

// n elements of `size` bytes that are `step` apart, by way of `convert` if that is not null.
// REQUIRES: n <= kMostLoaded where convert is not null.
void load(size_t size, Loop convert, int64_t n, const std::byte* from, int64_t step, std::byte* to);

}  // namespace gradus::cpu
