// Line charts: panels side by side, with axes, ticks and a legend.
#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/watch/pictures/plot.h"
#include "gradus/watch/text.h"

namespace gradus::watch {

namespace {

using detail::format, detail::kColours, detail::kStyles, detail::line, detail::text;

constexpr double kPanelWidth = 460, kPanelHeight = 340;
constexpr double kLeft = 64, kRight = 20, kTop = 74, kBottom = 56;
// Later curves are thinner and dashed, so that one which lies on another shows both.
constexpr const char* kDashes[] = {"none", "7 5", "2 4", "9 3 2 3"};
constexpr double kWidths[] = {5, 2, 2, 2};

// A range of round numbers around values: 1, 2 or 5 times a power of ten apart.
struct Axis {
  double least = HUGE_VAL, greatest = -HUGE_VAL, tick = 1;

  void include(double value) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  void round(bool whole) {
    if (!(least <= greatest)) least = 0, greatest = 1;  // there are no values
    if (least == greatest) greatest = least + (least != 0 ? std::abs(least) : 1);
    const double raw = (greatest - least) / 5, power = std::pow(10, std::floor(std::log10(raw)));
    tick = power * (raw <= power ? 1 : raw <= 2 * power ? 2 : raw <= 5 * power ? 5 : 10);
    if (whole) {
      tick = std::max(tick, 1.0);
    } else {
      least = std::floor(least / tick) * tick;
      greatest = std::ceil(greatest / tick) * tick;
    }
  }
  int decimals() const { return std::max(0, -static_cast<int>(std::floor(std::log10(tick)))); }
  double at(double value, double from, double to) const {
    return from + (value - least) / (greatest - least) * (to - from);
  }
};

double x_of(const Curve& curve, size_t i) {
  return curve.x.empty() ? static_cast<double>(i + 1) : curve.x[i];
}
bool is_point(const Curve& curve, size_t i) {
  return std::isfinite(curve.y[i]) && std::isfinite(x_of(curve, i));
}

// A panel's axes, and where its area lies.
struct Area {
  Axis x, y;
  double left, right;
  static constexpr double top = kTop, bottom = kPanelHeight - kBottom;

  Area(const Panel& panel, double offset)
      : left(offset + kLeft), right(offset + kPanelWidth - kRight) {
    bool whole = true;
    for (const Curve& curve : panel.curves)
      for (size_t i = 0; i < curve.y.size(); ++i) {
        if (!is_point(curve, i)) continue;
        x.include(x_of(curve, i)), y.include(curve.y[i]);
        whole &= x_of(curve, i) == std::floor(x_of(curve, i));
      }
    x.round(whole), y.round(false);
  }
  double across(double value) const { return x.at(value, left, right); }
  double down(double value) const { return y.at(value, bottom, top); }
};

std::string axes(const Area& area, const std::string& x_label) {
  std::string out;
  for (int i = 0; area.y.least + i * area.y.tick < area.y.greatest + area.y.tick / 2; ++i) {
    const double value = area.y.least + i * area.y.tick, y = area.down(value);
    out += line(area.left, y, area.right, y, "#dddddd") +
           text(area.left - 8, y + 4, "end", 12, format("%.*f", area.y.decimals(), value));
  }
  const double first = std::ceil(area.x.least / area.x.tick) * area.x.tick;
  for (int i = 0; first + i * area.x.tick <= area.x.greatest; ++i) {
    const double value = first + i * area.x.tick, x = area.across(value);
    out += line(x, Area::bottom, x, Area::bottom + 5, "#333333") +
           text(x, Area::bottom + 19, "middle", 12, format("%.6g", value));
  }
  return out + line(area.left, Area::bottom, area.right, Area::bottom, "#333333") +
         line(area.left, Area::top, area.left, Area::bottom, "#333333") +
         text((area.left + area.right) / 2, kPanelHeight - 14, "middle", 13, x_label);
}

std::string pen_of(size_t style) {
  return format(
      "stroke=\"%s\" stroke-width=\"%g\" stroke-dasharray=\"%s\" stroke-linejoin=\"round\"",
      kColours[style], kWidths[style], kDashes[style]);
}

// A curve: dots, and lines between neighbours.
std::string drawn(const Area& area, const Curve& curve, size_t style) {
  constexpr size_t kMostDots = 60;
  std::string lines, dots, points;
  const auto end_line = [&] {
    if (!points.empty())
      lines += "<polyline fill=\"none\" " + pen_of(style) + " points=\"" + points + "\"/>\n";
    points.clear();
  };
  for (size_t i = 0; i < curve.y.size(); ++i) {
    if (!is_point(curve, i)) {
      end_line();
      continue;
    }
    const double x = area.across(x_of(curve, i)), y = area.down(curve.y[i]);
    points += format("%.1f,%.1f ", x, y);
    if (curve.y.size() <= kMostDots)
      dots += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\"/>\n", x, y,
                     kWidths[style], kColours[style]);
  }
  end_line();
  return lines + dots;
}

// The legend stands in the corner on the right that the first curve leaves free.
std::string legend(const Area& area, const std::vector<Curve>& curves) {
  double last = std::numeric_limits<double>::quiet_NaN();
  for (size_t i = 0; i < curves[0].y.size(); ++i)
    if (is_point(curves[0], i)) last = curves[0].y[i];
  const double middle = (Area::top + Area::bottom) / 2;
  double y = area.down(last) < middle ? Area::bottom - 20 * static_cast<double>(curves.size())
                                      : Area::top + 18;
  std::string out;
  for (size_t c = 0; c < curves.size(); ++c, y += 20)
    out += format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" ", area.right - 150, y - 4,
                  area.right - 110, y - 4) +
           pen_of(c % kStyles) + "/>\n" + text(area.right - 102, y, "start", 13, curves[c].name);
  return out;
}

}  // namespace

std::string plot_curves(const std::string& title, const std::string& x_label,
                        const std::vector<Panel>& panels) {
  check(!panels.empty(), "plot_curves: panels is empty; give it one panel or more");
  std::string out;
  for (size_t p = 0; p < panels.size(); ++p) {
    const Panel& panel = panels[p];
    check(!panel.curves.empty(), "plot_curves: the panel '", panel.title,
          "' has no curves; give it one or more");
    for (const Curve& curve : panel.curves)
      check(curve.x.empty() || curve.x.size() == curve.y.size(), "plot_curves: the curve '",
            curve.name, "' has ", curve.x.size(), " x and ", curve.y.size(),
            " y; expected as many, or no x");
    const Area area(panel, kPanelWidth * static_cast<double>(p));
    out += text((area.left + area.right) / 2, kTop - 14, "middle", 15, panel.title) +
           axes(area, x_label);
    for (size_t c = 0; c < panel.curves.size(); ++c)
      out += drawn(area, panel.curves[c], c % kStyles);
    out += legend(area, panel.curves);
  }
  return detail::page(kPanelWidth * static_cast<double>(panels.size()), kPanelHeight, title, out);
}

}  // namespace gradus::watch
