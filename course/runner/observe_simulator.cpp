// Observation by the simulator of CUDA devices.
#include <algorithm>
#include <cstdio>
#include <sstream>
#include <utility>
#include <vector>

#include "gradus/cuda/sim/check/symbols.h"
#include "gradus/cuda/sim/exec/current.h"
#include "gradus/cuda/sim/exec/place.h"
#include "gradus/cuda/sim/runtime/variables.h"
#include "gradus/cuda/sim/simulator.h"
#include "runner/observe.h"

namespace sim = gradus::cuda::sim;

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\', out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out + '"';
}

// The innermost place in a file of the student; null where there is none.
const sim::Frame* place_of(const std::vector<sim::Frame>& frames) {
  for (const sim::Frame& frame : frames)
    if (frame.file.find(".cu") != std::string::npos) return &frame;
  return nullptr;
}

std::string text_of(const sim::Frame& at) {
  return at.file.substr(at.file.rfind('/') + 1) + ":" + std::to_string(at.line);
}

std::string index(const sim::Index3& at) {
  return "(" + std::to_string(at.x) + ", " + std::to_string(at.y) + ", " + std::to_string(at.z) +
         ")";
}

// The finding as the student reads it: what is wrong, and which thread did what at which line.
std::string text_of(const sim::Finding& finding) {
  std::string out = std::string(sim::name_of(finding.kind)) + ": " + finding.message;
  if (finding.times > 1) out += " (" + std::to_string(finding.times) + " times)";
  for (const sim::Side& side : finding.sides) {
    const sim::Frame* const at = place_of(side.frames);
    if (at == nullptr) continue;
    out += "\n  " + side.what;
    if (side.by_thread) out += ", block " + index(side.block) + ", thread " + index(side.thread);
    out += ", at " + text_of(*at);
  }
  return out;
}

// The line of a launch that has the most sectors, or wavefronts, beyond what would do; where none
// has, the line with the most.
std::string worst_of(const sim::LaunchCounts& launch, int64_t sim::Counts::*found,
                     int64_t sim::Counts::*least, const std::string& unit) {
  const sim::LineCounts* worst = nullptr;
  const auto badness = [&](const sim::LineCounts& line) {
    return std::pair(line.counts.*found - line.counts.*least, line.counts.*found);
  };
  for (const sim::LineCounts& line : launch.lines)
    if (place_of(line.frames) && line.counts.*found > 0 &&
        (!worst || badness(line) > badness(*worst)))
      worst = &line;
  if (worst == nullptr) return "";
  std::string out = std::to_string(worst->counts.*found) + " " + unit;
  if (badness(*worst).first > 0)
    out += " where " + std::to_string(worst->counts.*least) + " would do";
  return out + ", at " + text_of(*place_of(worst->frames));
}

std::string json(const sim::Finding& finding);
std::string json(const sim::LaunchCounts& launch);
template <class List>
std::string json_list(const List& list) {
  std::string out = "[";
  for (const auto& each : list) out += (out.size() > 1 ? "," : "") + json(each);
  return out + "]";
}

std::string json(const sim::Index3& at) {
  return '[' + std::to_string(at.x) + ',' + std::to_string(at.y) + ',' + std::to_string(at.z) + ']';
}

std::string json(const sim::Finding& finding) {
  return "{\"kind\":" + quoted(sim::name_of(finding.kind)) +
         ",\"text\":" + quoted(text_of(finding)) + "}";
}

