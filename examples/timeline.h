// A timeline as SVG: one row for each device, a bar for each phase.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "gradus/nn/parallel/timeline_span.h"
#include "gradus/tensor/base/device.h"
#include "plot.h"

namespace timeline {

struct Phase {
  const char* name;
  const char* colour;  // apart for colour-blind readers
  bool below;          // drawn beneath the others: it runs beside them
};
inline constexpr Phase kPhases[] = {{"scatter", "#56b4e9", false},
                                    {"forward", "#009e73", false},
                                    {"gather", "#e69f00", false},
                                    {"backward", "#d55e00", false},
                                    {"reduce", "#cc79a7", true}};

// REQUIRES: spans is not empty.
inline std::string svg(const std::string& title, const std::vector<gradus::Device>& devices,
                       const std::vector<gradus::nn::parallel::TimelineSpan>& spans) {
  using plot::detail::line, plot::detail::text;
  constexpr double kLeft = 130, kRight = 30, kTop = 84, kRow = 56, kBar = 22, kWidth = 960;
  double first = spans[0].begin, last = spans[0].end;
  for (const auto& span : spans)
    first = std::min(first, span.begin), last = std::max(last, span.end);
  const double rows = static_cast<double>(devices.size());
  const double bottom = kTop + rows * kRow, height = bottom + 60;
  const plot::detail::Axis axis(0, (last - first) * 1000, false);
  const auto x = [&](double milliseconds) { return axis.at(milliseconds, kLeft, kWidth - kRight); };

  std::string out = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
      "viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" fill=\"#222222\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      kWidth, height, kWidth, height);
  out += text(kWidth / 2, 30, "middle", 18, title);
  double legend = kLeft;
  for (const Phase& phase : kPhases) {
    out += format("<rect x=\"%.1f\" y=\"48\" width=\"16\" height=\"16\" fill=\"%s\"/>\n", legend,
                  phase.colour);
    out += text(legend + 22, 61, "start", 13, phase.name);
    legend += 120;
  }
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(axis.tick))));
  for (int i = 0; i * axis.tick < axis.high + axis.tick / 2; ++i) {
    const double at = x(i * axis.tick);
    out += line(at, kTop, at, bottom, "#dddddd");
    out += text(at, bottom + 19, "middle", 12, format("%.*f", decimals, i * axis.tick));
  }
  out += text((kLeft + kWidth - kRight) / 2, bottom + 44, "middle", 13, "milliseconds");
  for (size_t r = 0; r < devices.size(); ++r)
    out += text(kLeft - 12, kTop + (static_cast<double>(r) + 0.5) * kRow + 4, "end", 13,
                std::to_string(r) + ": " + devices[r].str());
  for (const auto& span : spans) {
    const auto* phase = std::find_if(std::begin(kPhases), std::end(kPhases), [&](const Phase& p) {
      return std::string(p.name) == span.phase;
    });
    if (phase == std::end(kPhases)) continue;
    const double left = x((span.begin - first) * 1000), right = x((span.end - first) * 1000);
    const double top = kTop + static_cast<double>(span.replica) * kRow + (phase->below ? 29 : 5);
    out += format("<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\"/>\n",
                  left, top, std::max(right - left, 0.5), kBar, phase->colour);
  }
  return out + line(kLeft, kTop, kLeft, bottom, "#333333") +
         line(kLeft, bottom, kWidth - kRight, bottom, "#333333") + "</svg>\n";
}

}  // namespace timeline
