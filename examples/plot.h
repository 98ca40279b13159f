// Line charts as SVG: panels side by side, with axes, ticks and a legend.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "table.h"

namespace plot {

struct Curve {
  std::string name;
  std::vector<double> y;  // of x = 1, 2, 3, ...
};
struct Panel {
  std::string title;
  std::vector<Curve> curves;
};

namespace detail {

constexpr double kWidth = 460, kHeight = 340;  // of a panel
constexpr double kLeft = 64, kRight = 20, kTop = 74, kBottom = 56;
// Colours that stay apart for colour-blind readers. Later curves are thinner and dashed, so that
// one which lies on another shows both.
constexpr const char* kColours[] = {"#56b4e9", "#d55e00", "#009e73", "#cc79a7"};
constexpr const char* kDashes[] = {"none", "7 5", "2 4", "9 3 2 3"};
constexpr double kWidths[] = {5, 2, 2, 2};
constexpr size_t kStyles = 4;

inline std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

inline std::string text(double x, double y, const char* anchor, int size, const std::string& what) {
  return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\">", x, y, anchor,
                size) +
         escaped(what) + "</text>\n";
}

inline std::string line(double x0, double y0, double x1, double y1, const char* colour) {
  return format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x0, y0,
                x1, y1, colour);
}

// A range of round numbers around the values: 1, 2 or 5 times a power of ten apart.
struct Axis {
  double low, high, tick;

  Axis(double least, double greatest, bool whole) {
    if (!(greatest > least)) greatest = least + (least != 0 ? std::abs(least) : 1);
    const double raw = (greatest - least) / 5;
    const double power = std::pow(10, std::floor(std::log10(raw)));
    tick = power * (raw <= power ? 1 : raw <= 2 * power ? 2 : raw <= 5 * power ? 5 : 10);
    if (whole) tick = std::max(tick, 1.0);
    low = whole ? least : std::floor(least / tick) * tick;
    high = whole ? greatest : std::ceil(greatest / tick) * tick;
  }
  double at(double value, double from, double to) const {
    return from + (value - low) / (high - low) * (to - from);
  }
};

inline std::string draw(const Panel& panel, const std::string& x_label, double offset) {
  double least = INFINITY, greatest = -INFINITY, count = 1;
  for (const Curve& curve : panel.curves) {
    for (const double y : curve.y) least = std::min(least, y), greatest = std::max(greatest, y);
    count = std::max(count, static_cast<double>(curve.y.size()));
  }
  const Axis xs(1, count, true), ys(least, greatest, false);
  const double left = offset + kLeft, right = offset + kWidth - kRight;
  const double top = kTop, bottom = kHeight - kBottom;

  std::string out = text((left + right) / 2, top - 14, "middle", 15, panel.title);
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(ys.tick))));
  for (int i = 0; ys.low + i * ys.tick < ys.high + ys.tick / 2; ++i) {
    const double value = ys.low + i * ys.tick, y = ys.at(value, bottom, top);
    out += line(left, y, right, y, "#dddddd");
    out += text(left - 8, y + 4, "end", 12, format("%.*f", decimals, value));
  }
  for (double value = std::max(xs.tick, 1.0); value <= count; value += xs.tick) {
    const double x = xs.at(value, left, right);
    out += line(x, bottom, x, bottom + 5, "#333333");
    out += text(x, bottom + 19, "middle", 12, format("%.4g", value));
  }
  out += line(left, bottom, right, bottom, "#333333") + line(left, top, left, bottom, "#333333");
  out += text((left + right) / 2, kHeight - 14, "middle", 13, x_label);

  // The legend stands in the corner on the right that the curves leave free.
  const double last = panel.curves[0].y.back();
  const double legend = ys.at(last, bottom, top) < (top + bottom) / 2
                            ? bottom - 20 * static_cast<double>(panel.curves.size())
                            : top + 18;
  for (size_t c = 0; c < panel.curves.size(); ++c) {
    const size_t style = c % kStyles;
    const std::string pen = format(
        "stroke=\"%s\" stroke-width=\"%g\" stroke-dasharray=\"%s\" stroke-linejoin=\"round\"",
        kColours[style], kWidths[style], kDashes[style]);
    std::string points, dots;
    for (size_t i = 0; i < panel.curves[c].y.size(); ++i) {
      const double x = xs.at(static_cast<double>(i + 1), left, right);
      const double y = ys.at(panel.curves[c].y[i], bottom, top);
      points += format("%.1f,%.1f ", x, y);
      dots += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\"/>\n", x, y,
                     kWidths[style], kColours[style]);
    }
    out += "<polyline fill=\"none\" " + pen + " points=\"" + points + "\"/>\n" + dots;
    const double y = legend + 20 * static_cast<double>(c);
    out += format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" ", right - 150, y - 4,
                  right - 110, y - 4) +
           pen + "/>\n" + text(right - 102, y, "start", 13, panel.curves[c].name);
  }
  return out;
}

}  // namespace detail

// REQUIRES: every curve has points, and every y is finite.
inline std::string svg(const std::string& title, const std::string& x_label,
                       const std::vector<Panel>& panels) {
  using namespace detail;
  const double width = kWidth * static_cast<double>(panels.size());
  std::string out = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
      "viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" fill=\"#222222\">\n",
      width, kHeight, width, kHeight);
  out += "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  out += text(width / 2, 30, "middle", 18, title);
  for (size_t p = 0; p < panels.size(); ++p)
    out += draw(panels[p], x_label, kWidth * static_cast<double>(p));
  return out + "</svg>\n";
}

}  // namespace plot
