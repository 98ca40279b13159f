// multinomial: indices drawn by weights, on the CPU, or on a GPU where they are drawn with
// replacement. A seed gives the same ones on both, but where a sum is rounded otherwise.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gradus/tensor/factories.h"
#include "gradus/tensor/level.h"
#include "gradus/tensor/math/philox.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

// Rows of weights: contiguous, of double, on the CPU.
struct Rows {
  const Tensor weights;
  int64_t count, n;

  const double* row(int64_t r) const { return weights.data_ptr<double>() + r * n; }
  Tensor reduced(ReduceOp op) const {
    return raw::reduce(op, raw::alias(weights, {count, n}, {n, 1}), IntArrayRef({1}));
  }
};

// So many neighbouring weights are summed apart.
constexpr int64_t kGroup = 64;

// The sums of whole groups: (rows, groups).
Tensor sums_of_groups(const Rows& rows) {
  const Dims sizes = {rows.count, rows.n / kGroup, kGroup}, strides = {rows.n, kGroup, 1};
  return raw::reduce(ReduceOp::sum, raw::alias(rows.weights, sizes, strides), IntArrayRef({2}));
}

// Each sample is where a uniform number falls among the sums of the weights: in a group, and among
// those of the group.
void draw_replacing(const double* weights, int64_t n, const double* groups, const double* uniform,
                    int64_t samples, int64_t* out) {
  const int64_t whole = n / kGroup;
  std::vector<double> sums(groups, groups + whole);
  if (whole * kGroup < n)
    sums.push_back(std::accumulate(weights + whole * kGroup, weights + n, 0.0));
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  for (int64_t s = 0; s < samples; ++s) {
    const double target = uniform[s] * sums.back();
    // A product that rounds up to the total falls to the last group with a weight above zero.
    auto group = std::upper_bound(sums.begin(), sums.end(), target);
    if (group == sums.end()) group = std::lower_bound(sums.begin(), sums.end(), sums.back());
    const int64_t first = (group - sums.begin()) * kGroup, end = std::min(first + kGroup, n);
    double sum = group == sums.begin() ? 0 : group[-1];
    // The last element also takes what rounding leaves between the last sum here and that of the
    // group.
    for (int64_t i = first; i < end && sum <= target; ++i) {
      sum += weights[i];
      if (weights[i] > 0) out[s] = i;
    }
  }
}

// The first of exponential clocks, each with its weight as rate, to ring is drawn in proportion to
// the weights; the next one is drawn from the others (Efraimidis and Spirakis, "Weighted random
// sampling with a reservoir", 2006).
void draw_different(const double* weights, int64_t n, const double* uniform, int64_t samples,
                    int64_t* out) {
  std::vector<double> rings(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    rings[i] = weights[i] > 0 ? -std::log1p(-uniform[i]) / weights[i] : HUGE_VAL;
  std::vector<int64_t> order(rings.size());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + samples, order.end(), [&](int64_t a, int64_t b) {
    return rings[a] < rings[b] || (rings[a] == rings[b] && a < b);
  });
  std::copy_n(order.begin(), samples, out);
}

void check_weights(const Rows& rows, int64_t samples, bool replacement) {
  const Tensor least = rows.reduced(ReduceOp::amin), most = rows.reduced(ReduceOp::amax);
  for (int64_t r = 0; r < rows.count; ++r) {
    const double* const weights = rows.row(r);
    const double low = least.data_ptr<double>()[r], high = most.data_ptr<double>()[r];
    for (int64_t i = 0; i < rows.n && !(low >= 0 && std::isfinite(high)); ++i)
      check(weights[i] >= 0 && std::isfinite(weights[i]),
            "multinomial: probability tensor contains either `inf`, `nan` or element < 0: element ",
            i, " of a row is ", weights[i], "; clamp them, or take a softmax");
    check(high > 0,
          "multinomial: invalid multinomial distribution (sum of probabilities <= 0) in a row; "
          "expected one above 0 at least");
    if (replacement) continue;
    const int64_t positive =
        std::count_if(weights, weights + rows.n, [](double weight) { return weight > 0; });
    check(samples <= positive, "multinomial: ", samples,
          " different samples were asked for, and a row has ", positive,
          " weights above 0; draw with replacement");
  }
}

