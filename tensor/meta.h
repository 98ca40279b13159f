// The backend of tensors on meta, which have no data: raw:: has found the shapes, and nothing is
// left to do.
#pragma once

#include <type_traits>

#include "gradus/tensor/backend.h"

namespace gradus {

class MetaBackend : public Backend {
 public:
#define MEMORY(result, name, called, parameters, ...) result name parameters override;
#define FUNCTION(result, name, called, parameters, arguments, ...) \
  result name parameters override { return leave<result>(called GRADUS_AND arguments); }
#define DEFAULT FUNCTION
#include "gradus/tensor/table/backend.def"

  // A tensor with data is an operand beside one on meta. Where this returns, that is an error.
  virtual void meet(const Tensor& /*x*/) {}
  // The type of device as which operations on meta behave where devices differ: in the dtypes that
  // products are computed in, and in the conversions of autocast.
  virtual DeviceType stands_for() const { return kMeta; }

 protected:
  // Called in the place of an operation. Here: nothing.
  virtual void skip(const char*) {}

 private:
  // Stands for a function. Errors: Error where the shape of its result depends on data.
  template <class Result, class First, class... Rest>
  Result leave(const char* called, const First& first, const Rest&...) {
    if constexpr (!std::is_void_v<Result>)
      fail<Error>(called, ": the tensor of shape ", first.sizes(),
                  " is on meta and has no data, on which the shape of the result depends; make it "
                  "on a device with data");
    else if constexpr (requires { name_of(first); })
      skip(name_of(first));
    else
      skip(called);
  }
};

// The backend of meta in this thread: a MetaBackend, or the one that was put in its place.
MetaBackend& meta_backend();

// The type of x's device, or of the one that meta stands for.
inline DeviceType acting_device(const Tensor& x) {
  return x.is_meta() ? meta_backend().stands_for() : x.device().type();
}

// Puts a backend in the place of meta's in this thread, until the end of the scope.
class MetaGuard {
 public:
  explicit MetaGuard(MetaBackend& backend);
  ~MetaGuard();
  MetaGuard(const MetaGuard&) = delete;
  MetaGuard& operator=(const MetaGuard&) = delete;

 private:
  MetaBackend* previous_;
};

}  // namespace gradus
