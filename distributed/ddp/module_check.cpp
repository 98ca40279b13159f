// Comparing the parameters of all ranks by name, shape and dtype.
#include "gradus/distributed/ddp/module_check.h"

#include <sstream>

#include "gradus/distributed/arguments.h"
#include "gradus/distributed/world.h"

namespace gradus::distributed {

namespace {

// A line for each parameter and buffer.
std::string summary(const nn::Module& module) {
  std::string text;
  for (const auto& item : module.named_parameters())
    text += "parameter '" + item.key() + "' " + described(item.value()) +
            (item.value().requires_grad() ? "\n" : ", which requires no grad\n");
  for (const auto& item : module.named_buffers())
    text += "buffer '" + item.key() + "' " + described(item.value()) + '\n';
  return text;
}

// Describes the first line that differs; empty where none does.
std::string difference(const std::string& first, const std::string& other, int first_rank,
                       int other_rank) {
  std::istringstream a(first), b(other);
  std::string line_a, line_b;
  while (true) {
    const bool more_a = !!std::getline(a, line_a), more_b = !!std::getline(b, line_b);
    if (!more_a && !more_b) return "";
    if (more_a && more_b && line_a == line_b) continue;
    const auto has = [](int rank, bool more, const std::string& line) {
      return "rank " + std::to_string(rank) + " has " + (more ? line : "nothing");
    };
    return "DistributedDataParallel: the ranks' modules differ: where " +
           has(first_rank, more_a, line_a) + ", " + has(other_rank, more_b, line_b) +
           "; make the same module at every rank";
  }
}

}  // namespace

void check_same_module(const nn::Module& module, ProcessGroup& group) {
  Store& store = *world("DistributedDataParallel").store;
  const std::string prefix = "model/" + group.name() + "/" + std::to_string(group.next_number());
  const auto key = [&](int place) { return prefix + "/" + std::to_string(place); };
  store.set(key(group.rank()), summary(module));
  if (group.rank() == 0) {
    std::string verdict;
    const std::string mine = summary(module);
    for (int place = 1; place < group.size() && verdict.empty(); ++place)
      verdict = difference(mine, store.get(key(place)), group.ranks()[0],
                           group.ranks()[static_cast<size_t>(place)]);
    store.set(prefix, verdict);
  }
  const std::string verdict = store.get(prefix);
  check(verdict.empty(), verdict);
}

}  // namespace gradus::distributed
