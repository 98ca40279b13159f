// ForwardingBackend hands every function of Backend that has no default on to another backend; the
// defaults are made of these. A class that derives from it replaces some of them.
#pragma once

#include "gradus/tensor/backend.h"

namespace gradus {

class ForwardingBackend : public Backend {
 public:
  explicit ForwardingBackend(Backend& inner) : inner_(inner) {}

#define MEMORY(result, name, called, parameters, arguments, ...) \
  result name parameters override { return inner_.name arguments; }
#define FUNCTION(result, name, called, parameters, arguments, ...) \
  result name parameters override {                                \
    handed_on(#name);                                              \
    return inner_.name arguments;                                  \
  }
#include "gradus/tensor/table/backend.def"

 protected:
  // Is told of each computation that is handed on.
  virtual void handed_on(const char* /*function*/) {}

  Backend& inner_;
};

}  // namespace gradus

namespace course::plug {
using gradus::ArrayRef, gradus::ForwardingBackend, gradus::Operand, gradus::Scalar, gradus::Tensor;
}
