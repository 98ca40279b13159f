// Compares an access with the earlier accesses to its word.
#include "gradus/cuda/sim/check/races.h"

#include <string_view>
#include <utility>

namespace gradus::cuda::sim {

void Races::doubt(Record before) const {
  if (thread_.doubt.before != 0 && thread_.doubt.address != seen_.address) report_doubt(worker_);
  thread_.doubt = {before.bits(), seen_.address, seen_.pc, seen_.size};
}

void Races::report_doubt(Worker& worker) {
  const Unwatched guard;
  const Doubt doubt = std::exchange(worker.current->doubt, {});
  const Seen seen{Access::read, doubt.address, doubt.size, doubt.pc, false};
  Races(worker, seen, worker.shared_at(doubt.address))
      .report(worker.side(seen.text(), *worker.current, {doubt.pc}), Record(doubt.before), kStrong,
              doubt.address);
}

void Races::report(Record before, const char* verb, uintptr_t address) const {
  const Unwatched guard;
  report(side_of(worker_, seen_), before, verb, address);
}

// REQUIRES: accesses of this thread are not checked.
void Races::report(Sighting::Side side, Record before, const char* verb, uintptr_t address) const {
  const uintptr_t other_pc = pc_of(before.place());
  worker_.launch->sightings.add(Kind::race, seen_.pc, other_pc, [&] {
    const uint32_t number = worker_.launch->intervals->block_of(before.interval());
    const dim3 grid = worker_.launch->grid, size = worker_.launch->block;
    const bool same_block = number == worker_.block_number();
    const SharedArray* const array = shared_ ? shared_->array_at(address) : nullptr;
    const std::string where =
        array ? "byte " + std::to_string(address - shared_->begin() - array->offset) + " of " +
                    array->name
              : "one address of global memory";
    const bool both_store = seen_.access == Access::write && std::string_view(verb) == "writes";
    const char* const fix =
        both_store    ? shared_ ? "should only one of them store there, or is a barrier missing?"
                                : "should only one of them store there?"
        : !same_block ? "threads of different blocks must not meet: use an atomic, or two launches"
        : shared_     ? "put a barrier between them"
                      : "put a barrier between them, or use an atomic";
    Sighting out{Kind::race, "two threads meet at " + where + "; " + fix, {}};
    out.sides.push_back(std::move(side));
    Sighting::Side other{verb, other_pc ? Trace{other_pc} : Trace{}, true, {}, {}};
    other.block = {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
    const unsigned t = worker_.thread_of(before);
    other.thread = {t % size.x, t / size.x % size.y, t / size.x / size.y};
    out.sides.push_back(std::move(other));
    return out;
  });
}

void Worker::settle_doubt() {
  if (current->doubt.before != 0) Races::report_doubt(*this);
}

}  // namespace gradus::cuda::sim
