// Elementwise functions of two operands.
#include "gradus/cuda/kernels/zip.cuh"

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/complex/elementwise.h"
#include "gradus/cuda/ops/elementwise.cuh"
#include "gradus/cuda/ops/pointwise/parts.h"

namespace gradus::cuda {

namespace {
// The sum of a residual connection under autocast, Float and a half type. Returns false, and
// launches nothing, for others and for operands that do not lie one after the other.
bool add_half(const Tensor& x, const Tensor& y, const Tensor& out) {
  if (x.dtype() != kFloat) return y.dtype() == kFloat && add_half(y, x, out);
  const bool is_half = y.dtype() == kHalf || y.dtype() == kBFloat16;
  return is_half && out.dtype() == kFloat && out.numel() > 0 &&
         launch_contiguous(Context(out), WithHalf<Zip<BinaryOp::add>>{{}, y.dtype() == kBFloat16},
                           walk_over(out, x, y), out.data_ptr<float>(),
                           static_cast<const float*>(x.data_ptr<float>()),
                           static_cast<const uint16_t*>(y.data_ptr()));
}

// Rows that give in bytes what they give in int64 have a kernel of bytes for operands that lie one
// after the other. A thread takes 16 at a time. The quotient of int64 has such a kernel, too.
// Returns false elsewhere.
template <BinaryOp op>
bool zip_at_once(const Operand& x, const Operand& y, const Tensor& out) {
  using Row = scalar::Binary<op>;
  const bool numbers = x.is_number() || y.is_number();
  const Tensor &a = *(x.is_number() ? y : x).tensor, &b = *(y.is_number() ? x : y).tensor;
  if (op == BinaryOp::add && !numbers && add_half(a, b, out)) return true;
  if (a.dtype() != b.dtype() || out.numel() == 0) return false;
  if constexpr (op == BinaryOp::div) {
    if (numbers || a.dtype() != kLong || out.dtype() != kFloat) return false;
    elementwise<float, int64_t>(ZipAs<op, float>{}, out, a, b);
    return true;
  } else if constexpr (Row::work == scalar::Work::narrow || Row::work == scalar::Work::bits) {
    const bool fits = a.dtype() == kByte || (a.dtype() == kBool && Row::work == scalar::Work::bits);
    if (!fits || out.dtype() != a.dtype()) return false;
    const auto bytes = [](const Tensor& t) { return static_cast<uint8_t*>(t.data_ptr()); };
    const auto* const from = bytes(a);
    if (!numbers)
      return launch_contiguous(
          Context(out), row_function<uint8_t, uint8_t, uint8_t>(ZipAs<op, uint8_t>{}),
          walk_over(out, a, b), bytes(out), from, static_cast<const uint8_t*>(bytes(b)));
    const auto number = (x.is_number() ? x : y).number.template cast<uint8_t>();
    return launch_contiguous(
        Context(out), row_function<uint8_t, uint8_t>(ZipNumber<op, uint8_t>{number, x.is_number()}),
        walk_over(out, a), bytes(out), from);
  }
  return false;
}
}  // namespace

void CudaBackend::zip(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) {
  const Tensor &a = *(x.is_number() ? y : x).tensor, &b = *(y.is_number() ? x : y).tensor;
  const ScalarType dtype = gives_bool(op) ? a.scalar_type() : out.scalar_type();
  if (isComplexType(dtype)) return zip_complex(op, x, y, out);
  if (!x.is_number() && !y.is_number() && merge_zip(op, a, b, out)) return;
  bool done = false;
  visit_op(op, [&](auto row) { done = zip_at_once<row.value>(x, y, out); });
  if (done) return;
  const bool alike = a.scalar_type() == dtype && b.scalar_type() == dtype;
  visit_part(name_of(op), alike ? dtype : computed_type(dtype),
             [&]<class T>(TypeTag<T>) { zip_in<T>(op, x, y, out); });
}

}  // namespace gradus::cuda
