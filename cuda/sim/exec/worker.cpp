// Runs a block: fibers, barriers, shared memory.
#include "gradus/cuda/sim/exec/worker.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <sstream>
#include <utility>

#include "gradus/cuda/sim/exec/async.h"
#include "gradus/cuda/sim/exec/cluster.h"
#include "gradus/cuda/sim/exec/dynamic_shared.h"
#include "gradus/cuda/sim/exec/place.h"

namespace gradus::cuda::sim {

// --- Intervals
void Intervals::restart() {
  first_ = next_.load();
  if (first_ < kLimit / 2) return;
  forget_records();
  ++generation_;
  next_ = first_ = 1;
}

uint32_t Intervals::take(uint32_t block) {
  const uint32_t taken = next_.fetch_add(1, std::memory_order_relaxed), at = taken - first_;
  // A launch with more intervals than fit stays at the last one: its later races are not found.
  if (taken >= kLimit - 1) return next_ = kLimit - 1, kLimit - 1;
  auto& chunk = chunks_[at / kChunk];
  uint32_t* blocks = chunk.load(std::memory_order_acquire);
  if (!blocks) {
    auto* const made = new uint32_t[kChunk];
    if (chunk.compare_exchange_strong(blocks, made))
      blocks = made;
    else
      delete[] made;
  }
  blocks[at % kChunk] = block;
  return taken;
}

// --- SharedMemory
Pages::Pages(size_t nbytes)
    : begin_(mmap(nullptr, nbytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
      nbytes_(nbytes) {
  if (begin_ == MAP_FAILED) throw std::bad_alloc();
}
Pages::Pages(Pages&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), nbytes_(other.nbytes_) {}
Pages::~Pages() {
  if (begin_) munmap(begin_, nbytes_);
}
void Pages::clear() { madvise(begin_, nbytes_, MADV_DONTNEED); }

namespace {
// A thread finds NaN below this call where it has written nothing, not the numbers of the thread
// before.
[[gnu::noinline]] void fill_stack() {
  unsigned char below[4096];
  std::memset(below, 0xff, sizeof below);
  __asm__ volatile("" : : "r"(below) : "memory");
}

constexpr size_t kSlack = 64;  // room for the widest access, which may begin at the last byte
}  // namespace

SharedMemory::SharedMemory(const ModuleMemory& memory)
    : module_(memory.module),
      begin_(memory.begin),
      size_(memory.module->size()),
      written_(size_ + kSlack),
      cells_((size_ + kSlack) / 4 * sizeof(Cell)),
      copies_((size_ + kSlack) / 4 * sizeof(Copy*)) {}

void SharedMemory::forget() {
  if (touched_end_ > touched_begin_)
    std::memset(written_.as<uint8_t>() + touched_begin_, 0, touched_end_ - touched_begin_);
  touched_begin_ = UINTPTR_MAX, touched_end_ = 0;
}

// --- Worker: blocks
Worker::Worker()
    : place(place_variables()),
      threads_(kMostThreads),
      synced_(kMostThreads),
      accesses_(kMostWarps) {
  ready_.reserve(kMostThreads);
}
Worker::~Worker() = default;

Async& Worker::async() {
  if (!async_) async_ = std::make_unique<Async>(*this);
  return *async_;
}

unsigned Worker::thread_of(Record access) const {
  const unsigned thread = access.thread();
  return async_ && thread >= launch->threads() ? async_->issuer_of(access.interval()) : thread;
}

void Worker::find_shared_memory() {
  const unsigned long long loaded = modules_loaded();
  if (modules_ == loaded) return;
  modules_ = loaded;
  for (const ModuleMemory& memory : thread_local_memory())
    if (!shared_at(memory.begin)) shared_.emplace_back(memory);
}

void Worker::begin(Launch& launched) {
  launch = &launched;
  find_shared_memory();
  ranges.fill({});
  if (generation_ != launch->intervals->generation()) {
    generation_ = launch->intervals->generation();
    for (SharedMemory& each : shared_) each.forget_records();
    synced_.assign(kMostThreads, {});
  }
}

void Worker::run(Launch& launched) {
  begin(launched);
  gradus_sim_block_size = launch->block;
  gradus_sim_grid_size = launch->grid;
  const unsigned each = launch->cluster;
  for (;;) {
    const uint64_t number = launch->next_block.fetch_add(each, std::memory_order_relaxed);
    if (number >= launch->blocks) break;
    if (each > 1) {
      run_cluster(number);
      continue;
    }
    begin_block(number);
    gradus_sim_block_index = block;
    for (Progress last = Progress::ran; last != Progress::over;)
      if (last = proceed(); last == Progress::waits) {
        report_waits();
        break;
      }
    end_block();
  }
  launch = nullptr;
}

void Worker::run_cluster(uint64_t first) {
  while (others_.size() + 1 < launch->cluster) others_.push_back(std::make_unique<Worker>());
  std::vector<Worker*> blocks = {this};
  for (unsigned i = 0; i + 1 < launch->cluster; ++i) {
    others_[i]->begin(*launch);
    blocks.push_back(others_[i].get());
  }
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i]->begin_block(first + i);
  gradus_sim_block_index = block;
  Cluster all(blocks);
  all.run();
  for (Worker* each : blocks) {
    each->end_block();
    each->cluster = nullptr;
    each->watched_ = each;
  }
}

void Worker::begin_block(uint64_t number) {
  const dim3 grid = launch->grid;
  block = {static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x % grid.y),
           static_cast<unsigned>(number / grid.x / grid.y)};
  block_number_ = static_cast<uint32_t>(number);
  if (launch->checked) {
    interval = launch->intervals->take(block_number_);
    for (SharedMemory& each : shared_) each.forget();
    met_.clear();
    fenced_.clear();
    released_.clear();
  }
  started_ = ended_ = waiting_ = stopped_ = gave_way_ = 0;
  last_progress_ = UINT64_MAX;
  abandoned_ = false;
  barriers_ = tensor_products = 0;
}

Worker::Progress Worker::proceed() {
  if (abandoned_) return Progress::over;
  if (next_ready_ < ready_.size()) {
    while (next_ready_ < ready_.size() && !abandoned_) resume(*ready_[next_ready_++]);
    return Progress::ran;
  }
  ready_.clear();
  next_ready_ = 0;
  if (started_ < launch->threads()) {
    starting_ = free_fiber();
    home_.switch_to(*starting_);
    return Progress::ran;
  }
  if (ended_ + stopped_ == launch->threads()) return Progress::over;
  if (release_active_lanes() || (async_ && async_->bring_boxes())) return Progress::ran;
  if (release_those_that_gave_way()) return Progress::spun;
  if (!release_barrier()) return Progress::waits;
  ++barriers_;
  return Progress::ran;
}

void Worker::report_waits() {
  if (!async_ || !async_->report_stuck()) report_stuck();
}

void Worker::end_block() {
  if (async_ && ended_ == launch->threads()) async_->end_block();
  if (async_) async_->clear(), async_.reset();
  if (copies.any()) copies.clear(*this);
  if (abandoned_ || ended_ + stopped_ < launch->threads()) reclaim_fibers();
  launch->progress.fetch_add(1, std::memory_order_relaxed);
  if (launch->counter) {
    flush_accesses();
    const auto idle = std::count_if(threads_.begin(), threads_.begin() + started_,
                                    [](const Thread& each) { return !each.accessed; });
    launch->counter->add_block({barriers_, launch->threads(), idle, tensor_products});
  }
}

void Worker::flush_accesses() {
  for (size_t warp = 0; warp < accesses_.size(); ++warp)
    launch->counter->add(accesses_[warp], block_number_ == 0 && warp == 0);
}

// --- Worker: fibers
Fiber* Worker::free_fiber() {
  if (idle_.empty()) {
    fibers_.push_back(std::make_unique<Fiber>(fiber_main, this, fibers_.size()));
    return fibers_.back().get();
  }
  Fiber* const out = idle_.back();
  idle_.pop_back();
  return out;
}

// Fibers of a block that was given up stopped somewhere in the kernel. Now they can start again.
void Worker::reclaim_fibers() {
  idle_.clear();
  for (const auto& each : fibers_) {
    each->restart();
    idle_.push_back(each.get());
  }
  ready_.clear();
  next_ready_ = 0;
}

void Worker::fiber_main(void* argument) {
  Worker& worker = *static_cast<Worker*>(argument);
  Fiber* const self = worker.starting_;
  for (;;) {
    worker.run_thread(self);
    const bool others = worker.next_ready_ < worker.ready_.size();
    if (!others && worker.started_ < worker.launch->threads() && !worker.abandoned_) continue;
    worker.idle_.push_back(self);
    self->switch_to(worker.home_);
  }
}

void Worker::run_thread(Fiber* fiber) {
  const unsigned linear = started_++;
  const dim3 size = launch->block;
  Thread& thread = threads_[linear];
  thread = {};
  thread.index = {linear % size.x, linear / size.x % size.y, linear / size.x / size.y};
  thread.linear = linear;
  thread.fiber = fiber;
  thread.interval = interval;
  thread.early = launch->early;
  enter(thread);
  fill_stack();
  launch->invoke(launch->kernel, launch->args);
  settle_doubt();
  {
    const Unwatched guard;
    if (copies.any()) copies.end_thread(*this, thread);
    if (async_) async_->end_thread(thread);
  }
  leave();
  thread.state = State::done;
  ++ended_;
  complete_without(thread);
}

void Worker::enter(Thread& thread) {
  watched_->turns_.store(watched_->turns() + 1, std::memory_order_relaxed);
  current = &thread;
  gradus_sim_thread_index = thread.index;
  here = this;
  if (launch->checked || launch->counter) watching = this;
}
void Worker::leave() {
  current = nullptr;
  here = watching = nullptr;
}

void Worker::resume(Thread& thread) {
  enter(thread);
  home_.switch_to(*thread.fiber);
}

void Worker::wait(State state) {
  Thread& thread = *current;
  thread.state = state;
  leave();
  thread.fiber->switch_to(home_);
}

void Worker::stop_thread() {
  Thread& thread = *current;
  thread.state = State::stopped;
  ++stopped_;
  leave();
  thread.fiber->restart();
  idle_.push_back(thread.fiber);
  complete_without(thread);
  Fiber nowhere;
  nowhere.switch_to(home_);
  __builtin_unreachable();
}

void Worker::stop_block() {
  abandoned_ = true;
  leave();
  Fiber nowhere;
  nowhere.switch_to(home_);
  __builtin_unreachable();
}

// --- Worker: barriers
uint64_t Worker::barrier(BarrierOp op, int predicate, uintptr_t pc) {
  const Unwatched guard;
  Thread& thread = *current;
  settle_doubt();
  thread.pc = pc;
  thread.barrier_op = op;
  thread.value = predicate != 0;
  ++waiting_;
  wait(State::at_barrier);
  return thread.value;
}

// REQUIRES: every thread has started, and none can run.
bool Worker::release_barrier() {
  const unsigned threads = launch->threads();
  if (waiting_ == 0 || waiting_ + ended_ + stopped_ < threads) return false;
  const auto waits = [](const Thread& each) { return each.state == State::at_barrier; };
  const auto end = threads_.begin() + threads;
  Thread& first = *std::find_if(threads_.begin(), end, waits);
  if (ended_ > 0 && stopped_ == 0) {
    const Thread& missing = *std::find_if(
        threads_.begin(), end, [](const Thread& each) { return each.state == State::done; });
    launch->sightings.add(Kind::barrier, first.pc, 0, [&] {
      Sighting out{Kind::barrier,
                   std::to_string(ended_) + " of " + std::to_string(threads) +
                       " threads of the block never came to this barrier (they skipped it in a "
                       "branch, or returned); let every thread reach it, and guard the accesses "
                       "instead",
                   {}};
      out.sides.push_back(side("waits", first, {first.pc}));
      out.sides.push_back(side("has returned", missing, {}));
      return out;
    });
  }
  uint64_t sum = 0;
  for (auto each = threads_.begin(); each != end; ++each) {
    if (!waits(*each)) continue;
    sum += each->value;
    if (each->pc != first.pc && !same_line(each->pc, first.pc))
      launch->sightings.add(Kind::barrier, first.pc, each->pc, [&] {
        Sighting out{Kind::barrier,
                     "threads of one block wait at different barriers; move the barrier out of the "
                     "branch",
                     {}};
        out.sides.push_back(side("waits", first, {first.pc}));
        out.sides.push_back(side("waits", *each, {each->pc}));
        return out;
      });
  }
  begin_interval();
  for (auto each = threads_.begin(); each != end; ++each) {
    if (!waits(*each)) continue;
    each->state = State::ready;
    each->interval = interval;
    each->value = each->barrier_op == BarrierOp::all   ? sum == waiting_
                  : each->barrier_op == BarrierOp::any ? sum > 0
                                                       : sum;
    ready_.push_back(&*each);
  }
  waiting_ = 0;
  launch->progress.fetch_add(1, std::memory_order_relaxed);
  if (launch->counter) flush_accesses();
  return true;
}

// Shared memory may have records of an earlier block.
bool Worker::has_engine(Record access) const {
  return async_->is_engine(access.thread()) &&
         launch->intervals->block_of(access.interval()) == block_number_;
}

void Worker::begin_interval() {
  if (async_) async_->sync_block();
  if (launch->checked) interval = launch->intervals->take(block_number_);
  for (const auto& [thread, through] : fenced_) released_[thread] = through;
  fenced_.clear();
  met_.share(std::bitset<kMostThreads>().set());
}

bool Worker::same_line(uintptr_t a, uintptr_t b) {
  const auto frames = frames_of({a}), others = frames_of({b});
  if (frames.empty() || others.empty() || frames[0].file.empty()) return false;
  return frames[0].line == others[0].line && frames[0].file == others[0].file;
}

// --- Text of reports
Sighting::Side Worker::side(std::string what, const Thread& thread, Trace trace) const {
  return {std::move(what),
          std::move(trace),
          true,
          {block.x, block.y, block.z},
          {thread.index.x, thread.index.y, thread.index.z}};
}

}  // namespace gradus::cuda::sim
