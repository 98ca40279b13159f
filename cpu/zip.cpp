#include <cstring>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/run_loop.h"

namespace gradus::cpu {

namespace {

// What the stream of an operand points to: a number, in the type that the loop reads, and the
// strides of a tensor that broadcasts.
struct Kept {
  alignas(double) std::byte number[sizeof(double)];
  Dims strides;
};

Stream stream_of(const Operand& operand, ScalarType dtype, const Tensor& out, Kept& kept) {
  if (operand.is_number()) {
    visit(dtype, [&]<class T>(TypeTag<T>) {
      const T number = operand.number.cast<T>();
      std::memcpy(kept.number, &number, sizeof(T));
    });
    return Stream::of_number(kept.number, element_size(dtype));
  }
  const Tensor& x = *operand.tensor;
  if (x.sizes() == out.sizes()) return Stream::of(x);
  kept.strides = broadcast_strides("zip", x.sizes(), x.strides(), out.sizes());
  return {static_cast<std::byte*>(x.data_ptr()), x.itemsize(), false, 1, kept.strides.data()};
}

}  // namespace

void CpuBackend::zip(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) {
  const ScalarType dtype = (x.is_number() ? y : x).tensor->dtype();
  const Loop loop = zip_loop(op, dtype);
  Kept kept[2];
  run_loop<3>(
      loop, grain_of(op), out.sizes(),
      {Stream::of(out), stream_of(x, dtype, out, kept[0]), stream_of(y, dtype, out, kept[1])});
}

void CpuBackend::zip3(TernaryOp op, const Tensor& x, const Operand& y, const Operand& z,
                      const Tensor& out) {
  const ScalarType dtype = out.scalar_type();
  const Loop loop = zip3_loop(op, dtype);
  Kept kept[3];
  run_loop<4>(loop, grain_of(op), out.sizes(),
              {Stream::of(out), stream_of(x, dtype, out, kept[0]),
               stream_of(y, dtype, out, kept[1]), stream_of(z, dtype, out, kept[2])});
}

}  // namespace gradus::cpu
