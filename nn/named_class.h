// NamedClass: for modules whose class another language than C++ defines.
#pragma once

#include <string>

#include "gradus/nn/module.h"

namespace gradus::nn {

// A module that derives from it, too, says itself what its class is called.
class NamedClass {
 public:
  NamedClass() = default;
  NamedClass(const NamedClass&) = default;
  NamedClass& operator=(const NamedClass&) = default;
  virtual ~NamedClass();
  virtual std::string class_name() const = 0;
};

// The class of a module as messages and tables show it: "Linear" for LinearImpl.
std::string short_class_name(const Module& module);

}  // namespace gradus::nn
