// The stages of a fast Fourier transform.
#pragma once

#include "gradus/cpu/instruction_set.h"

namespace gradus::cpu {

// Where rows of elements lie, of which a stage computes those side by side together.
template <class T>
struct FftRows {
  T *re = nullptr, *im = nullptr;  // the parts of the first element
  int64_t step = 0;                // numbers from one row to the next
  int width = 1;  // numbers from one element of a row to the next: 2 where its parts are together

  FftRows moved(int64_t numbers) const { return {re + numbers, im + numbers, step, width}; }
};

// Numbers lie as two arrays, of real and of imaginary parts, but where FftRows says otherwise.
template <class T>
struct FftLoops {
  // A stage of Stockham's algorithm: m transforms of `radix` elements, for each of `lanes` lanes
  // side by side. Element k of transform p is multiplied by its twiddle, of which (re, im) lie for
  // each p and each k > 0 in turn, and by `scale` where the parts of an element of `out` are
  // together. Reads element j of p in row j m + p, writes element k in row p radix + k. roots: the
  // cosines of 2 pi i / radix, then the sines. radix: one of kFftRadixes. `in` and
  // `out` do not overlap, or are the same where m is 1.
  void (*stage)(int64_t radix, int64_t m, int64_t lanes, const T* twiddles, const T* roots,
                const FftRows<const T>& in, const FftRows<T>& out, T scale);
  // The transforms of lines of 16 elements that follow each other, times `scale`; where they are
  // `real`, up to the element in the middle. roots: of stage() for radix 16. Null where a vector
  // has no room for four complex numbers.
  void (*sixteen)(int64_t lines, bool real, const T* const* in, T* const* out, const T* roots,
                  bool inverse, T scale);
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
inline constexpr int kFftRadixes[] = {16, 8, 4, 2, 3, 5, 7, 11, 13};

}  // namespace gradus::cpu
