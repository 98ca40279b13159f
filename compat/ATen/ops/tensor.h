// at::tensor, which, unlike torch::tensor, keeps the type of the elements (at::tensor(1) is int32)
// and gives a number one dimension.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "gradus/tensor/factories.h"

namespace at {

template <class T>
gradus::Tensor tensor(gradus::ArrayRef<T> values,
                      const gradus::TensorOptions& options = gradus::dtype_of<T>) {
  if constexpr (gradus::ComplexType<T>)
    gradus::check<gradus::TypeError>(
        gradus::isComplexType(options.dtype()), "tensor: \"tensor_cpu\" not implemented for '",
        gradus::TypeName{options.dtype()}, "' where elements are complex; take a complex dtype");
  const gradus::Tensor out =
      gradus::empty({static_cast<int64_t>(values.size())}, gradus::dtype_of<T>);
  std::copy(values.begin(), values.end(), out.data_ptr<T>());
  return out.to(options.requires_grad(std::nullopt)).set_requires_grad(options.requires_grad());
}
template <class T>
gradus::Tensor tensor(std::initializer_list<T> values,
                      const gradus::TensorOptions& options = gradus::dtype_of<T>) {
  return tensor(gradus::ArrayRef<T>(values), options);
}
template <class T>
gradus::Tensor tensor(const std::vector<T>& values,
                      const gradus::TensorOptions& options = gradus::dtype_of<T>) {
  return tensor(gradus::ArrayRef<T>(values), options);
}
template <gradus::Number T>
gradus::Tensor tensor(T value, const gradus::TensorOptions& options = gradus::dtype_of<T>) {
  return tensor(gradus::ArrayRef<T>(value), options);
}

}  // namespace at

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
