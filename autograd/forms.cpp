// The other forms of a function that returns a new tensor: in place, and into a given tensor.
#include "gradus/autograd/functions.h"
#include "gradus/autograd/inplace.h"
#include "gradus/autograd/record.h"
#include "gradus/tensor/raw.h"
#include "gradus/tensor/warning.h"

namespace gradus::detail {

bool begin_update(const char* op, const Tensor& self, bool others_require_grad) {
  const bool records = (others_require_grad || self.requires_grad()) && GradMode::is_enabled();
  check_in_place(op, self, records);
  return records;
}

Tensor& finish_update(const char* op, const Tensor& self, const Tensor& result, bool records) {
  if (records) {
    adopt(op, self, result);
  } else {
    check_result(op, self, result);
    raw::copy_(self, result);
    self.impl().storage->bump_version();
  }
  return self.handle();
}

Tensor& write_out(const char* op, Tensor& out, const Tensor& result) {
  check<Error>(!GradMode::is_enabled() || !(result.requires_grad() || out.requires_grad()), op,
               "_out: functions with out=... arguments don't support automatic differentiation, "
               "but one of the arguments requires grad; do it under NoGradGuard");
  check<Error>(out.device() == result.device(), op, "_out: out is on ", out.device(),
               ", the result on ", result.device(), "; give an out there");
  check_can_cast(op, "_out", result.dtype(), out.dtype());
  check_in_place(op, out, false);
  if (out.numel() > 0 && out.sizes() != result.sizes()) {
    std::string message =
        std::string(op) + "_out: an output with one or more elements was resized from ";
    append(message, out.sizes());
    append(message += " to ", result.sizes());
    warn(message + "; give one of that shape, or call out.resize_({0}) before");
  }
  out.resize_(result.sizes());
  raw::copy_(out, result);
  out.impl().storage->bump_version();
  return out;
}

}  // namespace gradus::detail
