// The line search for the strong Wolfe conditions.
#include "gradus/optim/wolfe.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gradus::optim {

namespace {
// Where the cubic through both points and slopes is least, within [least, most]; the middle of that
// where it has no minimum.
double cubic_minimum(const LinePoint& a, const LinePoint& b, double least, double most) {
  const auto& [low, high] = a.t <= b.t ? std::tie(a, b) : std::tie(b, a);
  const double d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (least + most) / 2;
  const double d2 = std::sqrt(square);
  const double part = (high.slope + d2 - d1) / (high.slope - low.slope + 2 * d2);
  return std::min(std::max(high.t - (high.t - low.t) * part, least), most);
}

struct Bracket {
  std::array<LinePoint, 2> ends;
  size_t low;  // the end with the lower value
  LinePoint& best() { return ends[low]; }
  LinePoint& other() { return ends[1 - low]; }
  void sort() { low = ends[0].value <= ends[1].value ? 0 : 1; }
};
}  // namespace

LinePoint strong_wolfe(const std::function<LinePoint(double t)>& evaluate, const LinePoint& start,
                       double t, double least, int64_t most) {
  const auto too_high = [&](const LinePoint& x) {
    return x.value > start.value + 1e-4 * x.t * start.slope;
  };
  const auto flat = [&](const LinePoint& x) { return std::abs(x.slope) <= -0.9 * start.slope; };

  // Goes on until two points have a minimum between them.
  LinePoint before = start, next = evaluate(t);
  int64_t tries = 0;
  for (; tries < most; ++tries) {
    const bool rises = too_high(next) || (tries > 1 && next.value >= before.value);
    if (!rises && flat(next)) return next;
    if (rises || next.slope >= 0) break;
    t = cubic_minimum(before, next, next.t + 0.01 * (next.t - before.t), next.t * 10);
    before = std::exchange(next, evaluate(t));
  }
  Bracket bracket{{tries < most ? before : start, next}, 0};
  bracket.sort();

  // Makes the bracket smaller. Twice near the same end would be too slow.
  for (bool near_end = false; tries < most; ++tries) {
    const auto [left, right] = std::minmax(bracket.ends[0].t, bracket.ends[1].t);
    if (right - left < least) break;
    t = cubic_minimum(bracket.ends[0], bracket.ends[1], left, right);
    const double margin = 0.1 * (right - left);
    const bool close = std::min(right - t, t - left) < margin;
    const bool push = close && (near_end || t >= right || t <= left);
    if (push) t = right - t < t - left ? right - margin : left + margin;
    near_end = close && !push;

    next = evaluate(t);
    if (too_high(next) || next.value >= bracket.best().value) {
      bracket.other() = next;
      bracket.sort();
      continue;
    }
    if (flat(next)) return next;
    if (next.slope * (bracket.other().t - bracket.best().t) >= 0) bracket.other() = bracket.best();
    bracket.best() = next;
  }
  return bracket.best();
}

}  // namespace gradus::optim
