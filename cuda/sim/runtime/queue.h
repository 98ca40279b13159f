// Work that streams hold until somebody waits for it, where a seed is given (GRADUS_SIM_ORDER): it
// is done in any order that streams, events and waits allow, and accesses that none of them orders
// are found (check/unordered.h). No seed: work is done when it is queued, and none of this runs.
//
// A line is work that is done one after the other: that of a stream, or of one stream of a graph.
// The past of a piece of work says how much of each line comes before it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gradus/cuda/sim/check/symbols.h"

namespace gradus::cuda::sim {

using Past = std::vector<uint32_t>;  // by line; absent: 0
void join(Past& to, const Past& from);

// The title of a piece of work in reports: a kernel, or the name of something else.
struct Title {
  const char* name = "";
  const void* kernel = nullptr;
  size_t nbytes = 0;  // 0: says nothing
  std::string text() const;
};

// Work that is or was queued. Numbers count it in the order of queueing, from 1 on.
struct QueuedWork {
  uint32_t line, count;  // the how-manieth of the line
  Title title;
  const Trace* trace;  // the calls that queued it
};

// The work that this thread does now; null where it does none, or no seed is given.
struct Running {
  uint32_t number;
  Past past;
};
extern constinit thread_local const Running* running;

bool queues_work();  // whether a seed is given
uint64_t order_seed();

// --- While work runs
const QueuedWork& queued_work(uint32_t number);
bool comes_before(uint32_t number, const Past& past);
// "launched on stream 2".
std::string queued_on(uint32_t number);

// --- Calls of the host. The default stream is that of the current device.
// Returns the number of the work. `after`: more that it comes after.
uint32_t enqueue(cudaStream_t stream, Title title, std::function<cudaError_t()> work,
                 const Past& after = {});
// The same on the default stream of a device, where the stream is null.
uint32_t enqueue_on(int device, cudaStream_t stream, Title title, std::function<cudaError_t()> work,
                    const Past& after = {});
Past end_of(int device, cudaStream_t stream);
void come_after(cudaStream_t stream, const Past& past);  // later work of the stream
void forget_line(cudaStream_t stream);                   // the stream is destroyed
bool has_ended(const Past& past);                        // does some work, so that it will have
void finish(const Past& past);                           // the host waits
void finish_all();                                       // the same for all there is
void drain();  // does all there is; the host knows nothing of it

// Work of a graph, in the order in which it was recorded.
struct GraphWork {
  cudaStream_t recorded_on = nullptr;
  Title title{};
  const Trace* trace = nullptr;  // null: it was recorded without a seed
  std::function<cudaError_t()> work{};
  std::vector<std::pair<cudaStream_t, size_t>> after{};  // how many of each stream come before
};
// The lines of the streams of a graph. A graph keeps them from launch to launch.
using GraphLines = std::vector<std::pair<cudaStream_t, uint32_t>>;
void enqueue_graph(cudaStream_t stream, GraphLines& lines, const std::vector<GraphWork>& works);
void release_lines(const GraphLines& lines);

Side side_of_work(uint32_t number);  // what it is, and where it was queued

const Trace* kept_trace();  // the calls that led here, kept for good

}  // namespace gradus::cuda::sim
