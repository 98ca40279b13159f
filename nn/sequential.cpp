// Sequential: copies, text and errors.
#include "gradus/nn/sequential.h"

#include <typeinfo>

#include "gradus/autograd/engine/node.h"
#include "gradus/nn/modules/batchnorm.h"
#include "gradus/nn/modules/normalization.h"

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

size_t SequentialImpl::feed(size_t i, AnyValue& value) const {
  Tensor* const x = value.try_get<Tensor>();
  if (x && i + 1 < size()) {
    Module &norm = *modules_[i].ptr(), &next = *modules_[i + 1].ptr();
    const Module* const last = i + 2 < size() ? modules_[i + 2].ptr().get() : nullptr;
    if (detail::run_with_clamp(norm, next, *x) || detail::run_with_silu(norm, next, last, *x))
      return 2;
  }
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
