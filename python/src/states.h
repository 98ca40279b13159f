// The state of an object of C++ as a dictionary of Python, and back.
#pragma once

#include <string>
#include <vector>

#include "gradus/tensor/base/ordered_dict.h"
#include "gradus/tensor/factories.h"
#include "params.h"
#include "tensor.h"

namespace gradus::python {

inline nb::dict dict_of(const OrderedDict<std::string, Tensor>& state) {
  nb::dict out;
  for (const auto& item : state) out[nb::cast(item.key())] = nb::cast(item.value());
  return out;
}
// The same, with Python's numbers and lists for tensors of no and of one dimension.
inline nb::dict numbers_of(const OrderedDict<std::string, Tensor>& state) {
  nb::dict out;
  for (const auto& item : state)
    out[nb::cast(item.key())] = nb::cast(item.value()).attr("tolist")();
  return out;
}
// Of tensors, numbers and lists of numbers. Errors: TypeError for other values.
inline OrderedDict<std::string, Tensor> state_of(const nb::dict& state) {
  OrderedDict<std::string, Tensor> out;
  for (const auto& [key, value] : state) {
    const std::string name = nb::cast<std::string>(key);
    int64_t integer = 0;
    double number = 0;
    std::vector<double> numbers;
    if (is_tensor(value.ptr()))
      out.insert(name, tensor_of(value.ptr()));
    else if (load(value, false, integer))
      out.insert(name, full({}, integer, kLong));
    else if (load(value, true, number))
      out.insert(name, full({}, number, kDouble));
    else if (PyList_Check(value.ptr()) && load(value, true, numbers))
      out.insert(name, gradus::tensor(numbers, kDouble));
    else
      fail<TypeError>("load_state_dict: ", name, " is of type ",
                      nb::cast<std::string>(nb::str(value.type().attr("__name__"))),
                      "; expected a tensor, a number or a list, as state_dict() returns it");
  }
  return out;
}

}  // namespace gradus::python
