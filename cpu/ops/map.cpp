// Elementwise functions of one operand, and their derivatives.
#include "gradus/cpu/backend.h"
#include "gradus/cpu/ops/complex.h"
#include "gradus/cpu/walk/run_loop.h"
#include "gradus/tensor/math/elementwise.h"

namespace gradus::cpu {

namespace {

constexpr unsigned kSlopeUses[] = {
#define UNARY(name, ...) scalar::derivative_uses<UnaryOp::name>,
#define PREDICATE(...) 0,
#include "gradus/tensor/table/elementwise.def"
};

}  // namespace

void CpuBackend::map(UnaryOp op, const Tensor& x, const Tensor& out) {
  if (isComplexType(x.scalar_type())) return map_complex(op, x, out);
  const TypedLoop loop = map_loop(op, x.scalar_type());
  run_loop<2>(loop, grain_of(op), out.sizes(),
              {LoopOperand::output(out, loop.writes), LoopOperand::input(x, loop.reads)});
}

void CpuBackend::map_grad(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                          const Tensor& out) {
  const TypedLoop loop = map_grad_loop(op, out.scalar_type());
  const unsigned used = kSlopeUses[static_cast<int>(op)];
  // Inputs that the derivative does not use are read as `grad`; their value then changes nothing.
  run_loop<4>(loop, grain_of(op), out.sizes(),
              {LoopOperand::output(out, loop.writes), LoopOperand::input(grad, loop.reads),
               LoopOperand::input(used & scalar::kUsesX ? x : grad, loop.reads),
               LoopOperand::input(used & scalar::kUsesY ? y : grad, loop.reads)});
}

}  // namespace gradus::cpu
