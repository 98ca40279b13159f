// Averages of the events of one name or one module, and their tables.
#include <algorithm>
#include <map>

#include "gradus/watch/profiler/results.h"
#include "gradus/watch/text.h"

namespace gradus::profiler {

using watch::detail::format, watch::detail::with_unit;

std::string detail::time_text(double microseconds) {
  if (microseconds >= 1e6) return format("%.3fs", microseconds / 1e6);
  if (microseconds >= 1e3) return format("%.3fms", microseconds / 1e3);
  return format("%.3fus", microseconds);
}

std::string detail::shapes_text(const std::vector<std::vector<int64_t>>& shapes) {
  std::string out;
  for (const auto& shape : shapes) {
    out += out.empty() ? "[" : ", ";
    append(out, IntArrayRef(shape));
  }
  return out + (out.empty() ? "[]" : "]");
}

std::string detail::table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows)
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  size_t width = 2 * (widths.size() - 1);
  for (const size_t each : widths) width += each;
  const std::string rule(width, '-');
  std::string out = rule + '\n';
  for (size_t r = 0; r < rows.size(); ++r) {
    if (r == 1) out += rule + '\n';
    std::string line;
    for (size_t c = 0; c < widths.size(); ++c) {
      const std::string space(widths[c] - rows[r][c].size(), ' ');
      line += (c > 0 ? "  " : "") + (c == 0 ? rows[r][c] + space : space + rows[r][c]);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return out + rule + '\n';
}

EventList profile::key_averages(bool group_by_input_shape) const {
  EventList out;
  std::map<std::pair<std::string, std::string>, size_t> places;
  for (const FunctionEvent& event : results("key_averages").recording.events) {
    const std::string shapes = group_by_input_shape ? detail::shapes_text(event.input_shapes) : "";
    const auto [place, is_new] = places.try_emplace({event.name, shapes}, out.size());
    if (is_new) {
      out.emplace_back();
      out.back().key = event.name;
      out.back().kind = event.kind;
      out.back().input_shapes = shapes;
    }
    FunctionEventAvg& row = out[place->second];
    row.count += 1;
    row.cpu_time_total += event.cpu_time;
    row.self_cpu_time_total += event.self_cpu_time;
    row.device_time_total += event.device_time;
    if (event.kind == EventKind::Operator) row.self_device_time_total += event.self_device_time;
    row.bytes += event.bytes;
    if (event.device.is_cpu()) row.cpu_bytes += event.bytes;
    row.cpu_memory_usage += event.cpu_memory;
    row.device_memory_usage += event.device_memory;
  }
  return out;
}

namespace {

double sum_of(const EventList& list, double FunctionEventAvg::*member) {
  double out = 0;
  for (const FunctionEventAvg& row : list) out += row.*member;
  return out;
}

// The figure that rows are sorted by.
double weight_of(const FunctionEventAvg& row, std::string by) {
  if (const size_t at = by.find("cuda"); at != std::string::npos) by.replace(at, 4, "device");
  if (by == "cpu_time") return row.cpu_time();
  if (by == "device_time") return row.device_time();
  if (by == "cpu_time_total") return row.cpu_time_total;
  if (by == "device_time_total") return row.device_time_total;
  if (by == "self_cpu_time_total") return row.self_cpu_time_total;
  if (by == "self_device_time_total") return row.self_device_time_total;
  if (by == "cpu_memory_usage") return static_cast<double>(row.cpu_memory_usage);
  if (by == "device_memory_usage") return static_cast<double>(row.device_memory_usage);
  if (by == "bytes") return static_cast<double>(row.bytes);
  if (by == "count") return static_cast<double>(row.count);
  fail("table: sort_by = \"", by,
       "\", expected \"cpu_time\", \"device_time\", \"cpu_time_total\", \"device_time_total\", "
       "\"self_cpu_time_total\", \"self_device_time_total\", \"cpu_memory_usage\", "
       "\"device_memory_usage\", \"bytes\" or \"count\"");
}

std::string percent(double part, double all) {
  return all > 0 ? format("%.2f%%", 100 * part / all) : "-";
}

// The time of a copy of the bytes, in percent of the time that the operations took.
std::string copy_share(const FunctionEventAvg& row) {
  const int64_t device_bytes = row.bytes - row.cpu_bytes;
  double copy = 0, time = 0;  // microseconds
  const auto add = [&](int64_t bytes, double took, Device device) {
    if (bytes == 0 || took <= 0) return;
    const double bandwidth = copy_bandwidth(device);
    if (bandwidth <= 0) return;
    copy += static_cast<double>(bytes) / bandwidth * 1e6;
    time += took;
  };
  if (device_bytes == 0)
    add(row.cpu_bytes, row.self_cpu_time_total, kCPU);
  else
    add(device_bytes, row.self_device_time_total, Device(kCUDA, 0));
  return percent(copy, time);
}

void check_row_limit(int64_t row_limit) {
  check(row_limit >= 1, "table: row_limit = ", row_limit, ", expected 1 or more");
}

}  // namespace

double EventList::self_cpu_time_total() const {
  return sum_of(*this, &FunctionEventAvg::self_cpu_time_total);
}
double EventList::self_device_time_total() const {
  return sum_of(*this, &FunctionEventAvg::self_device_time_total);
}

std::string EventList::table(const std::string& sort_by, int64_t row_limit) const {
  check_row_limit(row_limit);
  EventList sorted = *this;
  weight_of({}, sort_by.empty() ? "count" : sort_by);  // is it known
  if (!sort_by.empty())
    std::ranges::stable_sort(sorted, [&](const FunctionEventAvg& a, const FunctionEventAvg& b) {
      return weight_of(a, sort_by) > weight_of(b, sort_by);
    });
  const double cpu = self_cpu_time_total(), device = self_device_time_total();
  const auto any = [&](auto has) { return std::ranges::any_of(*this, has); };
  const bool devices = device > 0;
  const bool cpu_memory = any([](auto& row) { return row.cpu_memory_usage != 0; });
  const bool device_memory = any([](auto& row) { return row.device_memory_usage != 0; });
  const bool shapes = any([](auto& row) { return !row.input_shapes.empty(); });
  std::vector<std::vector<std::string>> rows = {
      {"Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"}};
  const auto add_head = [&](bool there, std::initializer_list<const char*> names) {
    if (there) rows[0].insert(rows[0].end(), names.begin(), names.end());
  };
  add_head(devices, {"Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg"});
  add_head(cpu_memory, {"CPU Mem"});
  add_head(device_memory, {"CUDA Mem"});
  add_head(true, {"Bytes", "% of copy", "# of Calls"});
  add_head(shapes, {"Input Shapes"});
  const auto bytes_text = [](int64_t bytes) {
    return bytes != 0 ? with_unit(static_cast<double>(bytes), "B") : "-";
  };
  for (size_t i = 0; i < std::min(sorted.size(), static_cast<size_t>(row_limit)); ++i) {
    const FunctionEventAvg& row = sorted[i];
    using detail::time_text;
    std::vector<std::string> cells = {row.key,
                                      percent(row.self_cpu_time_total, cpu),
                                      time_text(row.self_cpu_time_total),
                                      percent(row.cpu_time_total, cpu),
                                      time_text(row.cpu_time_total),
                                      time_text(row.cpu_time())};
    if (devices) {
      cells.push_back(time_text(row.self_device_time_total));
      cells.push_back(percent(row.self_device_time_total, device));
      cells.push_back(time_text(row.device_time_total));
      cells.push_back(time_text(row.device_time()));
    }
    if (cpu_memory) cells.push_back(bytes_text(row.cpu_memory_usage));
    if (device_memory) cells.push_back(bytes_text(row.device_memory_usage));
    cells.push_back(bytes_text(row.bytes));
    cells.push_back(row.bytes != 0 ? copy_share(row) : "-");
    cells.push_back(std::to_string(row.count));
    if (shapes) cells.push_back(row.input_shapes);
    rows.push_back(std::move(cells));
  }
  std::string out = detail::table(rows) + "Self CPU time total: " + detail::time_text(cpu) + '\n';
  if (devices) out += "Self CUDA time total: " + detail::time_text(device) + '\n';
  return out;
}

ModuleList profile::module_averages() const {
  constexpr const char* kOp = "module_averages";
  const Recording& recording = results(kOp).recording;
  check<Error>(options_.with_modules, kOp, ": modules were not recorded; set with_modules = true");
  ModuleList out;
  std::map<std::string, size_t> places;
  std::map<size_t, const ModuleCall*> calls;  // by their events: in order of their begin
  for (const ModuleCall& call : recording.modules) calls[call.event] = &call;
  for (const auto& [event, call] : calls)
    if (places.try_emplace(call->path, out.size()).second) out.push_back({call->path, call->type});
  for (const auto& [event, call] : calls) {
    ModuleAvg& row = out[places.at(call->path)];
    row.count += 1;
    row.cpu_time_total += recording.events[event].cpu_time;
    row.device_time_total += recording.events[event].device_time;
  }
  // A module's row includes what is below the module.
  const auto each_above = [&](std::string path, auto f) {
    while (true) {
      if (const auto found = places.find(path); found != places.end()) f(out[found->second]);
      const size_t dot = path.rfind('.');
      if (dot == std::string::npos) return;
      path.resize(dot);
    }
  };
  for (const FunctionEvent& event : recording.events) {
    if (event.module.empty()) continue;
    each_above(event.module, [&](ModuleAvg& row) {
      row.bytes += event.bytes;
      const bool within =
          event.parent >= 0 && recording.events[static_cast<size_t>(event.parent)].is_backward;
      if (event.kind != EventKind::Backward || within) return;
      row.backward_cpu_time_total += event.cpu_time;
      row.backward_device_time_total += event.device_time;
    });
  }
  return out;
}

std::string ModuleList::table(int64_t row_limit) const {
  check_row_limit(row_limit);
  const bool devices = std::ranges::any_of(
      *this, [](auto& row) { return row.device_time_total + row.backward_device_time_total > 0; });
  std::vector<std::vector<std::string>> rows = {{"Module", "Forward CPU", "Backward CPU"}};
  if (devices) rows[0].insert(rows[0].end(), {"Forward CUDA", "Backward CUDA"});
  rows[0].insert(rows[0].end(), {"Bytes", "# of Calls"});
  for (size_t i = 0; i < std::min(size(), static_cast<size_t>(row_limit)); ++i) {
    const ModuleAvg& row = (*this)[i];
    using detail::time_text;
    const auto depth = static_cast<size_t>(std::ranges::count(row.path, '.'));
    const std::string name = row.path.substr(row.path.rfind('.') + 1);
    rows.push_back({std::string(2 * depth, ' ') + (depth > 0 ? name + ": " : "") + row.type,
                    time_text(row.cpu_time_total), time_text(row.backward_cpu_time_total)});
    if (devices) {
      rows.back().push_back(time_text(row.device_time_total));
      rows.back().push_back(time_text(row.backward_device_time_total));
    }
    rows.back().push_back(with_unit(static_cast<double>(row.bytes), "B"));
    rows.back().push_back(std::to_string(row.count));
  }
  return detail::table(rows);
}

}  // namespace gradus::profiler
