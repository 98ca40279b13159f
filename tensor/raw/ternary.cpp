// Elementwise functions of three operands (ternary.def): promotion, broadcasting, one backend call.
#include "gradus/tensor/math/elementwise.h"
#include "gradus/tensor/raw/operand.h"

namespace gradus {

const char* name_of(TernaryOp op) {
  constexpr const char* names[] = {
#define TERNARY(name, ...) #name,
#include "gradus/tensor/table/ternary.def"
  };
  return names[static_cast<int>(op)];
}

namespace raw {

namespace {

using Tensors = std::array<const Tensor*, 3>;  // null where the operand is a number

// A tensor of the CPU without dimensions may stand beside tensors of a GPU.
bool follows(const Tensor& x) { return x.dim() == 0 && x.is_cpu(); }

Device device_of(TernaryOp op, const Tensors& operands) {
  constexpr const char* names[] = {"the first tensor", "the second", "the third"};
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i]) operands[i]->operand(name_of(op), names[i]);
  const Tensor* first = operands[0];
  size_t at = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor* const x = operands[i];
    if (!x || follows(*x)) continue;
    if (follows(*first)) first = x, at = i;
    check_same_device(name_of(op), *first, names[at], *x, names[i]);
  }
  return first->device();
}

// Uninitialised, of the shape that all broadcast to, in the memory order of one that has it.
Tensor result_of(TernaryOp op, const Tensors& operands, ScalarType dtype, Device device) {
  Dims sizes = operands[0]->impl().sizes;
  for (const Tensor* x : {operands[1], operands[2]})
    if (x && x->sizes() != sizes) sizes = broadcast_shapes(name_of(op), sizes, x->sizes());
  for (const Tensor* x : operands)
    if (x && x->sizes() == sizes && x->device() == device) return empty_as(*x, dtype);
  return empty(sizes, dtype, device);
}

// A number keeps its value among floating point tensors; integers have to hold it.
Scalar prepare(const Scalar& number, ScalarType common) {
  if (isFloatingType(common)) return number;
  return visit(common, [&]<class T>(TypeTag<T>) -> Scalar { return number.to<T>(); });
}
Operand prepare(const Operand& x, ScalarType common, const Tensor& out, Tensor& kept) {
  if (x.is_number()) return prepare(x.number, common);
  return as_operand(*x.tensor, common, out.device(), kept);
}

// out = op(x, y, z, w), where x is what the backend takes.
void run_ternary(TernaryOp op, const Tensor& x, const Operand& y, const Operand& z, const Scalar& w,
                 ScalarType common, const Tensor& out) {
  if (out.numel() == 0) return;
  Tensor kept[2];
  backend(out).ternary(op, x, prepare(y, common, out, kept[0]), prepare(z, common, out, kept[1]),
                       prepare(w, common), out);
}

}  // namespace

Tensor ternary(TernaryOp op, const Tensor& x, const Operand& y, const Operand& z, const Scalar& w) {
  const Tensors operands = {&x, y.tensor, z.tensor};
  const Device device = device_of(op, operands);
  const ScalarType common = result_type({x, y, z});
  Tensor out = result_of(op, operands, common, device);
  Tensor kept;
  run_ternary(op, as_operand(x, common, device, kept), y, z, w, common, out);
  return out;
}

void ternary_(TernaryOp op, const Tensor& x, const Operand& y, const Operand& z, const Scalar& w) {
  const Tensors operands = {&x, y.tensor, z.tensor};
  const Device device = device_of(op, operands);
  const ScalarType common = result_type({x, y, z});
  Dims sizes = x.impl().sizes;
  for (const Tensor* other : {y.tensor, z.tensor})
    if (other) sizes = broadcast_shapes(name_of(op), sizes, other->sizes());
  check_output_shape(name_of(op), "_", x.sizes(), sizes);
  check_can_cast(name_of(op), "_", common, x.dtype());
  const auto replaces = [&](const Operand& o) {
    return o.is_number() || can_replace(x, *o.tensor);
  };
  if (common != x.dtype() || device != x.device() || !replaces(y) || !replaces(z))
    return copy_(x, ternary(op, x, y, z, w));
  run_ternary(op, x, y, z, w, common, x);
}

}  // namespace raw
}  // namespace gradus
