// Moments (var_mean) as a fold: the count, the mean, and the sum of squared differences from it.
// The moments of two parts make those of the whole without cancellation. Chan, Golub and LeVeque,
// "Updating formulae and a pairwise algorithm for computing sample variances" (1979).
#pragma once

namespace gradus::cuda {

struct Moments {
  double count, mean, squares;
};

// A fold like the rows of reductions.def, with a state of its own.
struct Variance {
  double divisor;
  bool root;

  template <class T>
  __device__ static Moments start() {
    return {0, 0, 0};
  }
  template <class T>
  __device__ static Moments enter(T x) {
    return {1, static_cast<double>(x), 0};
  }
  __device__ static Moments combine(const Moments& a, const Moments& b) {
    const double count = a.count + b.count, apart = b.mean - a.mean;
    const double share = count > 0 ? b.count / count : 0;
    // The order is one in which 0 times the square of a large number is 0.
    return {count, a.mean + apart * share,
            a.squares + b.squares + apart * (apart * (a.count * share))};
  }
  __device__ double finish(const Moments& s, int64_t) const {
    return root ? sqrt(s.squares / divisor) : s.squares / divisor;
  }
};

}  // namespace gradus::cuda
