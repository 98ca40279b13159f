// The state of an object of C++ as a dictionary of Python, and back.
#pragma once

#include "gradus/tensor/base/ordered_dict.h"
#include "tensor.h"

namespace gradus::python {

inline nb::dict dict_of(const OrderedDict<std::string, Tensor>& state) {
  nb::dict out;
  for (const auto& item : state) out[nb::cast(item.key())] = nb::cast(item.value());
  return out;
}
inline OrderedDict<std::string, Tensor> state_of(const nb::dict& state) {
  OrderedDict<std::string, Tensor> out;
  for (const auto& [key, value] : state)
    out.insert(nb::cast<std::string>(key), nb::cast<Tensor>(value));
  return out;
}

}  // namespace gradus::python
