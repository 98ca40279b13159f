// The stages of a fast Fourier transform.
#pragma once

#include "gradus/cpu/instruction_set.h"

namespace gradus::cpu {

// Numbers lie as two arrays, of real and of imaginary parts.
template <class T>
struct FftLoops {
  // A stage of Stockham's algorithm: m transforms of `radix` elements, for each of `lanes` lanes
  // side by side. Element k of transform p is multiplied by its twiddle, of which (re, im) lie for
  // each p and each k > 0 in turn. Reads element j of p at (j m + p) lanes, writes element k at
  // (p radix + k) lanes. roots: the cosines of 2 pi i / radix, then the sines. radix: one of
  // kFftRadixes. in and out do not overlap.
  void (*stage)(int64_t radix, int64_t m, int64_t lanes, const T* twiddles, const T* roots,
                const T* const* in, T* const* out);
  // z *= factor, element by element, `lanes` lanes for each factor (re, im).
  void (*multiply)(int64_t n, int64_t lanes, const T* factors, T* const* z);
  // Pairs a = low + k stride and b = high - k stride, `lanes` side by side, become (s + p) scale
  // and conj(s - p) scale, with s = a + conj(b) and p = factor k * (a - conj(b)). `turn` multiplies
  // the parts of the factors (re, im).
  void (*ends)(int64_t n, int64_t stride, int64_t lanes, const T* factors, const T* turn, T scale,
               T* const* low, T* const* high);

  // One table for each set (cpu/instruction_set.h).
#define SET(name) static const FftLoops& name();
#include <gradus_sets.def>
};

// A length is divided by them in this order.
inline constexpr int kFftRadixes[] = {8, 4, 2, 3, 5, 7, 11, 13};

}  // namespace gradus::cpu
