// Copies images so that their channels lie last in memory, in whole units of 16 bytes. Images of
// few channels, such as colors, are padded with zeros so.
//
// A thread writes one unit. Cost. Three channels of half types: 22 bytes of memory a place.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

inline constexpr int kPadThreads = 256;

// Images of `width` places in each of `height` lines. strides: of samples, channels, lines and
// places of what is copied. units: of a place of the copy.
struct PaddedImages {
  int height, width, channels, units;
  int64_t strides[4];
};

template <class T>
__global__ void __launch_bounds__(kPadThreads)
    pad_channels(const PaddedImages images, int count, const T* from, T* to) {
  wait_for_earlier_kernels();
  constexpr int kUnit = vector_width<T>;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const int place = i / images.units, first = (i - place * images.units) * kUnit;
  const int line = place / images.width, sample = line / images.height;
  from += sample * images.strides[0] + (line - sample * images.height) * images.strides[2] +
          (place - line * images.width) * images.strides[3];
  Vector<T, kUnit> unit = {};
#pragma unroll
  for (int v = 0; v < kUnit; ++v)
    if (first + v < images.channels) unit.at[v] = from[(first + v) * images.strides[1]];
  store_vector(to + int64_t{i} * kUnit, unit);
}

}  // namespace gradus::cuda
