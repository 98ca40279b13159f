// Copies of boxes between tensors and shared memory, as the tensor memory accelerator makes them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "gradus/cuda/sim/check/access.h"
#include "gradus/cuda/sim/check/mistake.h"
#include "gradus/cuda/sim/check/races.h"
#include "gradus/cuda/sim/exec/async.h"
#include "gradus/cuda/sim/exec/cluster.h"
#include "gradus/cuda/sim/exec/dynamic_shared.h"
#include "gradus/cuda/sim/exec/worker.h"

namespace gradus::cuda::sim {

namespace {

// Four floats: of their 23 bits behind the point 10 are left.
void round_to_tf32(unsigned char* floats) {
  for (int i = 0; i < 4; ++i) {
    uint32_t bits;
    std::memcpy(&bits, floats + 4 * i, 4);
    const bool is_finite = (bits & 0x7f800000u) != 0x7f800000u;
    if (is_finite) bits = (bits + 0x1000u) & 0xffffe000u;
    std::memcpy(floats + 4 * i, &bits, 4);
  }
}

// Adds whole elements, which need not be aligned to their sizes.
template <class T>
void add_all(unsigned char* to, const unsigned char* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += sizeof(T)) {
    T sum, more;
    std::memcpy(&sum, to + i, sizeof(T)), std::memcpy(&more, from + i, sizeof(T));
    sum = sum + more;
    std::memcpy(to + i, &sum, sizeof(T));
  }
}
void add_elements(char type, unsigned char* to, const unsigned char* from, size_t bytes) {
  if (type == 'b') add_all<__nv_bfloat16>(to, from, bytes);
  if (type == 'h') add_all<__half>(to, from, bytes);
  if (type == 'f') add_all<float>(to, from, bytes);
}

Box box_of(const void* shared, const CUtensorMap& map, const Place& at, int dims, uintptr_t pc,
           bool pixels = false) {
  Box out = {};
  std::memcpy(&out.map, &map, sizeof out.map);
  out.at = at;
  const auto stop = [&](Kind kind, const char* message) {
    stop_here(kind, "copies", pc, [&] { return std::string(message); });
  };
  if (out.map.mark != TensorMap::kMark)
    stop(Kind::foreign_memory, "this is no CUtensorMap; make it by cuTensorMapEncodeTiled");
  if (out.map.pixels != pixels)
    stop(Kind::launch, pixels ? "the copy is of pixels; make the map by cuTensorMapEncodeIm2col"
                              : "the copy is of a box; make the map by cuTensorMapEncodeTiled");
  if (out.map.dims != dims)
    stop(Kind::launch, "the copy gives as many coordinates as the tensor map has no dimensions");
  const auto address = reinterpret_cast<uintptr_t>(shared);
  if (!here->shared_at(address))
    stop(Kind::foreign_memory, "a box lies in shared memory, and this address lies elsewhere");
  if (address % 128 != 0)
    stop(Kind::misaligned, "a box in shared memory begins at a multiple of 128 bytes");
  out.copy.to = address;
  out.copy.pc = pc;
  out.copy.thread = here->current->linear;
  out.copy.width = static_cast<uint32_t>(out.map.lines() * out.map.line_bytes());
  out.copy.box = true;
  return out;
}

}  // namespace

namespace {
// A box that a thread asks for: its accesses here and in the tensor are checked.
void begin_load(uintptr_t barrier, const Box& box, unsigned blocks) {
  const uintptr_t pc = box.copy.pc;
  Cluster* const cluster = here->cluster;
  const unsigned own = cluster ? cluster->rank() : 0, all = blocks ? blocks : 1u << own;
  const bool here_too = all >> own & 1;
  if (here_too) check_atomic(barrier, 8, pc);
  box.for_chunks([&](uintptr_t chunk, unsigned char* source, unsigned first, unsigned last) {
    if (first < last)
      check_access(Access::read, reinterpret_cast<uintptr_t>(source + first), last - first, pc - 1);
    if (here_too) check_access(Access::write, chunk, 16, pc);
  });
  const Unwatched guard;
  for (unsigned rank = 0; rank < 16; ++rank) {
    if (!(all >> rank & 1)) continue;
    if (rank == own) {
      here->async().load(barrier, box, pc);
      continue;
    }
    if (!cluster || rank >= cluster->size())
      stop_here(Kind::launch, "copies", pc, [&] {
        return "the copy is for block " + std::to_string(rank) + " of a cluster of " +
               std::to_string(cluster ? cluster->size() : 1);
      });
    refuse_ended(rank, "copies", pc);
    cluster->block(rank).async().load_from_outside(barrier, box, pc);
  }
}
}  // namespace

void load_box(void* to, const CUtensorMap& from, uint64_t* barrier, const Place& at, int dims,
              unsigned blocks) {
  const Box box = box_of(to, from, at, dims, GRADUS_SIM_CALLER);
  begin_load(reinterpret_cast<uintptr_t>(barrier), box, blocks);
}
void load_pixels(void* to, const CUtensorMap& from, uint64_t* barrier, const Place& at, int right,
                 int down) {
  Box box = box_of(to, from, at, 4, GRADUS_SIM_CALLER, true);
  box.shift[0] = right, box.shift[1] = down;
  begin_load(reinterpret_cast<uintptr_t>(barrier), box, 0);
}

