// Counts of memory requests, sectors, wavefronts and bank conflicts of a launch.
#include "gradus/cuda/sim/check/counter.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "gradus/cuda/sim/check/symbols.h"
#include "gradus/cuda/sim/runtime/memory.h"

namespace gradus::cuda::sim {

namespace {

constexpr uintptr_t kSector = 32;
constexpr uintptr_t kBanks = 32, kWord = 4;

// The accesses that the lanes of a warp make together.
struct Request {
  std::array<uintptr_t, 32> address;
  std::array<unsigned, 32> size, lane;
  unsigned lanes = 0;
};

int64_t different(std::vector<uintptr_t>& values) {
  std::sort(values.begin(), values.end());
  return std::unique(values.begin(), values.end()) - values.begin();
}

void count_global(const Request& request, Counts& out) {
  std::vector<uintptr_t> sectors, words;
  for (unsigned i = 0; i < request.lanes; ++i) {
    for (uintptr_t at = request.address[i] / kSector;
         at <= (request.address[i] + request.size[i] - 1) / kSector; ++at)
      sectors.push_back(at);
    for (uintptr_t at = request.address[i]; at < request.address[i] + request.size[i]; ++at)
      words.push_back(at);
  }
  ++out.global_requests;
  out.sectors += different(sectors);
  const int64_t bytes = different(words);
  out.least_sectors += (bytes + static_cast<int64_t>(kSector) - 1) / static_cast<int64_t>(kSector);
}

// A wavefront delivers one word of each bank to any number of lanes. Lanes that access 8 or 16
// bytes each make one of each half or quarter of the warp.
void count_shared(const Request& request, Counts& out) {
  const unsigned size =
      *std::max_element(request.size.begin(), request.size.begin() + request.lanes);
  const unsigned together = size <= kWord ? 32 : size <= 8 ? 16 : 8;
  ++out.shared_requests;
  for (unsigned begin = 0; begin < request.lanes; begin += together) {
    std::vector<uintptr_t> words;
    for (unsigned i = begin; i < std::min(begin + together, request.lanes); ++i)
      for (uintptr_t at = request.address[i] / kWord;
           at <= (request.address[i] + request.size[i] - 1) / kWord; ++at)
        words.push_back(at);
    words.resize(static_cast<size_t>(different(words)));
    std::array<int64_t, kBanks> of_bank{};
    for (const uintptr_t word : words) ++of_bank[word % kBanks];
    out.shared_wavefronts += *std::max_element(of_bank.begin(), of_bank.end());
    out.least_wavefronts +=
        (static_cast<int64_t>(words.size()) + static_cast<int64_t>(kBanks) - 1) /
        static_cast<int64_t>(kBanks);
  }
}

// Keeps what the lanes accessed, from the beginning of the memory on.
void keep(const Request& request, bool shared, LineCounts& out) {
  const uintptr_t lowest =
      *std::min_element(request.address.begin(), request.address.begin() + request.lanes);
  uintptr_t begin = lowest / (kBanks * kWord) * (kBanks * kWord);
  if (!shared && zone_of(lowest) != kVariableZone) {
    const Allocation around = allocation_around(lowest);
    if (around.used > 0) begin = around.begin, out.allocated = around.used;
  }
  for (unsigned i = 0; i < request.lanes; ++i)
    out.first_request.push_back({request.address[i] - begin, request.size[i], request.lane[i]});
}

void count_thread(const CountedAccess& it, Counts& out) {
  if (it.access == Access::atomic) {
    ++out.atomics;
    out.shared_atomics += it.shared;
    out.global_atomic_bytes += it.shared ? 0 : it.size;
  } else if (it.shared) {
    ++(it.access == Access::write ? out.shared_stores : out.shared_loads);
  } else if (it.access == Access::write) {
    ++out.global_stores;
    out.global_store_bytes += it.size;
  } else {
    ++out.global_loads;
    out.global_load_bytes += it.size;
  }
}

Counts& operator+=(Counts& a, const Counts& b) {
  a.global_loads += b.global_loads;
  a.global_stores += b.global_stores;
  a.global_load_bytes += b.global_load_bytes;
  a.global_store_bytes += b.global_store_bytes;
  a.global_requests += b.global_requests;
  a.sectors += b.sectors;
  a.least_sectors += b.least_sectors;
  a.shared_loads += b.shared_loads;
  a.shared_stores += b.shared_stores;
  a.shared_requests += b.shared_requests;
  a.shared_wavefronts += b.shared_wavefronts;
  a.least_wavefronts += b.least_wavefronts;
  a.atomics += b.atomics;
  a.shared_atomics += b.shared_atomics;
  a.global_atomic_bytes += b.global_atomic_bytes;
  return a;
}

}  // namespace

void Counter::add(std::vector<CountedAccess>& accesses, bool first_warp) {
  if (accesses.empty()) return;
  // Sorts by place, then by lane; the accesses of a lane keep their order in time.
  std::stable_sort(accesses.begin(), accesses.end(), [](const auto& a, const auto& b) {
    return std::tie(a.pc, a.lane) < std::tie(b.pc, b.lane);
  });
  const std::lock_guard lock(mutex_);
  for (auto begin = accesses.begin(); begin != accesses.end();) {
    const auto end =
        std::find_if(begin, accesses.end(), [&](const auto& x) { return x.pc != begin->pc; });
    LineCounts& line = by_pc_[begin->pc];
    Counts& counts = line.counts;
    for (auto each = begin; each != end; ++each) count_thread(*each, counts);
    // The runs of the lanes at this place. The n-th accesses of all runs form one request.
    std::vector<std::pair<decltype(begin), decltype(begin)>> runs;
    for (auto lane = begin; lane != end;) {
      const auto next =
          std::find_if(lane, end, [&](const auto& x) { return x.lane != lane->lane; });
      runs.emplace_back(lane, next);
      lane = next;
    }
    for (bool more = true; more;) {
      Request request;
      for (auto& [from, to] : runs)
        if (from != to) {
          request.address[request.lanes] = from->address;
          request.lane[request.lanes] = from->lane;
          request.size[request.lanes++] = (from++)->size;
        }
      more = request.lanes > 0;
      if (more && first_warp && line.first_request.empty()) keep(request, begin->shared, line);
      if (!more || begin->access == Access::atomic) continue;
      if (begin->shared)
        count_shared(request, counts);
      else
        count_global(request, counts);
    }
    begin = end;
  }
  accesses.clear();
}

void Counter::add_block(const OfBlock& block) {
  const std::lock_guard lock(mutex_);
  all_.barriers += block.barriers;
  all_.threads += block.threads;
  all_.idle += block.idle;
  all_.tensor_products += block.tensor_products;
}

LaunchCounts Counter::counts() const {
  LaunchCounts out;
  out.barriers = all_.barriers;
  out.threads = all_.threads;
  out.idle_threads = all_.idle;
  out.tensor_products = all_.tensor_products;
  for (const auto& [pc, line] : by_pc_) {
    out.counts += line.counts;
    out.lines.push_back(line);
    out.lines.back().frames = frames_of({pc});
  }
  const auto place = [](const LineCounts& line) {
    return line.frames.empty() ? std::tuple(std::string(), 0)
                               : std::tuple(line.frames[0].file, line.frames[0].line);
  };
  std::ranges::stable_sort(out.lines, {}, place);
  return out;
}

std::vector<Finding> LaunchCounts::advice() const {
  constexpr int64_t kWasteful = 2;
  std::vector<Finding> out;
  for (const LineCounts& line : lines) {
    const Counts& c = line.counts;
    if (c.sectors >= kWasteful * c.least_sectors && c.sectors > c.global_requests &&
        c.global_requests > 0)
      out.push_back({Kind::uncoalesced,
                     kernel,
                     std::to_string(c.sectors) + " sectors of 32 bytes move where " +
                         std::to_string(c.least_sectors) +
                         " would do; let neighbouring threads take neighbouring elements",
                     {{"accesses global memory", line.frames}},
                     c.global_requests});
    if (c.shared_wavefronts >= kWasteful * c.least_wavefronts && c.shared_requests > 0)
      out.push_back(
          {Kind::bank_conflict,
           kernel,
           std::to_string(c.shared_wavefronts) + " wavefronts where " +
               std::to_string(c.least_wavefronts) +
               " would do; let the lanes of a warp use different banks, as by a column of "
               "padding",
           {{"accesses shared memory", line.frames}},
           c.shared_requests});
  }
  return out;
}

}  // namespace gradus::cuda::sim
