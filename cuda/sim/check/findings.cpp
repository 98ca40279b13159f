// Keeps, publishes and reports findings.
#include "gradus/cuda/sim/check/findings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "gradus/cuda/sim/runtime/device.h"
#include "gradus/cuda/sim/runtime/memory.h"
#include "gradus/cuda/sim/runtime/queue.h"

namespace gradus::cuda::sim {

namespace {

struct Kept {
  std::mutex mutex;
  std::vector<Finding> findings;
  size_t told = 0;  // how many of them the message of an error has named
  cudaError_t error = cudaSuccess;
};
Kept& kept() {
  static auto& one = *new Kept;
  return one;
}

cudaError_t error_for(Kind kind) {
  switch (kind) {
    case Kind::out_of_bounds:
    case Kind::use_after_free:
    case Kind::foreign_memory:
      return cudaErrorIllegalAddress;
    case Kind::misaligned:
      return cudaErrorMisalignedAddress;
    case Kind::assertion:
      return cudaErrorAssert;
    default:
      return cudaErrorLaunchFailure;
  }
}

// Runs at the end of the program. Prints the findings that nobody took, in short those that an
// error has named, and the memory that was never freed. If there is any, the exit status is not 0.
void report_at_exit(int status, void*) {
  drain();
  std::ostringstream text;
  const size_t told = kept().told;
  size_t number = 0;
  for (Finding& each : take_findings()) {
    if (number++ < told) each.sides.clear();
    if (each.kind != Kind::launch) text << each;
  }
  for (const Finding& leak : take_leaks()) text << leak;
  if (text.view().empty()) return;
  std::cerr << text.view();
  std::fflush(nullptr);
  if (status == 0) _exit(1);
}

// Registered before the objects of the program are made, so that it runs after they are destroyed.
[[gnu::constructor(101)]] void watch_exit() { on_exit(report_at_exit, nullptr); }

}  // namespace

namespace {
// Whether both are of the same lines, whichever of two came first: a line that reads twice makes
// two accesses.
bool are_one(const Finding& a, const Finding& b) {
  const auto same_frame = [](const Frame& x, const Frame& y) {
    return x.file == y.file && x.line == y.line && x.function == y.function;
  };
  const auto verb = [](const Side& side) { return side.what.substr(0, side.what.find(' ')); };
  const auto same_side = [&](const Side& x, const Side& y) {
    return verb(x) == verb(y) && !x.frames.empty() && !x.frames[0].file.empty() &&
           std::ranges::equal(x.frames, y.frames, same_frame);
  };
  return a.kind == b.kind && !a.sides.empty() &&
         (std::ranges::equal(a.sides, b.sides, same_side) ||
          std::equal(a.sides.begin(), a.sides.end(), b.sides.rbegin(), b.sides.rend(), same_side));
}
}  // namespace

void Sightings::publish(const std::string& kernel) {
  std::vector<Finding> all;
  for (const Entry& entry : entries_) {
    const Sighting& seen = entry.sighting;
    Finding out{seen.kind, kernel, seen.message, {}, seen.times};
    for (const auto& side : seen.sides)
      out.sides.push_back(
          {side.what, frames_of(side.trace), side.by_thread, side.block, side.thread});
    const auto same =
        std::ranges::find_if(all, [&](const Finding& each) { return are_one(each, out); });
    if (same == all.end())
      all.push_back(std::move(out));
    else
      same->times += out.times;
  }
  for (Finding& each : all) sim::publish(std::move(each));
  entries_.clear();
}

namespace {
// Whether a side of each names the same calls.
bool share_a_side(const Finding& a, const Finding& b) {
  const auto same_frame = [](const Frame& x, const Frame& y) {
    return x.file == y.file && x.line == y.line && x.function == y.function;
  };
  return std::ranges::any_of(a.sides, [&](const Side& of_a) {
    return !of_a.by_thread && std::ranges::any_of(b.sides, [&](const Side& of_b) {
      return !of_a.frames.empty() && std::ranges::equal(of_a.frames, of_b.frames, same_frame);
    });
  });
}
}  // namespace

void publish(Finding finding) {
  const std::lock_guard lock(kept().mutex);
  // The work that was to write the memory came too late for want of an order.
  if (finding.kind == Kind::order)
    std::erase_if(kept().findings, [&](const Finding& each) {
      return each.kind == Kind::unwritten && share_a_side(each, finding);
    });
  // A launch that a chip refuses leaves the chip as it was.
  if (kept().error == cudaSuccess && finding.kind != Kind::launch)
    kept().error = error_for(finding.kind);
  constexpr size_t kMost = 1000;
  if (kept().findings.size() < kMost) kept().findings.push_back(std::move(finding));
}

cudaError_t pending_error() {
  if (const cudaError_t none = without_devices()) return none;
  const std::lock_guard lock(kept().mutex);
  return kept().error;
}

bool are_all_unwritten() {
  const std::lock_guard lock(kept().mutex);
  return std::ranges::all_of(kept().findings, [](const Finding& each) {
    return each.kind == Kind::unwritten || each.kind == Kind::launch;
  });
}

std::string tell_findings() {
  const std::lock_guard lock(kept().mutex);
  kept().told = kept().findings.size();
  std::ostringstream out;
  for (const Finding& each : kept().findings)
    if (each.kind != Kind::launch) out << each;
  return out.str();
}

std::vector<Finding> take_findings() {
  drain();
  const std::lock_guard lock(kept().mutex);
  kept().error = cudaSuccess;
  kept().told = 0;
  return std::exchange(kept().findings, {});
}

std::vector<Finding> take_leaks() {
  std::vector<Finding> out;
  if (!checks()) return out;
  drain();
  for (const Allocation& each : take_allocations_in_use())
    out.push_back({Kind::leak,
                   "",
                   std::to_string(each.used) + " bytes of a device were never given back",
                   {{"allocated", frames_of(each.taken)}}});
  return out;
}

bool checks() {
  static const bool on = [] {
    const char* const text = std::getenv("GRADUS_SIM_CHECK");
    return !text || std::string_view(text) != "0";
  }();
  return on;
}

}  // namespace gradus::cuda::sim
