// Plans: the stages of a length, their twiddles, and Bluestein's convolution.
#include "gradus/cpu/fft/plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

namespace gradus::cpu {

namespace {

// The rest of n without the radixes.
int64_t rough_part(int64_t n) {
  for (int radix : kFftRadixes)
    while (n % radix == 0) n /= radix;
  return n;
}

// The least length from n on that has factors 2, 3 and 5 alone.
int64_t smooth_length(int64_t n) {
  int64_t best = INT64_MAX;
  for (int64_t five = 1; five < best; five *= 5)
    for (int64_t three = five; three < best; three *= 3) {
      int64_t two = three;
      while (two < n) two *= 2;
      best = std::min(best, two);
    }
  return best;
}

}  // namespace

// Angles of at most pi / 4, where sine and cosine lose no digits; the rest is exact.
std::array<double, 2> fft_root(int64_t k, int64_t n) {
  const int64_t quarter = 4 * (k % n) / n, rest = 4 * (k % n) - quarter * n;
  const auto angle = [&](int64_t part) {
    return static_cast<double>(part) / static_cast<double>(n) * (std::numbers::pi / 2);
  };
  double c = 0, s = 0;
  if (2 * rest <= n)
    c = std::cos(angle(rest)), s = std::sin(angle(rest));
  else
    c = std::sin(angle(n - rest)), s = std::cos(angle(n - rest));
  switch (quarter) {
    case 0:
      return {c, -s};
    case 1:
      return {-s, -c};
    case 2:
      return {-c, s};
    default:
      return {s, c};
  }
}

template <class T>
FftPlan<T>::FftPlan(int64_t n) : n_(n) {
  for (int64_t k = 0; 2 * k <= n; ++k) {
    const auto [c, s] = fft_root(k, 2 * n);
    ends_.push_back(static_cast<T>(s)), ends_.push_back(static_cast<T>(-c));
  }
  if (rough_part(n) > 1) {
    plan_convolution();
    return;
  }
  int64_t left = n;
  for (int radix : kFftRadixes)
    while (left % radix == 0) {
      Stage stage{radix, left / radix, {}, {}};
      for (int64_t p = 0; p < stage.count; ++p)
        for (int64_t k = 1; k < radix; ++k)
          for (double part : fft_root(p * k, left)) stage.twiddles.push_back(static_cast<T>(part));
      for (int64_t k = 0; k < radix; ++k)
        stage.roots.push_back(static_cast<T>(fft_root(k, radix)[0]));
      for (int64_t k = 0; k < radix; ++k)
        stage.roots.push_back(static_cast<T>(-fft_root(k, radix)[1]));
      stages_.push_back(std::move(stage));
      left /= radix;
    }
}

template <class T>
void FftPlan<T>::plan_convolution() {
  convolution_ = std::make_unique<FftPlan>(smooth_length(2 * n_ - 1));
  const int64_t m = convolution_->n_;
  std::vector<T> re(static_cast<size_t>(m)), im(re), other_re(re), other_im(re);
  int64_t square = 0;  // j^2 modulo 2 n
  for (int64_t j = 0; j < n_; ++j) {
    const auto [c, s] = fft_root(square, 2 * n_);
    chirp_.push_back(static_cast<T>(c)), chirp_.push_back(static_cast<T>(s));
    for (int64_t at : {j, (m - j) % m}) {
      re[static_cast<size_t>(at)] = static_cast<T>(c / static_cast<double>(m));
      im[static_cast<size_t>(at)] = static_cast<T>(-s / static_cast<double>(m));
    }
    square = (square + 2 * j + 1) % (2 * n_);
  }
  std::array<T*, 2> z = {re.data(), im.data()}, other = {other_re.data(), other_im.data()};
  convolution_->run(1, z, other);
  for (int64_t k = 0; k < m; ++k) filter_.push_back(z[0][k]), filter_.push_back(z[1][k]);
}

template <class T>
void FftPlan<T>::run(int64_t lanes, std::array<T*, 2>& z, std::array<T*, 2>& other,
                     const FftRows<T>& in, const FftRows<T>& out, T scale) const {
  const FftLoops<T>& loops = table_of<FftLoops<T>>();
  if (!convolution_) {
    int64_t side_by_side = lanes;
    for (const Stage& stage : stages_) {
      const bool last = stage.count == 1 && out.re;
      FftRows<const T> from{z[0], z[1], side_by_side, 1};
      if (side_by_side == lanes && in.re) from = {in.re, in.im, in.step, in.width};
      FftRows<T> to{other[0], other[1], side_by_side, 1};
      if (last) to = {out.re, out.im, side_by_side / lanes * out.step, out.width};
      // Elements side by side are rows of `out`.
      const int64_t rows = last && lanes > 1 ? side_by_side / lanes : 1;
      for (int64_t row = 0; row < rows; ++row)
        loops.stage(stage.radix, stage.count, side_by_side / rows, stage.twiddles.data(),
                    stage.roots.data(), from.moved(row * lanes), to.moved(row * out.step), scale);
      std::swap(z, other);
      side_by_side *= stage.radix;
    }
    return;
  }
  const int64_t m = convolution_->n_;
  loops.multiply(n_, lanes, chirp_.data(), z.data());
  for (T* part : z) std::fill(part + n_ * lanes, part + m * lanes, T(0));
  convolution_->run(lanes, z, other);
  loops.multiply(m, lanes, filter_.data(), z.data());
  // A transform whose parts are exchanged is the inverse one.
  std::swap(z[0], z[1]);
  convolution_->run(lanes, z, other);
  std::swap(z[0], z[1]);
  loops.multiply(n_, lanes, chirp_.data(), z.data());
}

template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t n) {
  constexpr size_t kMostPlans = 64;
  constexpr int64_t kLongest = int64_t{1} << 16;
  static std::mutex mutex;
  static std::map<int64_t, std::shared_ptr<const FftPlan<T>>> plans;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = plans.find(n); found != plans.end()) return found->second;
  }
  auto made = std::make_shared<const FftPlan<T>>(n);
  if (n > kLongest) return made;
  const std::lock_guard lock(mutex);
  if (plans.size() >= kMostPlans) plans.clear();
  plans.emplace(n, made);
  return made;
}

std::array<int64_t, 2> fft_split(int64_t n) {
  if (rough_part(n) > 1) return {0, 0};
  for (int64_t first = static_cast<int64_t>(std::sqrt(static_cast<double>(n))) + 1; first > 1;
       --first)
    if (n % first == 0) return {first, n / first};
  return {0, 0};
}

template class FftPlan<float>;
template class FftPlan<double>;
template std::shared_ptr<const FftPlan<float>> fft_plan<float>(int64_t n);
template std::shared_ptr<const FftPlan<double>> fft_plan<double>(int64_t n);

}  // namespace gradus::cpu
