// Which backend a device type has, and the functions of Backend that have a default: cat, variance,
// select, median, masked_select and fused.
#include "gradus/tensor/backend.h"

#include <atomic>

#include "gradus/tensor/fused/evaluate.h"
#include "gradus/tensor/meta.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {
std::atomic<Backend*> exchanged[3];  // by device type; null: the library's own
}  // namespace

Backend& backend(DeviceType type) {
  auto& slot = exchanged[static_cast<int>(type)];
  if (Backend* const other = slot.load(std::memory_order_relaxed)) return *other;
  if (type == kCPU) return cpu_backend();
  return type == kCUDA ? cuda_backend() : meta_backend();
}

Backend* exchange_backend(DeviceType type, Backend* other) {
  return exchanged[static_cast<int>(type)].exchange(other);
}

void Backend::cat(ArrayRef<Tensor> parts, int64_t dim, const Tensor& out) {
  int64_t start = 0;
  for (const Tensor& part : parts) {
    raw::copy_(raw::narrow(out, dim, start, part.size(dim)), part);
    start += part.size(dim);
  }
}

// In two passes, since the squares of large numbers would swallow their differences. What the
// rounding of the mean adds to the sum of squares is taken off.
void Backend::variance(bool root, double divisor, const Tensor& x, const Tensor& out) {
  const auto fold = [&](ReduceOp op, const Tensor& list) {
    Tensor result = raw::empty(out.sizes(), out.scalar_type(), out.device());
    reduce(op, list, result);
    return result;
  };
  const Tensor from_mean =
      raw::zip(BinaryOp::sub, raw::to(x, out.scalar_type()), fold(ReduceOp::mean, x));
  const Tensor rest = fold(ReduceOp::sum, from_mean), length = fold(ReduceOp::norm2, from_mean);
  const int64_t n = x.numel() / out.numel();
  raw::zip_(BinaryOp::mul, rest, rest);
  raw::zip_(BinaryOp::div, rest, Scalar(n));
  raw::zip_(BinaryOp::mul, length, length);
  raw::zip_(BinaryOp::sub, length, rest);
  raw::zip_(BinaryOp::maximum, length, Scalar(0));
  raw::zip_(BinaryOp::div, length, Scalar(divisor));
  root ? map(UnaryOp::sqrt, length, out) : copy(length, out);
}

void Backend::fused(const fused::Kernel& kernel, ArrayRef<Tensor> inputs,
                    ArrayRef<Tensor> outputs) {
  const Dims none = Dims::filled(static_cast<int64_t>(kernel.domain.size()), 0);
  fused::evaluate(*this, kernel, {none, kernel.domain}, inputs, outputs);
}

void Backend::select(const Tensor& x, int64_t dim, bool descending, int64_t first,
                     const Tensor& values, const Tensor& indices) {
  const auto order = raw::sort(x, dim, descending);
  copy(raw::narrow(order.values, dim, first, values.sizes()[dim]), values);
  copy(raw::narrow(order.indices, dim, first, values.sizes()[dim]), indices);
}

void Backend::median(bool ignores_nan, const Tensor& x, int64_t dim, const Tensor& values,
                     const Tensor& indices) {
  const int64_t n = x.sizes()[dim];
  // NaN stands behind all numbers, so that the first one has as many elements before it as there
  // are numbers.
  const Tensor numbers =
      raw::reduce(ReduceOp::sum, raw::zip(BinaryOp::eq, x, x), IntArrayRef({dim}));
  const Tensor last =
      raw::zip(BinaryOp::maximum, raw::zip(BinaryOp::sub, numbers, Scalar(1)), Scalar(0));
  const Tensor half = raw::zip(BinaryOp::floor_divide, last, Scalar(2));
  const Tensor place =
      ignores_nan ? half : raw::where(raw::zip(BinaryOp::eq, numbers, Scalar(n)), half, numbers);
  const auto order = raw::sort(x, dim, false);
  copy(raw::gather(order.values, dim, place), values);
  copy(raw::gather(order.indices, dim, place), indices);
}

Tensor Backend::masked_select(const Tensor& x, const Tensor& mask) {
  return raw::index("masked_select", x, raw::index_list("masked_select", x, mask));
}

}  // namespace gradus