void store_box(const CUtensorMap& to, const void* from, const Place& at, int dims, bool adds,
               bool pixels) {
  const uintptr_t pc = GRADUS_SIM_CALLER;
  Box box = box_of(from, to, at, dims, pc, pixels);
  box.adds = adds;
  if (adds && box.map.type == 0)
    stop_here(Kind::launch, "adds", pc, [] {
      return std::string("a box is added to float, __half and __nv_bfloat16 elements alone");
    });
  box.for_chunks([&](uintptr_t, unsigned char* target, unsigned first, unsigned last) {
    if (first < last)
      check_access(Access::write, reinterpret_cast<uintptr_t>(target + first), last - first, pc);
  });
  const Unwatched guard;
  here->async().store(box);
}

void end_box_group() {
  const Unwatched guard;
  here->async().end_stores();
}
void wait_for_boxes(unsigned pending) {
  const Unwatched guard;
  here->async().wait_for_stores(pending);
}

void Async::load(uintptr_t barrier, Box box, uintptr_t pc) {
  Mbarrier& it = at(barrier, pc);
  it.boxes.push_back(box);
  worker_.copies.begin_box(*worker_.shared_at(box.copy.to), it.boxes.back().copy);
}

// Whether a copy or product of this block reads what another block's copy is to fill.
void Async::load_from_outside(uintptr_t barrier, Box box, uintptr_t pc) {
  Mbarrier& it = at(barrier, pc);
  const Reader* reader = nullptr;
  box.for_chunks([&](uintptr_t chunk, const unsigned char*, unsigned, unsigned) {
    if (!reader) reader = worker_.copies.reader_of(chunk);
  });
  if (reader)
    worker_.launch->sightings.add(Kind::under_way, pc, reader->pc, [&] {
      Sighting out{Kind::under_way,
                   "the copy fills shared memory of another block of the cluster that a product or "
                   "store there still reads; wait until that block has arrived behind it",
                   {}};
      out.sides.push_back(here->side("copies", *here->current, {pc}));
      out.sides.push_back(worker_.side("reads", worker_.thread(reader->thread), {reader->pc}));
      return out;
    });
  box.copy.thread = 0;  // of this block, of which none asked for it
  it.boxes.push_back(box);
  worker_.copies.begin_box(*worker_.shared_at(box.copy.to), it.boxes.back().copy);
}

// Brings the box that waits for the longest time.
void Async::bring(Mbarrier& it) {
  Box& box = it.boxes.front();
  SharedMemory& shared = *worker_.shared_at(box.copy.to);
  const uint32_t interval = new_interval(box.copy.thread);
  const Record now(interval, it.engine, 0, place_of(box.copy.pc), 15);
  box.for_chunks([&](uintptr_t chunk, const unsigned char* source, unsigned first, unsigned last) {
    auto* const to = reinterpret_cast<unsigned char*>(chunk);
    std::memset(to, 0, 16);
    if (first < last) std::memcpy(to + first, source + first, last - first);
    if (box.map.rounds) round_to_tf32(to);
    note_swizzle(chunk, box.map.swizzle);
    std::memset(shared.written_at(chunk, 16), 1, 16);
    Cell* const cells = shared.cell_at(chunk);
    for (int i = 0; i < 4; ++i) cells[i].write.store(now.bits(), std::memory_order_relaxed);
  });
  worker_.copies.end_box(shared, box.copy);
  it.bytes -= box.copy.width;
  it.brought += box.copy.width;
  if (it.arriving.size() < kMostThreads) it.arriving.resize(kMostThreads);
  it.arriving[it.engine] = interval;
  it.boxes.pop_front();
}

void Async::store(Box box) {
  Stores& mine = stores_[box.copy.thread];
  if (mine.engine == 0) mine.engine = new_engine();
  box.copy.group = mine.groups;
  box.interval = new_interval(box.copy.thread);
  const Record as(box.interval, mine.engine, 0, place_of(box.copy.pc), 0);
  box.for_chunks([&](uintptr_t chunk, unsigned char*, unsigned first, unsigned last) {
    if (first == last) return;
    read(chunk, as, box.copy.pc, "is stored");
    worker_.copies.begin_read(chunk, {box.copy.pc, box.copy.thread, false});
  });
  mine.boxes.push_back(box);
}
void Async::end_stores() { ++stores_[worker_.current->linear].groups; }

void Async::finish_store(Stores& mine) {
  const Box& box = mine.boxes.front();
  box.for_chunks([&](uintptr_t chunk, unsigned char* target, unsigned first, unsigned last) {
    if (first == last) return;
    const auto* const from = reinterpret_cast<const unsigned char*>(chunk);
    if (box.adds)
      add_elements(box.map.type, target + first, from + first, last - first);
    else
      std::memcpy(target + first, from + first, last - first);
    worker_.copies.end_read(chunk);
  });
  learn(box.copy.thread, mine.engine, box.interval);
  mine.boxes.pop_front();
}

