// Histogram: counting between borders.
#include "gradus/watch/tensorboard/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"

namespace gradus::watch::detail {

namespace {

// The upper borders, from the lowest.
const std::vector<double>& borders() {
  static const auto& once = *new std::vector<double>([] {
    constexpr double kFirst = 1e-12, kLast = 1e20, kStep = 1.1;
    std::vector<double> out{0};
    for (double border = kFirst; border < kLast; border *= kStep) {
      out.push_back(border);
      out.push_back(-border);
    }
    out.push_back(std::numeric_limits<double>::max());
    std::sort(out.begin(), out.end());
    return out;
  }());
  return once;
}

}  // namespace

Histogram histogram_of(const Tensor& x) {
  const NoGradGuard no_grad;
  const Tensor here = x.detach().to(Device(kCPU), kDouble).contiguous();
  const std::vector<double>& all = borders();
  std::vector<double> counts(all.size());
  Histogram out;
  for (const double* at = here.data_ptr<double>(); at < here.data_ptr<double>() + here.numel();
       ++at) {
    if (!std::isfinite(*at)) continue;
    ++counts[static_cast<size_t>(std::lower_bound(all.begin(), all.end(), *at) - all.begin())];
    out.least = out.count == 0 ? *at : std::min(out.least, *at);
    out.greatest = out.count == 0 ? *at : std::max(out.greatest, *at);
    ++out.count;
    out.sum += *at;
    out.sum_of_squares += *at * *at;
  }
  const auto is_used = [](double count) { return count > 0; };
  auto first = std::find_if(counts.begin(), counts.end(), is_used) - counts.begin();
  auto end = counts.rend() - std::find_if(counts.rbegin(), counts.rend(), is_used);
  if (out.count == 0) first = 0, end = 1;  // one empty bucket
  // An empty bucket before the first says where that one begins.
  if (first > 0) --first;
  out.limits.assign(all.begin() + first, all.begin() + end);
  out.counts.assign(counts.begin() + first, counts.begin() + end);
  return out;
}

}  // namespace gradus::watch::detail
