// The fields of an options struct by name, listed once, in the struct's fields().
#pragma once

#include <ostream>
#include <string_view>
#include <tuple>

#include "gradus/tensor/tensor.h"

namespace gradus::nn {

template <class T>
struct Field {
  std::string_view name;
  T* value;
};

// Calls f(name, value) for every field. `options` has fields(), a tuple of Field.
template <class Options, class F>
void for_each_field(Options& options, const F& f) {
  std::apply([&](auto... field) { (f(field.name, *field.value), ...); }, options.fields());
}

// "alpha=1, inplace=true": tensors are left out, and `inplace` where it is false, as in libtorch.
template <class Options>
void print_fields(std::ostream& stream, Options options) {
  const char* separator = "";
  for_each_field(options, [&]<class T>(std::string_view name, const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      if (name == "inplace" && !value) return;
      stream << separator << name << '=' << (value ? "true" : "false");
    } else if constexpr (!std::is_same_v<T, Tensor>) {
      stream << separator << name << '=' << value;
    } else {
      return;
    }
    separator = ", ";
  });
}

// Of a module that takes none.
struct NoOptions {
  auto fields() { return std::tuple(); }
};

}  // namespace gradus::nn
