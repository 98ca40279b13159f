// Sequential: copies, text and errors.
#include "gradus/nn/sequential.h"

#include <typeinfo>

#include "gradus/autograd/engine/node.h"
#include "gradus/nn/modules/activation.h"
#include "gradus/nn/modules/batchnorm.h"

namespace gradus::nn {

std::shared_ptr<Module> SequentialImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<SequentialImpl>();
  copy->train(is_training());
  copy->copy_hooks(*this);
  for (size_t i = 0; i < size(); ++i)
    copy->push_back(named_children()[i].key(), modules_[i].clone(device));
  return copy;
}

void SequentialImpl::pretty_print(std::ostream& stream) const {
  print_tree(stream, "gradus::nn::Sequential");
}

namespace {
// f(module) where it is one of these classes, and none that derives from it.
template <class... Classes, class F>
bool with_class(Module& module, const F& f) {
  const std::type_info& type = typeid(module);
  return (... || (type == typeid(Classes) && (f(static_cast<Classes&>(module)), true)));
}
}  // namespace

size_t SequentialImpl::feed(size_t i, AnyValue& value) const {
  Module& module = *modules_[i].ptr();
  Tensor* const x = value.try_get<Tensor>();
  const auto is_relu = [](const Module& next) {
    return typeid(next) == typeid(ReLUImpl) && !next.is_watched();
  };
  const auto with_relu = [&](auto& norm) {
    *x = Module::with_path(norm, [&] { return norm.forward_of(*x, AfterNorm::relu); });
  };
  if (x && i + 1 < size() && is_relu(*modules_[i + 1].ptr()) && module.is_training() &&
      !module.is_watched() &&
      with_class<BatchNorm1dImpl, BatchNorm2dImpl, BatchNorm3dImpl>(module, with_relu))
    return 2;
  value = modules_[i].any_forward(std::move(value));
  return 1;
}

const AnyModule& SequentialImpl::any(size_t index) const {
  check<IndexError>(index < size(), "Sequential: Index out of range: ", index, " of ", size(),
                    " modules; count from 0");
  return modules_[index];
}

void SequentialImpl::fail_result(const std::type_info& actual, const std::type_info& asked) {
  fail<TypeError>("Sequential: The type of the return value is ", readable_name(actual),
                  ", but you asked for type ", readable_name(asked), "; ask for the former");
}

}  // namespace gradus::nn