std::string json(const sim::LaunchCounts& launch) {
  std::ostringstream out;
  const sim::Counts& counts = launch.counts;
  // An atomic operation reads and writes: it counts as a load and a store, and as a sector or a
  // wavefront of its own.
  const int64_t shared = counts.shared_atomics, global = counts.atomics - shared;
  out << "{\"kernel\":" << quoted(launch.kernel);
  out << ",\"grid\":" << json(launch.grid) << ",\"block\":" << json(launch.block)
      << ",\"threads\":" << launch.threads << ",\"idle_threads\":" << launch.idle_threads
      << ",\"barriers\":" << launch.barriers << ",\"tensor_products\":" << launch.tensor_products
      << ",\"global_loads\":" << counts.global_loads + global
      << ",\"global_stores\":" << counts.global_stores + global
      << ",\"global_load_bytes\":" << counts.global_load_bytes + counts.global_atomic_bytes
      << ",\"global_store_bytes\":" << counts.global_store_bytes + counts.global_atomic_bytes
      << ",\"sectors\":" << counts.sectors + global << ",\"least_sectors\":" << counts.least_sectors
      << ",\"shared_loads\":" << counts.shared_loads + shared
      << ",\"shared_stores\":" << counts.shared_stores + shared
      << ",\"shared_wavefronts\":" << counts.shared_wavefronts + shared
      << ",\"least_wavefronts\":" << counts.least_wavefronts << ",\"atomics\":" << counts.atomics
      << ",\"worst_sectors\":"
      << quoted(worst_of(launch, &sim::Counts::sectors, &sim::Counts::least_sectors, "sectors"))
      << ",\"worst_wavefronts\":"
      << quoted(worst_of(launch, &sim::Counts::shared_wavefronts, &sim::Counts::least_wavefronts,
                         "wavefronts"))
      << ",\"advice\":" << json_list(launch.advice()) << '}';
  return out.str();
}

// What the launch that moves most did with memory: for each access of its text the counts, and what
// the lanes of the first warp accessed first, as [lane, offset, size].
std::string traffic_of(const std::vector<sim::LaunchCounts>& launches) {
  constexpr size_t kMostLines = 40;
  const auto moved = [](const sim::LaunchCounts& each) {
    return each.counts.sectors + each.counts.shared_wavefronts;
  };
  const auto most = std::ranges::max_element(launches, {}, moved);
  if (most == launches.end()) return "null";
  std::ostringstream out;
  out << "{\"kernel\":" << quoted(most->kernel) << ",\"grid\":" << json(most->grid)
      << ",\"block\":" << json(most->block) << ",\"lines\":[";
  size_t count = 0;
  for (const sim::LineCounts& line : most->lines) {
    const sim::Frame* const at = place_of(line.frames);
    if (at == nullptr || line.first_request.empty() || count == kMostLines) continue;
    const sim::Counts& counts = line.counts;
    const bool shared = counts.shared_loads + counts.shared_stores + counts.shared_atomics > 0;
    const char* const does = counts.atomics > 0                              ? "atomic"
                             : counts.global_loads + counts.shared_loads > 0 ? "load"
                                                                             : "store";
    out << (count++ > 0 ? "," : "") << "{\"at\":" << quoted(text_of(*at)) << ",\"does\":\"" << does
        << "\",\"shared\":" << (shared ? "true" : "false")
        << ",\"requests\":" << (shared ? counts.shared_requests : counts.global_requests)
        << ",\"found\":" << (shared ? counts.shared_wavefronts : counts.sectors)
        << ",\"least\":" << (shared ? counts.least_wavefronts : counts.least_sectors)
        << ",\"allocated\":" << line.allocated << ",\"lanes\":[";
    for (size_t i = 0; i < line.first_request.size(); ++i) {
      const sim::LaneAccess& lane = line.first_request[i];
      out << (i > 0 ? "," : "") << '[' << lane.lane << ',' << lane.offset << ',' << lane.size
          << ']';
    }
    out << "]}";
  }
  out << "]}";
  return out.str();
}

}  // namespace

KernelThread kernel_thread() {
  const uint3 block = gradus_sim_block_index, thread = gradus_sim_thread_index;
  return {sim::here != nullptr, {block.x, block.y, block.z}, {thread.x, thread.y, thread.z}};
}

struct Observation::Parts {
  sim::Recording recording;
};

Observation::Observation() {
  sim::take_findings(), sim::take_leaks();  // of what was done before
  parts_ = std::make_unique<Parts>();
}
Observation::~Observation() = default;

void Observation::prepare() {
  sim::frames_of(sim::current_trace());
  sim::function_name(reinterpret_cast<const void*>(&Observation::prepare));
  sim::thread_local_memory();
  sim::load_variables();
}

void Observation::report(Message& reply) {
  auto findings = sim::take_findings();
  for (sim::Finding& leak : sim::take_leaks()) findings.push_back(std::move(leak));
  reply.text("findings", json_list(findings));
  const std::vector<sim::LaunchCounts> launches = parts_->recording.launches();
  reply.text("launches", json_list(launches));
  reply.text("traffic", traffic_of(launches));
}
