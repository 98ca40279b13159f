// The memory of tensors over time: a picture with a layer for each operation that makes tensors.
#include <algorithm>

#include "gradus/watch/log_file.h"
#include "gradus/watch/pictures/svg.h"
#include "gradus/watch/profiler/results.h"
#include "gradus/watch/text.h"

namespace gradus::profiler {

namespace {

using watch::detail::format;

constexpr double kLeft = 80, kTop = 60, kWide = 640, kHigh = 300;
constexpr size_t kMostLayers = 8;  // the last one holds all others
constexpr const char* kLayerColours[kMostLayers] = {"#56b4e9", "#d55e00", "#009e73", "#cc79a7",
                                                    "#e69f00", "#0072b2", "#f0e442", "#999999"};

struct Layers {
  std::vector<std::string> names;
  std::vector<double> times;                 // microseconds
  std::vector<std::vector<int64_t>> levels;  // for each time: live bytes of each layer
  int64_t peak = 0;
  double end = 0;
};

// The makers whose tensors take most at the peak are layers of their own.
Layers layers_of(const Recording& recording, Device device) {
  const auto maker_of = [&](const MemoryChange& change) {
    const std::string& maker = recording.tensors[change.tensor].maker;
    return maker.empty() ? std::string("not used") : maker;
  };
  std::map<std::string, int64_t> live, at_peak;
  Layers out;
  int64_t all = 0;
  for (const MemoryChange& change : recording.memory) {
    if (!is_of(change.device, device)) continue;
    live[maker_of(change)] += change.bytes;
    all += change.bytes;
    if (all <= out.peak) continue;
    out.peak = all;
    at_peak = live;
  }
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [maker, bytes] : at_peak) order.emplace_back(-bytes, maker);
  std::ranges::sort(order);
  std::map<std::string, size_t> layer;
  for (const auto& [bytes, maker] : order) {
    if (out.names.size() + 1 == kMostLayers && order.size() > kMostLayers) break;
    layer[maker] = out.names.size();
    out.names.push_back(maker);
  }
  if (live.size() > out.names.size()) out.names.push_back("others");
  std::vector<int64_t> level(out.names.size(), 0);
  for (const MemoryChange& change : recording.memory) {
    if (!is_of(change.device, device)) continue;
    const auto found = layer.find(maker_of(change));
    level[found == layer.end() ? level.size() - 1 : found->second] += change.bytes;
    out.times.push_back(change.time);
    out.levels.push_back(level);
  }
  for (const FunctionEvent& event : recording.events)
    out.end = std::max(out.end, event.start + event.cpu_time);
  if (!out.times.empty()) out.end = std::max(out.end, out.times.back());
  return out;
}

// Keeps one change for each column of the picture, the one to the highest level.
void thin(Layers& layers) {
  const auto sum = [](const std::vector<int64_t>& level) {
    int64_t out = 0;
    for (const int64_t bytes : level) out += bytes;
    return out;
  };
  const auto column = [&](double time) { return static_cast<int64_t>(time / layers.end * kWide); };
  size_t kept = 0;
  for (size_t i = 0; i < layers.times.size(); ++i) {
    const bool same = kept > 0 && i + 1 < layers.times.size() &&
                      column(layers.times[kept - 1]) == column(layers.times[i]);
    if (same && sum(layers.levels[i]) < sum(layers.levels[kept - 1])) continue;
    if (!same) ++kept;
    layers.times[kept - 1] = layers.times[i];
    layers.levels[kept - 1] = layers.levels[i];
  }
  layers.times.resize(kept);
  layers.levels.resize(kept);
}

std::string picture(const std::string& title, const Layers& layers) {
  using watch::detail::line, watch::detail::text, watch::detail::with_unit;
  const double peak = static_cast<double>(std::max<int64_t>(layers.peak, 1));
  const auto x = [&](double time) { return kLeft + kWide * time / std::max(layers.end, 1e-3); };
  const auto y = [&](double bytes) { return kTop + kHigh * (1 - bytes / peak); };
  std::string body;
  for (int i = 0; i <= 4; ++i) {
    const double bytes = peak * i / 4;
    body += line(kLeft, y(bytes), kLeft + kWide, y(bytes), "#dddddd");
    body += text(kLeft - 6, y(bytes) + 4, "end", 11, with_unit(bytes, "B"));
    const double time = layers.end * i / 4;
    body += text(x(time), kTop + kHigh + 18, "middle", 11, detail::time_text(time));
  }
  std::vector<double> below(layers.times.size(), 0);
  for (size_t layer = 0; layer < layers.names.size(); ++layer) {
    std::string upper, lower;
    std::vector<double> above = below;
    for (size_t i = 0; i < layers.times.size(); ++i) {
      above[i] += static_cast<double>(layers.levels[i][layer]);
      const double from = x(layers.times[i]);
      const double to = x(i + 1 < layers.times.size() ? layers.times[i + 1] : layers.end);
      upper += format("%.1f,%.1f %.1f,%.1f ", from, y(above[i]), to, y(above[i]));
      lower = format("%.1f,%.1f %.1f,%.1f ", to, y(below[i]), from, y(below[i])) + lower;
    }
    if (!upper.empty())
      body += "<polygon points=\"" + upper + lower + "\" fill=\"" + kLayerColours[layer] + "\"/>\n";
    const double row = kTop + 18 * static_cast<double>(layer);
    body += format("<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n",
                   kLeft + kWide + 16, row, kLayerColours[layer]);
    body += text(kLeft + kWide + 34, row + 11, "start", 12, layers.names[layer]);
    below = above;
  }
  return watch::detail::page(kLeft + kWide + 220, kTop + kHigh + 40, title, body);
}

std::string picture_of(const Recording& recording, Device device) {
  Layers layers = layers_of(recording, device);
  thin(layers);
  return picture("Memory on " + device.str() + ", at most " +
                     watch::detail::with_unit(static_cast<double>(layers.peak), "B"),
                 layers);
}

// Times and bytes as JSON.
std::string numbers_of(const Recording& recording, Device device) {
  const Layers layers = layers_of(recording, device);
  std::string times, levels;
  for (size_t i = 0; i < layers.times.size(); ++i) {
    int64_t sum = 0;
    for (const int64_t bytes : layers.levels[i]) sum += bytes;
    times += format("%s%.3f", i > 0 ? ", " : "", layers.times[i]);
    levels += (i > 0 ? ", " : "") + std::to_string(sum);
  }
  return "{\"microseconds\": [" + times + "], \"bytes\": [" + levels + "]}\n";
}

}  // namespace

std::string profile::memory_timeline(Device device) const {
  return picture_of(results("memory_timeline", true).recording, device);
}

void profile::export_memory_timeline(const std::string& path, Device device) const {
  constexpr const char* kOp = "export_memory_timeline";
  const auto text_of = path.ends_with(".svg") ? picture_of : numbers_of;
  watch::detail::write_file(kOp, path, text_of(results(kOp, true).recording, device));
}

}  // namespace gradus::profiler
