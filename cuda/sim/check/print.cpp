// Prints findings and counts.

#include <algorithm>
#include <cstdio>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "gradus/cuda/sim/simulator.h"

namespace gradus::cuda::sim {

namespace {
std::ostream& operator<<(std::ostream& out, const Index3& at) {
  return out << '(' << at.x << ", " << at.y << ", " << at.z << ')';
}

// Shortens a path inside the repository to the part below its root.
std::string short_path(const std::string& path) {
  size_t begin = 0;
  for (const char* folder : {"/cuda/", "/tests/"})
    if (const size_t at = path.rfind(folder); at != std::string::npos)
      begin = std::max(begin, at + 1);
  return path.substr(begin ? begin : path.rfind('/') + 1);
}

std::ostream& operator<<(std::ostream& out, const Frame& frame) {
  if (frame.file.empty()) return out << frame.function;
  return out << short_path(frame.file) << ':' << frame.line << " in " << frame.function;
}
}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::out_of_bounds:
      return "out of bounds";
    case Kind::misaligned:
      return "misaligned access";
    case Kind::use_after_free:
      return "use after free";
    case Kind::foreign_memory:
      return "foreign memory";
    case Kind::unwritten:
      return "unwritten memory";
    case Kind::race:
      return "race";
    case Kind::order:
      return "missing order";
    case Kind::under_way:
      return "still under way";
    case Kind::layout:
      return "wrong layout";
    case Kind::barrier:
      return "barrier";
    case Kind::warp:
      return "warp";
    case Kind::arithmetic:
      return "undefined arithmetic";
    case Kind::assertion:
      return "failed assertion";
    case Kind::stuck:
      return "stuck";
    case Kind::launch:
      return "launch";
    case Kind::leak:
      return "leak";
    case Kind::uncoalesced:
      return "uncoalesced access";
    case Kind::bank_conflict:
      return "bank conflict";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, const Finding& finding) {
  out << name_of(finding.kind);
  if (!finding.kernel.empty()) out << " in " << finding.kernel;
  out << ": " << finding.message;
  if (finding.times > 1) out << " (" << finding.times << " times)";
  out << '\n';
  for (const Side& side : finding.sides) {
    out << "  " << side.what;
    if (side.by_thread) out << ", block " << side.block << ", thread " << side.thread;
    const char* lead = " at ";
    for (const Frame& frame : side.frames) {
      out << lead << frame;
      lead = "\n      from ";
    }
    out << '\n';
  }
  return out;
}

namespace {
std::string times_least(int64_t count, int64_t least) {
  if (least == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", static_cast<double>(count) / static_cast<double>(least));
  return text;
}

void row(std::ostream& out, const std::string& where, const Counts& c) {
  out << "  " << std::left << std::setw(44) << where << std::right << std::setw(11)
      << c.global_loads << std::setw(11) << c.global_stores << std::setw(11) << c.sectors
      << std::setw(8) << times_least(c.sectors, c.least_sectors) << std::setw(11) << c.shared_loads
      << std::setw(11) << c.shared_stores << std::setw(11) << c.shared_wavefronts << std::setw(8)
      << times_least(c.shared_wavefronts, c.least_wavefronts) << std::setw(9) << c.atomics << '\n';
}
}  // namespace

std::ostream& operator<<(std::ostream& out, const LaunchCounts& launch) {
  std::ostringstream text;
  text << launch.kernel << ", grid " << launch.grid << ", block " << launch.block << ", "
       << launch.shared_bytes << " bytes of dynamic shared memory: " << launch.threads
       << " threads, " << launch.idle_threads << " idle, " << launch.barriers << " barriers";
  if (launch.tensor_products > 0)
    text << ", " << launch.tensor_products << " products by tensor cores";
  text << '\n';
  text << "  " << std::left << std::setw(44) << "" << std::right << std::setw(11) << "loads"
       << std::setw(11) << "stores" << std::setw(11) << "sectors" << std::setw(8) << "x least"
       << std::setw(11) << "sh.loads" << std::setw(11) << "sh.stores" << std::setw(11)
       << "wavefronts" << std::setw(8) << "x least" << std::setw(9) << "atomics" << '\n';
  for (const LineCounts& line : launch.lines) {
    const std::string where =
        line.frames.empty() || line.frames[0].file.empty()
            ? "(compile with -g to see lines)"
            : short_path(line.frames[0].file) + ':' + std::to_string(line.frames[0].line);
    row(text, where, line.counts);
  }
  row(text, "all", launch.counts);
  for (const Finding& each : launch.advice()) text << "  " << each;
  return out << text.str();
}

}  // namespace gradus::cuda::sim
