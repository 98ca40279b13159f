// How transforms of one length are computed: by stages where its prime factors are small, by two
// shorter lengths where it is long, and as a convolution otherwise (Bluestein 1970).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gradus/cpu/simd/fft_loops.h"

namespace gradus::cpu {

// (cos, sin) of -2 pi k / n, to the last digit.
std::array<double, 2> fft_root(int64_t k, int64_t n);

// Stages for lanes side by side, on two arrays: of real and of imaginary parts.
template <class T>
class FftPlan {
 public:
  explicit FftPlan(int64_t n);

  int64_t length() const { return n_; }
  // Elements of a lane that the arrays need room for: at least the length.
  int64_t room() const { return convolution_ ? convolution_->n_ : n_; }
  // Whether there are stages, which may read and write other numbers than z.
  bool has_stages() const { return !stages_.empty(); }
  // Transforms z[0] + i z[1] forward. Element j of lane q lies at j * lanes + q. `other` is work
  // space of the same size. Returns in z where the results lie: there, or in `other`. Elements are
  // the rows of `in` instead, and the results times `scale` those of `out`, where these are not
  // null. Elements of a single lane follow each other there. REQUIRES: both null, or has_stages().
  void run(int64_t lanes, std::array<T*, 2>& z, std::array<T*, 2>& other, const FftRows<T>& in = {},
           const FftRows<T>& out = {}, T scale = 1) const;
  // The roots of the first stage. REQUIRES: has_stages().
  const T* roots() const { return stages_[0].roots.data(); }
  // (sin, -cos) of -pi k / n for k up to n / 2: for real lines of 2 n elements.
  const T* ends() const { return ends_.data(); }

 private:
  struct Stage {
    int64_t radix, count;
    std::vector<T> twiddles, roots;
  };
  void plan_convolution();

  int64_t n_;
  std::vector<Stage> stages_;
  // Bluestein: j k = (j^2 + k^2 - (k - j)^2) / 2, so that a transform is a convolution with the
  // numbers e^(pi i j^2 / n). The filter is their transform; the chirp holds the conjugate numbers.
  std::unique_ptr<FftPlan> convolution_;
  std::vector<T> chirp_, filter_, ends_;
};

// The plan of a length, which is kept for the next time unless it is large.
template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t n);

// Two factors of n, as equal as can be and both transformed by stages: {0, 0} where there are none.
std::array<int64_t, 2> fft_split(int64_t n);

}  // namespace gradus::cpu
