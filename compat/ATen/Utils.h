// at::check_generator.
#pragma once

#include <optional>

#include "gradus/tensor/base/error.h"
#include "gradus/tensor/generator.h"

namespace gradus {

// The state of a generator. Errors: Error where there is none, or it is of another kind of device.
template <class Impl>
Impl* check_generator(std::optional<Generator> gen) {
  check<Error>(gen && gen->defined(), "check_generator: Expected Generator but received nullopt");
  check<Error>(gen->device().type() == Impl::device_type(), "check_generator: Expected a '",
               Device(Impl::device_type()), "' device type for generator but found '",
               gen->device(), "'; give one of that device");
  return gen->get<Impl>();
}

}  // namespace gradus

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
