// The other forms of a function that returns a new tensor: in place, and into a given tensor.
#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/warning.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::detail {

bool begin_update(const char* op, const Tensor& self, bool others_require_grad) {
  const bool records =
      (others_require_grad || self.operand(op).requires_grad()) && GradMode::is_enabled();
  check_in_place(op, self, records);
  return records;
}

Tensor& finish_update(const char* op, const Tensor& self, const Tensor& result, bool records) {
  if (records) {
    adopt(op, self, result);
  } else {
    assign(op, self, result);
    self.impl().storage->bump_version();
  }
  return self.handle();
}

namespace {
void refuse_gradient(const char* op, bool asked_for) {
  check<Error>(!GradMode::is_enabled() || !asked_for, op,
               "_out: functions with out=... arguments don't support automatic differentiation, "
               "but one of the arguments requires grad; do it under NoGradGuard");
}
}  // namespace

Tensor& write_out(const char* op, Tensor& out, const Tensor& result) {
  refuse_gradient(op, result.requires_grad() || out.requires_grad());
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

namespace {
bool requires_grad(const Tensor& x) { return x.requires_grad(); }
bool requires_grad(const Scalar&) { return false; }

template <class X, class Y>
Tensor& write_zip(BinaryOp op, Tensor& out, const X& x, const Y& y) {
  const bool records = !gives_bool(op) && (requires_grad(x) || requires_grad(y));
  refuse_gradient(name_of(op), out.requires_grad() || records);
  check_in_place(name_of(op), out, false);
  if (!raw::zip_into(op, x, y, out)) return write_out(name_of(op), out, raw::zip(op, x, y));
  out.impl().storage->bump_version();
  return out;
}
}  // namespace

Tensor& map_out(UnaryOp op, Tensor& out, const Tensor& self) {
  refuse_gradient(name_of(op), out.requires_grad() || (!gives_bool(op) && self.requires_grad()));
  check_in_place(name_of(op), out, false);
  if (!raw::map_into(op, self, out)) return write_out(name_of(op), out, raw::map(op, self));
  out.impl().storage->bump_version();
  return out;
}
Tensor& zip_out(BinaryOp op, Tensor& out, const Tensor& self, const Tensor& other) {
  return write_zip(op, out, self, other);
}
Tensor& zip_out(BinaryOp op, Tensor& out, const Tensor& self, const Scalar& other) {
  return write_zip(op, out, self, other);
}
Tensor& zip_out(BinaryOp op, Tensor& out, const Scalar& self, const Tensor& other) {
  return write_zip(op, out, self, other);
}

}  // namespace gradus::detail
