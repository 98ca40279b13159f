// A choice by name for the whole process: of the kernels of products, and of convolutions.
#pragma once

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "gradus/tensor/base/error.h"
#include "gradus/tensor/shape.h"

namespace gradus::cuda {

// The first name is in use until another one is chosen, by set() or at the start by an environment
// variable.
class NamedChoice {
 public:
  // kind: what is named, as an error says it. Errors: ValueError where the variable names none.
  NamedChoice(const char* kind, const char* variable, ArrayRef<std::string_view> names)
      : kind_(kind), names_(names) {
    if (const char* const name = std::getenv(variable)) set(place_of(variable, name));
  }

  size_t place() const { return place_; }
  std::string_view name() const { return names_[place()]; }
  void set(size_t place) { place_ = place; }

  // Errors: ValueError, listing the names, for one that is not among them.
  size_t place_of(const char* where, std::string_view name) const {
    std::string known;
    for (size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return i;
      known += (i ? ", " : "") + std::string(names_[i]);
    }
    fail<ValueError>(where, ": no ", kind_, " kernel is named '", name, "'; expected one of ",
                     known);
  }

 private:
  const char* kind_;
  ArrayRef<std::string_view> names_;
  std::atomic<size_t> place_ = 0;
};

}  // namespace gradus::cuda
