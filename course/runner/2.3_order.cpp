// Runs task 2.3, on a thread with a small stack: the depth of a graph is then no matter of the machine's settings.
// "before": nodes of the same graph whose order is asked for first.
#include <pthread.h>

#include <exception>

#include "runner/graph.h"
#include "runner/runner.h"

namespace {

constexpr size_t kStackBytes = 256 << 10;

struct Call {
  std::vector<course::Node*> roots;
  std::vector<course::Node*> found;  // from the last root
  std::exception_ptr error;
};

void* call(void* argument) {
  Call& it = *static_cast<Call*>(argument);
  try {
    for (course::Node* const root : it.roots) it.found = course::order(root);
  } catch (...) {
    it.error = std::current_exception();
  }
  return nullptr;
}

// How many nodes are not as the judge described them: a function, a gradient, or other inputs.
long changed_nodes(const Graph& graph, const Graph& untouched) {
  long changed = 0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const course::Node& node = *graph.nodes[n];
    const course::Tensor& gradient = node.gradient;
    const bool has_gradient = !gradient.empty() || !gradient.sizes.empty() || gradient.offset != 0 || gradient.node != nullptr;
    changed += node.gradients || has_gradient || graph.inputs_of(n) != untouched.inputs_of(n);
  }
  return changed;
}

}  // namespace

void run(const Message& in, Message& out) {
  const Graph graph(in);
  Call it;
  if (in.has("before"))
    for (const long each : in.longs("before")) it.roots.push_back(graph.nodes.at(each).get());
  it.roots.push_back(graph.nodes.at(in.number("root")).get());
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  if (pthread_create(&thread, &attributes, call, &it) != 0) throw std::runtime_error("the runner got no thread");
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  if (it.error) std::rethrow_exception(it.error);
  out.longs("order", graph.numbers(it.found));
  out.number("changed nodes", in.has("before") ? changed_nodes(graph, Graph(in)) : 0);
}
