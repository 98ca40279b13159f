// Divides parameters into the turns in which an optimizer steps them.
#include "gradus/optim/turns.h"

#include <utility>

namespace gradus::optim {

std::vector<std::vector<size_t>> in_turns(const std::vector<const Tensor*>& gradients) {
  const auto storage = [&](size_t i) { return gradients[i]->impl().storage.get(); };
  std::vector<size_t> order, late;
  order.reserve(gradients.size());
  for (size_t i = 0; i < gradients.size(); ++i)
    (storage(i)->is_arriving() ? late : order).push_back(i);
  if (late.empty()) return {order};
  size_t left = 0;
  for (const Tensor* gradient : gradients) left += gradient->nbytes();
  order.insert(order.end(), late.rbegin(), late.rend());
  std::vector<std::vector<size_t>> turns;
  size_t turn_bytes = 0;
  const StorageImpl* last = nullptr;
  for (const size_t i : order) {
    const bool waits = storage(i)->is_arriving() && storage(i) != last;
    if (turns.empty() || (waits && 2 * turn_bytes >= left)) {
      turns.emplace_back();
      left -= std::exchange(turn_bytes, 0);
    }
    turns.back().push_back(i);
    turn_bytes += gradients[i]->nbytes();
    last = storage(i);
  }
  return turns;
}

}  // namespace gradus::optim
