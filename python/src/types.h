// gradus.dtype, gradus.memory_format and gradus.layout: classes whose objects are made once.
#pragma once

#include <nanobind/nanobind.h>

#include "gradus/tensor/options.h"

namespace gradus::python {

namespace nb = nanobind;

// An object of Python for one value of an enumeration.
template <class E>
struct Named {
  E value;
  const char* name;
};
using Dtype = Named<ScalarType>;
using Format = Named<MemoryFormat>;
using LayoutName = Named<Layout>;

template <class T>
const T* singleton(nb::handle object) {
  static const nb::handle type = nb::type<T>();
  return object.type().is(type) ? nb::inst_ptr<T>(object) : nullptr;
}

void bind_types(nb::module_& m);

}  // namespace gradus::python