// Draws with replacement on the device of the weights. Waits only for whether they are valid;
// undefined where they are not. Rows of n weights.
Tensor draw_on_device(const Tensor& self, int64_t rows, int64_t n, int64_t samples,
                      const std::optional<Generator>& generator) {
  const Tensor weights = raw::alias(raw::contiguous(raw::to(self, kDouble)), {rows, n}, {n, 1});
  const Tensor sums = raw::scan(ScanOp::cumsum, weights, 1);
  const Tensor totals = raw::contiguous(raw::narrow(sums, 1, n - 1, 1));
  const Tensor known = raw::empty({4}, kDouble, self.device());
  backend(known).cat(Tensors{raw::aminmax(weights), raw::aminmax(totals)}, 0, known);
  const Tensor extremes = raw::to(known, kCPU);
  const auto* const found = extremes.data_ptr<double>();
  if (!(found[0] >= 0 && std::isfinite(found[3]) && found[2] > 0)) return {};
  const Tensor target = raw::empty({rows, samples}, kDouble, self.device());
  const PhiloxState state = raw::take(generator, self.device(), target.numel());
  backend(target).random(Distribution::uniform, 0, 1, state, target);
  raw::zip_(BinaryOp::mul, target, totals);
  // A product that rounds up to the total falls to the last weight above zero.
  return raw::zip(BinaryOp::minimum, raw::searchsorted(sums, target, true),
                  raw::searchsorted(sums, totals, false));
}

}  // namespace

Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement,
                   std::optional<Generator> generator) {
  self.operand("multinomial");
  check<TypeError>(self.is_floating_point(), "multinomial: the weights have dtype ",
                   self.scalar_type(), ", expected a floating point one; convert with .to(kFloat)");
  check(self.dim() == 1 || self.dim() == 2, "multinomial: self has shape ", self.sizes(),
        ", expected 1 or 2 dimensions; flatten it to rows of weights");
  check(num_samples > 0, "multinomial: num_samples = ", num_samples, "; give 1 or more");
  const int64_t rows = self.dim() == 2 ? self.size(0) : 1, n = self.size(-1);
  check(rows == 0 || n > 0, "multinomial: there are no weights to draw by; give one at least");
  check(replacement || num_samples <= n, "multinomial: ", num_samples,
        " different samples were asked for, and there are ", n, " weights; draw with replacement");

  Dims shape = self.impl().sizes;
  shape[self.dim() - 1] = num_samples;
  const Tensor out = raw::empty(shape, kLong, kCPU);
  if (out.numel() == 0) return raw::to(out, self.device());
  if (replacement && self.is_cuda())  // a copy to the CPU would wait
    if (const Tensor drawn = draw_on_device(self, rows, n, num_samples, generator); drawn.defined())
      return raw::alias(drawn, shape, contiguous_strides(shape));
  const Rows weights{raw::contiguous(raw::to(raw::to(self, kCPU), kDouble)), rows, n};
  check_weights(weights, num_samples, replacement);
  const int64_t draws = replacement ? num_samples : n;  // of each row
  const Tensor uniform = raw::empty({rows, draws}, kDouble, kCPU);
  batching::refuse_different("multinomial");
  const PhiloxState state = raw::take(generator, self.device(), uniform.numel());
  backend(uniform).random(Distribution::uniform, 0, 1, state, uniform);
  const Tensor groups = replacement ? sums_of_groups(weights) : Tensor();
  for (int64_t row = 0; row < rows; ++row) {
    const double* const drawn = uniform.data_ptr<double>() + row * draws;
    int64_t* const samples = out.data_ptr<int64_t>() + row * num_samples;
    if (replacement)
      draw_replacing(weights.row(row), n, groups.data_ptr<double>() + row * (n / kGroup), drawn,
                     num_samples, samples);
    else
      draw_different(weights.row(row), n, drawn, num_samples, samples);
  }
  return raw::to(out, self.device());
}

Tensor Tensor::multinomial(int64_t num_samples, bool replacement,
                           std::optional<Generator> generator) const {
  return gradus::multinomial(*this, num_samples, replacement, std::move(generator));
}

}  // namespace gradus
