// Graphs of recorded work, and how they are run.
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "gradus/cuda/sim/runtime/streams.h"

// A copy of the graph's nodes: what is changed or destroyed later leaves it as it is.
struct CUgraphExec_st {
  std::vector<CUgraphNode_st> nodes;
  std::map<cudaGraphNode_t, size_t> places;  // by the graph's node
  gradus::cuda::sim::GraphLines lines{};
};

using namespace gradus::cuda::sim;

namespace {
std::mutex execs_mutex;
std::set<cudaGraphExec_t>& execs() {
  static auto& all = *new std::set<cudaGraphExec_t>;
  return all;
}
bool is_exec(cudaGraphExec_t exec) {
  const std::lock_guard lock(execs_mutex);
  return execs().contains(exec);
}

// Memory that was given out since the kernel was recorded may be in its new parameters. So the
// marks of such memory, up to the last that gives it out, count before it.
void take_marks(CUgraphNode_st& node) {
  auto& nodes = node.graph->nodes;
  std::map<void*, size_t> last;
  size_t i = nodes.size();
  for (; nodes[i - 1].get() != &node; --i)
    if (const MemoryMark& mark = nodes[i - 1]->mark; mark.gives_out) last.emplace(mark.memory, i);
  for (; i < nodes.size(); ++i) {
    const auto found = last.find(nodes[i]->mark.memory);
    if (found == last.end() || found->second <= i) continue;
    node.marks_before.push_back(std::exchange(nodes[i]->other, [] { return cudaSuccess; }));
  }
}

// Gives a node's kernel other parameters.
cudaError_t renew(CUgraphNode_st& node, const cudaKernelNodeParams& params) {
  if (!params.kernelParams || params.extra || !node.kernel) return cudaErrorInvalidValue;
  const auto& [function, grid, block, shared_bytes, args, extra] = params;
  if (const cudaError_t status = check_launch(function, grid, block, shared_bytes)) return status;
  node.kernel = keep_launch(function, grid, block, args, shared_bytes, node.kernel->device,
                            node.kernel->early);
  node.queued.title.kernel = function;
  return cudaSuccess;
}
}  // namespace

cudaError_t CUgraphNode_st::run() const {
  for (const auto& take : marks_before) take();
  if (!kernel) return other();
  run_kernel(*kernel);
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (!graph || !count) return result(cudaErrorInvalidValue);
  size_t found = 0;
  for (const auto& node : graph->nodes) {
    if (node->mark.memory) continue;
    if (nodes && found < *count) nodes[found] = node.get();
    ++found;
  }
  *count = found;
  return result(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (!graph) return result(cudaErrorInvalidValue);
  delete graph;
  return result(cudaSuccess);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!exec || !graph) return result(cudaErrorInvalidValue);
  auto made = std::make_unique<CUgraphExec_st>();
  for (const auto& node : graph->nodes) {
    made->places[node.get()] = made->nodes.size();
    made->nodes.push_back(*node);
  }
  const std::lock_guard lock(execs_mutex);
  execs().insert(*exec = made.release());
  return result(cudaSuccess);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!params || !is_exec(exec)) return result(cudaErrorInvalidValue);
  const auto place = exec->places.find(node);
  if (place == exec->places.end()) return result(cudaErrorInvalidValue);
  const auto& kernel = exec->nodes[place->second].kernel;
  if (kernel && kernel->kernel != params->func) return result(cudaErrorInvalidValue);
  return result(renew(exec->nodes[place->second], *params));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* params) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!node || !params) return result(cudaErrorInvalidValue);
  const cudaError_t status = renew(*node, *params);
  if (status == cudaSuccess) take_marks(*node);
  return result(status);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!is_exec(exec)) return result(cudaErrorInvalidValue);
  if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  const auto run = [](const std::vector<CUgraphNode_st>& nodes) {
    for (const CUgraphNode_st& node : nodes) {
      if (pending_error()) break;  // comes up at the next call
      if (const cudaError_t status = node.run()) return status;
    }
    return cudaSuccess;
  };
  const auto work = [run, nodes = exec->nodes] { return run(nodes); };
  if (const auto status = record(stream, {"a graph"}, work)) return result(*status);
  if (!queues_work()) return result(work());
  std::vector<GraphWork> works;
  for (const CUgraphNode_st& node : exec->nodes) {
    works.push_back(node.queued);
    works.back().work = [node] { return node.run(); };
  }
  enqueue_graph(stream, exec->lines, works);
  return result(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  const std::lock_guard lock(execs_mutex);
  if (execs().erase(exec) == 0) return result(cudaErrorInvalidValue);
  release_lines(exec->lines);
  delete exec;
  return result(cudaSuccess);
}
