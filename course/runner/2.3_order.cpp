// Runs task 2.3, on a thread with a small stack: the depth of a graph is then no matter of the machine's settings.
#include <pthread.h>

#include <exception>

#include "runner/graph.h"
#include "runner/runner.h"

namespace {

constexpr size_t kStackBytes = 256 << 10;

struct Call {
  course::Node* root;
  std::vector<course::Node*> found;
  std::exception_ptr error;
};

void* call(void* argument) {
  Call& it = *static_cast<Call*>(argument);
  try {
    it.found = course::order(it.root);
  } catch (...) {
    it.error = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void run(const Message& in, Message& out) {
  const Graph graph(in);
  Call it{graph.nodes.at(in.number("root")).get(), {}, nullptr};
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  if (pthread_create(&thread, &attributes, call, &it) != 0) throw std::runtime_error("the runner got no thread");
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  if (it.error) std::rethrow_exception(it.error);
  out.longs("order", graph.numbers(it.found));
}
