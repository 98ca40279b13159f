// Copies images so that their channels lie last in memory, in whole units of 16 bytes. Images of
// few channels, such as colors, are padded with zeros so. A unit has one of their places, or two.
// Zeros may stand before and after a line, too.
//
// A thread writes one unit. Cost. Three channels of half types: 22 or 14 bytes of memory a place.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/vector.cuh"

namespace gradus::cuda {

inline constexpr int kPadThreads = 256;

// Images of `width` places in each of `height` lines. strides: of samples, channels, lines and
// places of what is copied. units: those of a place of the copy, or 1 where a unit holds more.
// line: places of a line of the copy, or its units of two. left: places of zeros before a line.
struct PaddedImages {
  int height, width, channels, units, line, left;
  int64_t strides[4];
};

// kPlaces: of a unit.
template <class T, int kPlaces>
__global__ void __launch_bounds__(kPadThreads)
    pad_channels(const PaddedImages images, int count, const T* from, T* to) {
  wait_for_earlier_kernels();
  constexpr int kUnit = vector_width<T>, kChannels = kUnit / kPlaces;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const int at = i / images.units, first = (i - at * images.units) * kUnit;
  const int line = at / images.line, sample = line / images.height;
  const int begin = (at - line * images.line) * kPlaces - images.left;
  from += sample * images.strides[0] + (line - sample * images.height) * images.strides[2];
  Vector<T, kUnit> unit = {};
#pragma unroll
  for (int v = 0; v < kUnit; ++v) {
    const int place = begin + v / kChannels, channel = first + v % kChannels;
    if (channel < images.channels &&
        static_cast<unsigned>(place) < static_cast<unsigned>(images.width))
      unit.at[v] = from[channel * images.strides[1] + place * images.strides[3]];
  }
  store_vector(to + int64_t{i} * kUnit, unit);
}

}  // namespace gradus::cuda
