// AnyModule: the number of arguments and their types.
#include "gradus/nn/any_module.h"

#include "gradus/autograd/engine/node.h"

namespace gradus::nn {

void detail::fail_any_value(const std::type_info& actual, const std::type_info& asked) {
  fail<TypeError>("Attempted to cast AnyValue to ", readable_name(asked),
                  ", but its actual type is ", readable_name(actual), "; ask for that one");
}

void detail::fail_argument(size_t place, const std::type_info& expected,
                           const std::type_info& actual) {
  fail<TypeError>("AnyModule: Expected argument #", place, " to be of type ",
                  readable_name(expected), ", but received value of type ", readable_name(actual),
                  "; convert it before the call");
}

AnyModule AnyModule::clone(const std::optional<Device>& device) const {
  AnyModule out;
  if (is_empty()) return out;
  out.module_ = module_->clone(device);
  out.forward_ = forward_;
  const Module &from = *module_, &to = *out.module_;
  check<Error>(typeid(from) == typeid(to), "clone() of ", module_->name(),
               " returned another class, ", to.name());
  return out;
}

const std::type_info& AnyModule::type_info() const {
  check_filled("type_info");
  const Module& module = *module_;
  return typeid(module);
}

void AnyModule::check_filled(const char* method) const {
  check<Error>(module_ != nullptr, "Cannot call ", method,
               "() on an empty AnyModule; assign it a module first");
}

void AnyModule::complete(std::vector<AnyValue>& values) const {
  const auto defaults = module_->forward_default_args();
  const size_t given = values.size(), most = forward_->parameters;
  const size_t least = defaults.empty() ? most : most - defaults.size();
  if (given < least || given > most) {
    const std::string name = readable_name(type_info());
    std::string expected = std::to_string(most) + " argument(s)";
    if (least < most)
      expected = "at least " + std::to_string(least) + " argument(s) and at most " + expected;
    std::string advice = "Leave out " + std::to_string(given - most) + " of them.";
    if (given < least)
      advice = "If " + name +
               "'s forward() method has default arguments, please make sure the forward() method "
               "is declared with a corresponding `FORWARD_HAS_DEFAULT_ARGS` macro.";
    fail<Error>(name, "'s forward() method expects ", expected, ", but received ", given, ". ",
                advice);
  }
  for (const auto& [place, value] : defaults)
    if (place >= given) values.push_back(value);
}

void AnyModule::fail_cast(const std::type_info& asked) const {
  fail<TypeError>("Attempted to cast module of type ", readable_name(type_info()), " to type ",
                  readable_name(asked), "; ask for its own class");
}

}  // namespace gradus::nn
