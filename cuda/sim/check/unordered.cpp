// Records which queued work used each word of memory last, and compares.
#include "gradus/cuda/sim/check/unordered.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <utility>

#include "gradus/cuda/sim/check/seen.h"
#include "gradus/cuda/sim/runtime/memory.h"
#include "gradus/cuda/sim/runtime/variables.h"

namespace gradus::cuda::sim {

namespace {

// The last work that used a word in each way: its number, times 16, and a bit for each byte. There
// are two reads, as of a Cell.
struct WorkCell {
  std::atomic<uint32_t> write, strong, read, other_read;
};
constinit WorkCell* work_cells = nullptr;
WorkCell* work_cell_at(uintptr_t address) { return work_cells + (address - arena.begin) / 4; }

// How a piece of work uses bytes of a word.
struct Use {
  Access access;
  bool is_strong;  // atomic or volatile
  uint32_t number;
  unsigned bytes;
  const Past& past;

  uint32_t bits() const { return number << 4 | bytes; }
  bool is_own(uint32_t last) const { return last >> 4 == number; }
  bool is_covered(uint32_t last) const { return is_own(last) && (bytes & ~last & 15) == 0; }
  bool is_ordered(uint32_t last) const {
    return last == 0 || is_own(last) || comes_before(last >> 4, past);
  }
};

// Calls report(number, verb, is_write) for work that the use meets out of order, and remembers it.
template <class F>
void meet(WorkCell& cell, const Use& use, const F& report) {
  const auto load = [](const std::atomic<uint32_t>& slot) {
    return slot.load(std::memory_order_relaxed);
  };
  const auto compare = [&](const std::atomic<uint32_t>& slot, const char* verb, bool is_write) {
    const uint32_t last = load(slot);
    if ((last & use.bytes) && !use.is_ordered(last)) report(last >> 4, verb, is_write);
  };
  const auto remember = [&](std::atomic<uint32_t>& slot) {
    const uint32_t last = load(slot);
    slot.store(use.bits() | (use.is_own(last) ? last & 15 : 0), std::memory_order_relaxed);
  };
  auto& own = use.is_strong ? cell.strong : use.access == Access::read ? cell.read : cell.write;
  if (use.is_covered(load(own))) return;  // works run one at a time
  compare(cell.write, "writes it", true);
  if (!use.is_strong) compare(cell.strong, "changes it, atomically or as volatile", false);
  if (use.access != Access::read && !use.is_strong)
    for (const auto* slot : {&cell.read, &cell.other_read}) compare(*slot, "reads it", false);
  if (use.access != Access::read || use.is_strong || use.is_ordered(load(cell.read)))
    return remember(own);
  remember(cell.other_read);
}

template <class F>
void for_words(uintptr_t address, size_t nbytes, const F& f) {
  const uintptr_t end = address + nbytes;
  for (uintptr_t word = address / 4 * 4; word < end; word += 4) {
    const uintptr_t from = std::max(word, address), to = std::min(word + 4, end);
    f(*work_cell_at(word), ((1u << (to - from)) - 1) << (from - word), from);
  }
}

// "byte 4 of 4096 bytes of cuda:0", and the calls that allocated them.
std::pair<std::string, Trace> describe_memory(uintptr_t address) {
  if (zone_of(address) == kVariableZone) return {describe_variable(address), {}};
  const Allocation it = allocation_around(address);
  const std::string owner = zone_of(address) == kHostZone
                                ? "of page-locked memory"
                                : "of cuda:" + std::to_string(zone_of(address));
  return {"byte " + std::to_string(address - it.begin) + " of " + std::to_string(it.used) +
              " bytes " + owner,
          it.taken};
}

constexpr const char* kFix =
    "; record an event behind the one, and let the stream of the other wait for it "
    "(cudaStreamWaitEvent), or use one stream";

std::string message_of(const std::string& memory, uint32_t other, const Running& now) {
  return "nothing orders " + queued_work(now.number).title.text() + " and " +
         queued_work(other).title.text() + ", which use " + memory + kFix;
}

// Publishes what work found that is no kernel.
void publish_work(const std::string& message, std::vector<Sighting::Side> sides,
                  const Running& now) {
  Sightings all;
  all.add(Kind::order, 0, 0, [&] { return Sighting{Kind::order, message, std::move(sides)}; });
  all.publish(queued_work(now.number).title.text());
}

}  // namespace

void reserve_work_cells() {
  if (work_cells) return;
  void* const at = mmap(nullptr, kArenaBytes / 4 * sizeof(WorkCell), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  madvise(at, kArenaBytes / 4 * sizeof(WorkCell), MADV_DONTDUMP);
  work_cells = static_cast<WorkCell*>(at);
}

void forget_works(uintptr_t address, size_t nbytes) {
  if (!work_cells) return;
  for_words(address, nbytes, [](WorkCell& cell, unsigned, uintptr_t) {
    for (auto* slot : {&cell.write, &cell.strong, &cell.read, &cell.other_read})
      if (slot->load(std::memory_order_relaxed)) slot->store(0, std::memory_order_relaxed);
  });
}

std::vector<Sighting::Side> sides_of_works(uint32_t other, const char* verb, const Running& now) {
  const QueuedWork &mine = queued_work(now.number), &its = queued_work(other);
  return {{"this was " + queued_on(now.number), *mine.trace},
          {its.title.text() + " " + verb + ", " + queued_on(other), *its.trace}};
}

void check_order(Worker& worker, const Seen& seen, uintptr_t address) {
  const Running& now = *worker.launch->work;
  const bool is_strong = seen.access == Access::atomic || seen.is_volatile;
  for_words(address, seen.size, [&](WorkCell& cell, unsigned bytes, uintptr_t at) {
    const Use use{seen.access, is_strong, now.number, bytes, now.past};
    meet(cell, use, [&](uint32_t other, const char* verb, bool is_write) {
      const Unwatched guard;
      worker.launch->sightings.add(Kind::order, seen.pc, queued_work(other).trace->front(), [&] {
        auto [memory, taken] = describe_memory(at);
        Sighting out{Kind::order, message_of(memory, other, now), {}};
        out.sides.push_back(side_of(worker, seen));
        auto sides = sides_of_works(other, verb, now);
        // The record of threads knows the line of the last plain write.
        const Record write(cell_at(at)->write.load(std::memory_order_relaxed));
        if (is_write && queued_work(other).title.kernel && pc_of(write.place()))
          sides.insert(sides.begin() + 1, {"the other one writes", {pc_of(write.place())}});
        for (auto& each : sides) out.sides.push_back(std::move(each));
        if (!taken.empty()) out.sides.push_back({"allocated", std::move(taken)});
        return out;
      });
    });
  });
}

void note_access(Access access, uintptr_t address, size_t nbytes) {
  if (!running || !work_cells || !in_arena(address)) return;
  bool reported = false;
  for_words(address, nbytes, [&](WorkCell& cell, unsigned bytes, uintptr_t at) {
    meet(cell, {access, false, running->number, bytes, running->past},
         [&](uint32_t other, const char* verb, bool) {
           if (std::exchange(reported, true)) return;
           auto [memory, taken] = describe_memory(at);
           auto sides = sides_of_works(other, verb, *running);
           if (!taken.empty()) sides.push_back({"allocated", std::move(taken)});
           publish_work(message_of(memory, other, *running), std::move(sides), *running);
         });
  });
}

void check_give_back(uintptr_t address, size_t nbytes) {
  if (!running || !work_cells) return;
  bool reported = false;
  for_words(address, nbytes, [&](WorkCell& cell, unsigned, uintptr_t at) {
    for (const auto& [slot, verb] :
         {std::pair(&cell.write, "writes it"), std::pair(&cell.strong, "changes it atomically"),
          std::pair(&cell.read, "reads it"), std::pair(&cell.other_read, "reads it")}) {
      const uint32_t last = slot->load(std::memory_order_relaxed);
      if (reported || last == 0 || !is_unordered(last >> 4, *running)) continue;
      reported = true;
      auto [memory, taken] = describe_memory(at);
      auto sides = sides_of_works(last >> 4, verb, *running);
      sides.push_back({"allocated", std::move(taken)});
      publish_work("memory is given back while " + queued_work(last >> 4).title.text() +
                       " on another stream may still use " + memory + "; call record_stream first",
                   std::move(sides), *running);
    }
  });
}

bool is_unordered(uint32_t given_back, const Running& now) {
  return given_back != now.number && !comes_before(given_back, now.past);
}

}  // namespace gradus::cuda::sim
