// Graphs: the work of a stream, recorded once, and from then on queued as a whole by one call. A
// step of many small kernels then runs at the speed of the GPU and not of the host.
//
//   StreamGuard guard(getStreamFromPool());
//   Graph graph;
//   graph.capture_begin();
//   y = (x * w).relu();     // recorded, not run
//   graph.capture_end();
//   x.copy_(batch);         // any number of times
//   graph.replay();         // y is computed from what x and w hold now
//
// make_graphed (cuda/graphed.h) does all of it for a function. docs/cuda-graphs.md is the guide.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "gradus/cuda/runtime/stream.h"
#include "gradus/tensor/generator.h"

namespace gradus::cuda {

// Names the memory of one or more graphs; {0, 0} is none's.
using MempoolId_t = std::pair<unsigned long long, unsigned long long>;

// A new name, for graphs that are to share their memory.
MempoolId_t graph_pool_handle();

// Whether work on the current stream is recorded.
bool is_current_stream_capturing();

// The recorded work of a stream. Memory that is allocated while it is captured belongs to it: each
// replay writes there again, also where the tensors are gone. The memory becomes ordinary once the
// graph and the last of these tensors are gone. Tensors from before the capture that the work uses
// must be kept by the caller.
class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Records the work of the current stream from now on, and of streams that wait for its events;
  // waits for the device and gives cached memory back first (empty_cache). Random numbers that are
  // drawn meanwhile from the device's default generator, and from registered ones, are new at each
  // replay: those that the same work would draw without a graph. No other thread may draw from
  // these generators meanwhile. Errors: until capture_end(), Error for operations that wait for the
  // GPU, or copy from or to the CPU; the graph can then only be reset. `pool` is that of another
  // graph, or of graph_pool_handle(), to share memory. Such graphs must be replayed in the order of
  // their capture, and one at a time. Errors: Error on the default stream, or where the graph holds
  // work already, or the stream is captured for another one.
  void capture_begin(MempoolId_t pool = {0, 0});
  // Ends the recording, on the thread that began it, and makes it ready for replays. Errors: Error
  // where something went wrong meanwhile, or streams were not joined to the captured one.
  void capture_end();
  // Queues the work on the current stream. Errors: Error where nothing is captured; IndexError
  // where a kernel has met an index out of range.
  void replay();
  // Ends a capture, and gives everything up; the graph can be captured again.
  void reset();
  // The name of its memory. Errors: Error before capture_begin().
  MempoolId_t pool() const;
  // Draws from this one too are new at each replay. Call this before capture_begin().
  void register_generator_state(const Generator& generator);

  // The graph that the current stream of a device is captured for, or null. -1: the current device.
  static Graph* capturing(int device = -1);
  // Records kernels whose arguments change from replay to replay, like learning rates. Calls
  // f(false) now, and f(true) before each replay. The kernels that f launches then are not run, but
  // give their arguments to those of the capture, in order. REQUIRES: the graph is being captured;
  // f launches the same kernels each time, and allocates no memory of a device.
  void launch_anew(std::function<void(bool replays)> f);
  // The result of cuda::block_counters() while the current stream is captured for this graph.
  unsigned* block_counters();

 private:
  struct State;
  std::unique_ptr<State> state_;  // null: nothing was captured
  std::vector<Generator> generators_;
};
using CUDAGraph = Graph;

}  // namespace gradus::cuda
