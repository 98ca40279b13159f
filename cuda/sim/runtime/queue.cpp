// Queued work, and the order in which it is done.
#include "gradus/cuda/sim/runtime/queue.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "gradus/cuda/sim/check/findings.h"
#include "gradus/cuda/sim/check/unordered.h"
#include "gradus/cuda/sim/runtime/device.h"
#include "gradus/cuda/sim/runtime/host_guards.h"
#include "gradus/cuda/sim/runtime/streams.h"

namespace gradus::cuda::sim {

constinit thread_local const Running* running = nullptr;

namespace {

constexpr size_t kMostWaiting = 256;  // then queueing does some of it, as a full queue does
constexpr unsigned kEager = 4;        // one call in so many lets the devices work

struct Item {
  uint32_t number;
  Past past;
  std::function<cudaError_t()> work;
};
struct Line {
  int device;
  bool meets_default;  // is ordered with the default stream of its device
  std::string name;
  uint32_t given = 0, done = 0;
  Past past{};  // of what comes next
  std::deque<Item> items{};
};

struct Queue {
  std::mutex mutex;
  std::mt19937_64 random;
  std::deque<Line> lines;
  std::deque<QueuedWork> works{{}};  // by number
  std::map<cudaStream_t, uint32_t> of_stream;
  std::map<int, uint32_t> of_default;  // by device
  std::vector<uint32_t> unused;        // lines of graphs that are gone
  Past host;                           // what the host has waited for, whichever of its threads
  size_t waiting = 0;
};
Queue& queue() {
  static auto& one = *[] {
    auto* const made = new Queue;
    // A child has none of the devices' work.
    static Queue* all = made;
    pthread_atfork([] { all->mutex.lock(); }, [] { all->mutex.unlock(); },
                   [] {
                     for (Line& line : all->lines) line.items.clear(), line.done = line.given;
                     all->waiting = 0;
                     all->mutex.unlock();
                   });
    return made;
  }();
  return one;
}

constinit std::atomic<bool> is_on{false};
constinit std::atomic<uint64_t> seed{0};

void start(uint64_t chosen) {
  reserve_work_cells();
  seed = chosen;
  queue().random.seed(chosen);
  is_on = true;
}

// --- All below: REQUIRES: the mutex is held.
uint32_t new_line(int device, bool meets_default, std::string name) {
  queue().lines.push_back({device, meets_default, std::move(name)});
  return static_cast<uint32_t>(queue().lines.size() - 1);
}
uint32_t line_of(int device, cudaStream_t stream) {
  Queue& all = queue();
  if (!stream) {
    const auto [at, is_new] = all.of_default.try_emplace(device);
    if (is_new) at->second = new_line(device, false, "the default stream");
    return at->second;
  }
  const auto [at, is_new] = all.of_stream.try_emplace(stream);
  if (is_new)
    at->second = new_line(stream->device, stream->waits_for_default,
                          "stream " + std::to_string(stream->number));
  return at->second;
}

// The past of the next work on the line, with the order of the default stream.
Past next_past(uint32_t number, bool is_default) {
  Queue& all = queue();
  const Line& line = all.lines[number];
  Past out = line.past;
  join(out, all.host);
  if (is_default)
    for (const Line& other : all.lines)
      if (other.device == line.device && other.meets_default) join(out, other.past);
  if (line.meets_default)
    if (const auto at = all.of_default.find(line.device); at != all.of_default.end())
      join(out, all.lines[at->second].past);
  return out;
}

bool have_ended(const Past& past) {
  for (size_t i = 0; i < past.size(); ++i)
    if (past[i] > queue().lines[i].done) return false;
  return true;
}
bool is_ready(const Line& line, size_t own) {
  const Past& past = line.items.front().past;
  for (size_t i = 0; i < past.size(); ++i)
    if (i != own && past[i] > queue().lines[i].done) return false;
  return true;
}

// Does one piece of work; false where there is none.
bool do_one() {
  Queue& all = queue();
  std::vector<Line*> ready;
  for (size_t i = 0; i < all.lines.size() && all.waiting > 0; ++i)
    if (!all.lines[i].items.empty() && is_ready(all.lines[i], i)) ready.push_back(&all.lines[i]);
  if (ready.empty()) return false;
  Line& line = *ready[all.random() % ready.size()];
  Item item = std::move(line.items.front());
  line.items.pop_front();
  --all.waiting;
  // The devices do nothing after a mistake, until somebody takes the findings. But work that writes
  // what was read too early is to be named with it.
  if (item.work && (!pending_error() || are_all_unwritten())) {
    const Running now{item.number, std::move(item.past)};
    running = &now;
    item.work();
    running = nullptr;
    guard_again();
  }
  ++line.done;
  return true;
}

uint32_t add(uint32_t number, Past past, Title title, const Trace* trace,
             std::function<cudaError_t()> work) {
  Queue& all = queue();
  Line& line = all.lines[number];
  if (past.size() <= number) past.resize(number + 1);
  past[number] = ++line.given;
  line.past = past;
  const auto out = static_cast<uint32_t>(all.works.size());
  all.works.push_back({number, line.given, title, trace});
  line.items.push_back({out, std::move(past), std::move(work)});
  ++all.waiting;
  return out;
}
void let_work() {
  while (queue().waiting > kMostWaiting || queue().random() % kEager == 0)
    if (!do_one()) break;
}

}  // namespace

void join(Past& to, const Past& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}

std::string Title::text() const {
  if (kernel) return function_name(kernel);
  return nbytes ? std::string(name) + " of " + std::to_string(nbytes) + " bytes" : name;
}

bool queues_work() {
  static const bool from_environment = [] {
    const char* const text = std::getenv("GRADUS_SIM_ORDER");
    if (text && !without_devices()) start(std::strtoull(text, nullptr, 10));
    return true;
  }();
  return from_environment && is_on.load(std::memory_order_relaxed);
}

void set_order(std::optional<uint64_t> chosen) {
  if (queues_work()) finish_all();
  if (chosen)
    start(*chosen);
  else
    is_on = false;
}

const QueuedWork& queued_work(uint32_t number) { return queue().works[number]; }
bool comes_before(uint32_t number, const Past& past) {
  const QueuedWork& it = queued_work(number);
  return it.line < past.size() && it.count <= past[it.line];
}
std::string queued_on(uint32_t number) {
  const QueuedWork& it = queued_work(number);
  return std::string(it.title.kernel ? "launched on " : "queued on ") + queue().lines[it.line].name;
}

Side side_of_work(uint32_t number) {
  const std::lock_guard lock(queue().mutex);
  const QueuedWork& it = queued_work(number);
  return {it.title.text() + ", " + queued_on(number), frames_of(*it.trace)};
}

const Trace* kept_trace() {
  static std::mutex mutex;
  static auto& all = *new std::set<Trace>;
  Trace calls = current_trace();
  const std::lock_guard lock(mutex);
  return &*all.insert(std::move(calls)).first;
}

uint32_t enqueue_on(int device, cudaStream_t stream, Title title, std::function<cudaError_t()> work,
                    const Past& after) {
  const Trace* const trace = kept_trace();
  const std::lock_guard lock(queue().mutex);
  const uint32_t line = line_of(device, stream);
  Past past = next_past(line, !stream);
  join(past, after);
  const uint32_t out = add(line, std::move(past), title, trace, std::move(work));
  let_work();
  return out;
}
uint32_t enqueue(cudaStream_t stream, Title title, std::function<cudaError_t()> work,
                 const Past& after) {
  return enqueue_on(current_zone(), stream, title, std::move(work), after);
}

Past end_of(int device, cudaStream_t stream) {
  const std::lock_guard lock(queue().mutex);
  return next_past(line_of(device, stream), !stream);
}
void come_after(cudaStream_t stream, const Past& past) {
  const std::lock_guard lock(queue().mutex);
  join(queue().lines[line_of(current_zone(), stream)].past, past);
}

void forget_line(cudaStream_t stream) {
  if (!queues_work()) return;
  const std::lock_guard lock(queue().mutex);
  queue().of_stream.erase(stream);
}

namespace {
void host_knows(const Past& past) {
  join(queue().host, past);
  lift_guards(queue().host);
}
}  // namespace

bool has_ended(const Past& past) {
  const std::lock_guard lock(queue().mutex);
  if (!have_ended(past)) do_one();
  if (!have_ended(past)) return false;
  host_knows(past);
  return true;
}
void finish(const Past& past) {
  const std::lock_guard lock(queue().mutex);
  while (!have_ended(past) && do_one()) {
  }
  host_knows(past);
}
void drain() {
  if (!queues_work() || running) return;
  const std::lock_guard lock(queue().mutex);
  while (do_one()) {
  }
}
void finish_all() {
  if (!queues_work()) return;
  drain();
  const std::lock_guard lock(queue().mutex);
  for (const Line& line : queue().lines) join(queue().host, line.past);
  lift_guards(queue().host);
}

void enqueue_graph(cudaStream_t stream, GraphLines& lines, const std::vector<GraphWork>& works) {
  const Trace* const trace = kept_trace();
  const std::lock_guard lock(queue().mutex);
  Queue& all = queue();
  const uint32_t line = line_of(current_zone(), stream);
  const auto line_of_branch = [&](cudaStream_t recorded_on) {
    for (const auto& [known, number] : lines)
      if (known == recorded_on) return number;
    uint32_t made = 0;
    if (all.unused.empty()) {
      made = new_line(all.lines[line].device, false, "");
    } else {
      made = all.unused.back();
      all.unused.pop_back();
    }
    lines.emplace_back(recorded_on, made);
    return made;
  };
  for (const GraphWork& each : works) line_of_branch(each.recorded_on);
  Past start = next_past(line, !stream);
  // A graph begins after its last launch.
  for (const auto& [recorded_on, number] : lines) {
    join(start, all.lines[number].past);
    all.lines[number].name = "a graph that was launched on " + all.lines[line].name;
  }
  std::map<cudaStream_t, std::vector<uint32_t>> counts;  // by how many of the stream came before
  for (const GraphWork& each : works) {
    const uint32_t own = line_of_branch(each.recorded_on);
    Past past = start;
    join(past, all.lines[own].past);
    for (const auto& [other, count] : each.after) {
      if (count == 0) continue;
      const uint32_t at = line_of_branch(other);
      if (past.size() <= at) past.resize(at + 1);
      past[at] = std::max(past[at], counts[other][count - 1]);
    }
    add(own, std::move(past), each.title, each.trace ? each.trace : trace, each.work);
    counts[each.recorded_on].push_back(all.lines[own].given);
  }
  join(all.lines[line].past, start);
  for (const auto& [recorded_on, number] : lines)
    join(all.lines[line].past, all.lines[number].past);
  let_work();
}
void release_lines(const GraphLines& lines) {
  if (lines.empty()) return;
  const std::lock_guard lock(queue().mutex);
  for (const auto& [recorded_on, number] : lines) queue().unused.push_back(number);
}

}  // namespace gradus::cuda::sim
