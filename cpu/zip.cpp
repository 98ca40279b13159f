#include <cstring>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/run_loop.h"

namespace gradus::cpu {

namespace {

// An operand for a loop. A number is kept here, in the type that the loop reads.
class Source {
 public:
  Source(const Operand& operand, ScalarType dtype) : tensor_(operand.tensor), dtype_(dtype) {
    if (operand.is_number())
      visit(dtype, [&]<class T>(TypeTag<T>) {
        const T number = operand.number.cast<T>();
        std::memcpy(number_, &number, sizeof(T));
      });
  }

  Stream stream() const {
    return tensor_ ? Stream::of(*tensor_) : Stream::of_number(number_, element_size(dtype_));
  }

 private:
  const Tensor* tensor_;
  ScalarType dtype_;
  alignas(double) std::byte number_[sizeof(double)];
};

}  // namespace

void CpuBackend::zip(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) {
  const ScalarType dtype = (x.is_number() ? y : x).tensor->dtype();
  const Loop loop = zip_loop(op, dtype);
  const Source x_source(x, dtype), y_source(y, dtype);
  run_loop<3>(loop, grain_of(op), out.sizes(),
              {Stream::of(out), x_source.stream(), y_source.stream()});
}

void CpuBackend::zip3(TernaryOp op, const Tensor& x, const Operand& y, const Operand& z,
                      const Tensor& out) {
  const ScalarType dtype = out.scalar_type();
  const Loop loop = zip3_loop(op, dtype);
  const Source y_source(y, dtype), z_source(z, dtype);
  run_loop<4>(loop, grain_of(op), out.sizes(),
              {Stream::of(out), Stream::of(x), y_source.stream(), z_source.stream()});
}

}  // namespace gradus::cpu
