#include "gradus/cpu/backend.h"
#include "gradus/cpu/run_loop.h"
#include "gradus/tensor/elementwise.h"

namespace gradus::cpu {

namespace {

constexpr unsigned kSlopeUses[] = {
#define UNARY(name, ...) scalar::slope_uses<UnaryOp::name>,
#define PREDICATE(...) 0,
#include "gradus/tensor/elementwise.def"
};

}  // namespace

void CpuBackend::map(UnaryOp op, const Tensor& x, const Tensor& out) {
  const Loop loop = map_loop(op, x.scalar_type());
  run_loop<2>(loop, grain_of(op), out.sizes(), {Stream::of(out), Stream::of(x)});
}

void CpuBackend::map_grad(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                          const Tensor& out) {
  const Loop loop = map_grad_loop(op, out.dtype());
  const unsigned used = kSlopeUses[static_cast<int>(op)];
  // What the slope does not use is read as `grad`, whose value then changes nothing.
  run_loop<4>(loop, grain_of(op), out.sizes(),
              {Stream::of(out), Stream::of(grad), Stream::of(used & scalar::kUsesX ? x : grad),
               Stream::of(used & scalar::kUsesY ? y : grad)});
}

}  // namespace gradus::cpu
