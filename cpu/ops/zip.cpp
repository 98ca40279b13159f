// Elementwise functions of two and three operands.
#include <cstring>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/ops/complex.h"
#include "gradus/cpu/walk/run_loop.h"

namespace gradus::cpu {

namespace {

// A number in the type that a loop reads.
struct Number {
  alignas(double) std::byte bytes[sizeof(double)];

  void set(const Scalar& value, ScalarType dtype) {
    visit(dtype, [&]<class T>(TypeTag<T>) {
      const T number = value.cast<T>();
      std::memcpy(bytes, &number, sizeof(T));
    });
  }
};

// The target of a LoopOperand: a number, or the strides of a tensor that broadcasts.
struct Kept {
  Number number;
  Dims strides;
};

LoopOperand operand_of(const Operand& operand, ScalarType dtype, const Tensor& out, Kept& kept) {
  if (operand.is_number()) {
    kept.number.set(operand.number, dtype);
    return LoopOperand::of_number(kept.number.bytes, element_size(dtype));
  }
  const Tensor& x = *operand.tensor;
  LoopOperand broadcast = LoopOperand::input(x, dtype);
  if (x.sizes() == out.sizes()) return broadcast;
  kept.strides = broadcast_strides("zip", x.sizes(), x.strides(), out.sizes());
  broadcast.contiguous = false;
  broadcast.strides = kept.strides.data();
  return broadcast;
}

}  // namespace

void CpuBackend::zip(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) {
  const ScalarType dtype = (x.is_number() ? y : x).tensor->scalar_type();
  if (isComplexType(dtype)) return zip_complex(op, x, y, out);
  const TypedLoop loop = zip_loop(op, dtype);
  Kept kept[2];
  run_loop<3>(loop, grain_of(op), out.sizes(),
              {LoopOperand::output(out, loop.writes), operand_of(x, loop.reads, out, kept[0]),
               operand_of(y, loop.reads, out, kept[1])});
}

void CpuBackend::ternary(TernaryOp op, const Tensor& x, const Operand& y, const Operand& z,
                         const Scalar& w, const Tensor& out) {
  const TypedLoop loop = ternary_loop(op, out.scalar_type());
  Kept kept[3];
  Number number;
  number.set(w, loop.reads);
  run_loop<4>(loop, grain_of(op), out.sizes(),
              {LoopOperand::output(out, loop.writes), operand_of(x, loop.reads, out, kept[0]),
               operand_of(y, loop.reads, out, kept[1]), operand_of(z, loop.reads, out, kept[2])},
              number.bytes);
}

}  // namespace gradus::cpu
