// state_dict and load_state_dict of a module, and what does not fit.
#include "gradus/nn/state_dict.h"

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/functions.h"
#include "gradus/nn/module.h"

namespace gradus::nn {

std::string misfits(const StateDict& state, const StateDict& values, bool strict, bool convert) {
  std::string out;
  for (const auto& item : state) {
    const Tensor& into = item.value();
    const Tensor* value = values.find(item.key());
    if (value == nullptr) {
      if (strict) out += "\n  " + item.key() + " is missing";
      continue;
    }
    if (value->sizes() != into.sizes()) {
      out += "\n  " + item.key() + " has shape ";
      append(out, value->sizes());
      append(out += ", expected ", into.sizes());
    } else if (!convert && value->dtype() != into.dtype()) {
      append(out += "\n  " + item.key() + " has dtype ", value->scalar_type());
      append(out += ", expected ", into.scalar_type());
    }
  }
  for (const auto& item : values)
    if (strict && !state.contains(item.key())) out += "\n  " + item.key() + " is unknown";
  return out;
}

void assign(const StateDict& state, const StateDict& values) {
  const NoGradGuard guard;
  // All conversions are made before the first tensor changes, so that an error changes nothing.
  std::vector<std::pair<Tensor, Tensor>> changes;
  for (const auto& item : state)
    if (const Tensor* value = values.find(item.key()))
      changes.emplace_back(item.value(), value->to(item.value().options()));
  for (auto& [into, value] : changes) into.copy_(value);
}

StateDict Module::state_dict() const {
  StateDict out;
  for (const auto& item : named_parameters()) out.insert(item.key(), item.value().detach());
  for (const auto& item : named_buffers()) out.insert(item.key(), item.value().detach());
  return out;
}

void Module::load_state_dict(const StateDict& values, bool strict) {
  const StateDict state = state_dict();
  for (const auto& item : values)
    check(item.value().defined(), "load_state_dict: '", item.key(),
          "' is undefined; leave it out, or assign it a tensor");
  const std::string wrong = misfits(state, values, strict, true);
  check(wrong.empty(), "load_state_dict: the values do not fit ", name(), ":", wrong);
  assign(state, values);
}

}  // namespace gradus::nn
