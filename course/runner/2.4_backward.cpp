// Runs task 2.4. The runner knows an order of its own graph: the test sent it.
#include <algorithm>

#include "runner/graph.h"
#include "runner/runner.h"
#include "runner/tensors_in.h"

namespace {

// What the graph's functions see, and the tensors that they gave.
struct Trace {
  std::vector<long> calls;
  std::vector<float> arrived;
  std::vector<course::Tensor> given;
  std::vector<std::vector<float>> contents;
  std::vector<long> versions;
  std::vector<std::weak_ptr<course::Storage>> sums;  // what arrived, as far as it is still there
  long most_alive = 0;
};

// A gradient of a leaf before the last call.
struct Before {
  course::Tensor gradient;
  std::vector<float> values;
  long version = 0;
};

constexpr long kGap = 2;  // elements of others before and behind those of a tensor

// A tensor that begins within its memory: who forgets the offset sees the numbers of others.
course::Tensor within(const course::Dims& sizes) {
  course::Tensor out{sizes, std::make_shared<course::Storage>(), kGap, nullptr};
  out.storage->values.assign(static_cast<size_t>(out.count() + 2 * kGap), 1000);
  return out;
}

course::Tensor times(const course::Tensor& x, float factor) {
  const course::Tensor out = within(x.sizes);
  const std::vector<float> values = values_of(x);
  for (size_t i = 0; i < values.size(); ++i) out.storage->values[i + kGap] = factor * values[i];
  return out;
}

std::vector<course::Node*> known_order;

}  // namespace

std::vector<course::Node*> course::order(Node* root) {
  if (known_order.empty() || known_order[0] != root)
    throw std::logic_error("backward() asked for the order of another node than its root");
  return known_order;
}

// With "alive" nothing that was given is kept here: what is alive then is kept by backward().
// Edge i's function multiplies by factors[i]; a factor of 1 hands on the very memory that came in, and one of 0 an
// empty tensor. "leaves" are the nodes without a function.
void run(const Message& in, Message& out) {
  const Graph graph(in);
  Trace trace;
  const bool keeps = !in.has("alive");
  const std::vector<long> users = in.longs("users"), leaves = in.longs("leaves");
  const std::vector<float> factors = in.floats("factors");
  std::vector<std::vector<float>> of_node(graph.nodes.size());
  for (size_t i = 0; i < users.size(); ++i) of_node.at(users[i]).push_back(factors.at(i));
  std::vector<bool> leaf(graph.nodes.size());
  for (const long each : leaves) leaf.at(each) = true;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (leaf[n]) continue;
    graph.nodes[n]->gradients = [&trace, keeps, n, mine = of_node[n]](const course::Tensor& gradient) {
      trace.calls.push_back(static_cast<long>(n));
      for (const float each : values_of(gradient)) trace.arrived.push_back(each);
      trace.sums.push_back(gradient.storage);
      long alive = 0;
      for (const auto& each : trace.sums) alive += !each.expired();
      trace.most_alive = std::max(trace.most_alive, alive);
      std::vector<course::Tensor> parts;
      for (const float factor : mine)
        parts.push_back(factor == 1 ? gradient : factor == 0 ? course::Tensor{} : times(gradient, factor));
      for (const course::Tensor& each : parts)
        if (keeps && !each.empty())
          trace.given.push_back(each), trace.contents.push_back(values_of(each)), trace.versions.push_back(each.storage->version);
      return parts;
    };
  }
  known_order.clear();
  for (const long each : in.longs("order")) known_order.push_back(graph.nodes.at(each).get());
  const course::Tensor seed = times(tensor_in(in, "seed"), 1);
  const long seed_version = seed.storage->version;
  std::vector<Before> before;
  for (long i = in.number("times"); i > 0; --i) {
    if (i == 1) {
      trace.calls.clear(), trace.arrived.clear();
      for (const long each : leaves)
        if (const course::Tensor& found = graph.nodes[each]->gradient; keeps && !found.empty())
          before.push_back({found, values_of(found), found.storage->version});
    }
    course::backward(known_order.at(0), seed);
  }
  std::vector<course::Node*>().swap(known_order);  // with its memory, which is counted
  out.longs("calls", trace.calls);
  out.number("most alive", trace.most_alive);
  out.floats("arrived", trace.arrived);
  std::vector<long> has, shared;
  for (const long each : leaves) {
    const course::Tensor& gradient = graph.nodes[each]->gradient;
    out.floats("leaf " + std::to_string(each), values_of(gradient));
    out.longs("sizes of leaf " + std::to_string(each), gradient.sizes);
    if (gradient.empty()) continue;
    has.push_back(each);
    bool mine = gradient.storage != seed.storage;
    for (const course::Tensor& other : trace.given) mine = mine && gradient.storage != other.storage;
    for (const long other : leaves) mine = mine && (other == each || gradient.storage != graph.nodes[other]->gradient.storage);
    if (!mine) shared.push_back(each);
  }
  out.longs("leaves with a gradient", has);
  out.longs("leaves that share memory", shared);
  out.floats("seed", values_of(seed));
  long changed = 0, written = seed.storage->version != seed_version;
  for (size_t i = 0; i < trace.given.size(); ++i) {
    changed += values_of(trace.given[i]) != trace.contents[i];
    written += trace.given[i].storage->version != trace.versions[i];
  }
  long unseen = 0;
  for (const Before& each : before)
    unseen += each.gradient.storage->version == each.version && values_of(each.gradient) != each.values;
  out.number("changed unseen", unseen);
  out.number("changed", changed);
  out.number("written", written);
  std::vector<long> inner;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (!leaf[n] && !graph.nodes[n]->gradient.empty()) inner.push_back(static_cast<long>(n));
  out.longs("inner nodes with a gradient", inner);
}