void Async::wait_for_stores(unsigned pending) {
  Stores& mine = stores_[worker_.current->linear];
  while (!mine.boxes.empty() && mine.boxes.front().copy.group + pending < mine.groups)
    finish_store(mine);
}

void Async::end_thread(const Thread& thread) {
  const auto found = stores_.find(thread.linear);
  if (found == stores_.end()) return;
  while (!found->second.boxes.empty()) {
    const Copy& copy = found->second.boxes.front().copy;
    const bool ended = copy.group < found->second.groups;
    worker_.launch->sightings.add(Kind::under_way, copy.pc, 0, [&] {
      Sighting out{Kind::under_way,
                   std::string("the thread has ended, and this store (TMA) may still read shared "
                               "memory; ") +
                       (ended ? "wait for its group (cp.async.bulk.wait_group)"
                              : "end its group (cp.async.bulk.commit_group), and wait for it"),
                   {}};
      out.sides.push_back(worker_.side("began to store", thread, {copy.pc}));
      return out;
    });
    finish_store(found->second);
  }
}

// A copy or product reads 16 bytes of shared memory.
void Async::read(uintptr_t chunk, Record as, uintptr_t pc, const char* what) {
  if (!worker_.launch->checked) return;
  SharedMemory& shared = *worker_.shared_at(chunk);
  const Seen seen{Access::read, chunk, 16, pc, false};
  const auto report = [&](Kind kind, uintptr_t other_pc, const char* message,
                          std::vector<Sighting::Side> others) {
    worker_.launch->sightings.add(kind, pc, other_pc, [&] {
      Sighting out{kind, message, {}};
      out.sides.push_back(worker_.side(std::string(what) + " from here", *worker_.current, {pc}));
      for (auto& each : others) out.sides.push_back(std::move(each));
      return out;
    });
  };
  if (worker_.copies.any() && worker_.copies.meets(worker_, seen, &shared)) return;
  const uint8_t* const written = shared.written_at(chunk, 16);
  if (std::find(written, written + 16, 1) == written + 16)
    return report(Kind::unwritten, 0,
                  "nobody has written this shared memory yet: does the descriptor or the address "
                  "point elsewhere, or is a wait missing?",
                  {});
  const Intervals& intervals = *worker_.launch->intervals;
  const Record write(shared.cell_at(chunk)->write.load(std::memory_order_relaxed));
  if (write.bits() != 0 && intervals.is_current(write.interval()) &&
      intervals.block_of(write.interval()) == worker_.block_number() &&
      write.thread() < worker_.launch->threads() && !is_published(write)) {
    const uintptr_t writer = pc_of(write.place());
    report(Kind::race, writer,
           "copies and products (TMA, wgmma) need not see this write; let the thread that wrote "
           "publish it by fence.proxy.async, before the barrier",
           {worker_.side("writes", worker_.thread(write.thread()), {writer})});
  }
  Races(worker_, seen, &shared, as).check(shared.cell_at(chunk));
}

void Async::note_swizzle(uintptr_t chunk, unsigned swizzle) {
  const uintptr_t at = (chunk - reinterpret_cast<uintptr_t>(gradus_sim_dynamic_shared)) / 16;
  if (at >= kMostDynamicShared / 16) return;
  if (swizzles_.empty()) swizzles_.resize(kMostDynamicShared / 16);
  swizzles_[at] = static_cast<uint8_t>(swizzle + 1);
}

// A product reads a chunk by a descriptor of this swizzle.
void Async::check_swizzle(uintptr_t chunk, unsigned swizzle, uintptr_t pc) {
  const uintptr_t at = (chunk - reinterpret_cast<uintptr_t>(gradus_sim_dynamic_shared)) / 16;
  if (swizzles_.empty() || swizzles_[at] == 0 || swizzles_[at] == swizzle + 1) return;
  const Record write(
      worker_.shared_at(chunk)->cell_at(chunk)->write.load(std::memory_order_relaxed));
  const Intervals& intervals = *worker_.launch->intervals;
  if (!intervals.is_current(write.interval()) || write.thread() < worker_.launch->threads()) return;
  const uintptr_t writer = pc_of(write.place());
  const auto name = [](unsigned swizzle_of) {
    return swizzle_of ? std::to_string(16 << swizzle_of) + " bytes" : std::string("none");
  };
  worker_.launch->sightings.add(Kind::layout, pc, writer, [&] {
    Sighting out{Kind::layout,
                 "the descriptor of this product (wgmma) has another swizzle (" + name(swizzle) +
                     ") than the tensor map of the copy (" + name(swizzles_[at] - 1u) +
                     "); give both the same",
                 {}};
    out.sides.push_back(worker_.side("multiplies", *worker_.current, {pc}));
    out.sides.push_back({"copied", {writer}});
    return out;
  });
}

}  // namespace gradus::cuda::sim
