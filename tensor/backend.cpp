// The backend of a device type, and the defaults of functions of Backend: cat, linspace,
// reductions, select, median, mode, run_starts, distinct, masked_select, masked_scatter and fused.
#include "gradus/tensor/backend.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <optional>

#include "gradus/tensor/batching/backend.h"
#include "gradus/tensor/fused/evaluate.h"
#include "gradus/tensor/level.h"
#include "gradus/tensor/meta.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {
std::atomic<Backend*> exchanged[3];  // by device type; null: the library's own

// The function that clamps so, where there is one.
std::optional<UnaryOp> clamp_within(const Bounds<double>& bounds) {
  if (bounds.low != 0) return std::nullopt;
  if (std::isnan(bounds.high)) return UnaryOp::relu;
  return bounds.high == 6 ? std::optional(UnaryOp::relu6) : std::nullopt;
}
}  // namespace

Backend& backend(DeviceType type) {
  if (batching::here()) [[unlikely]]
    return batching::batch_backend(type);
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

// The second half is counted from the end, so that this comes out exactly.
void Backend::linspace(double first, double last, std::optional<double> base, const Tensor& out) {
  const int64_t n = out.numel(), half = (n + 1) / 2;
  const Tensor wide = out.dtype() == kDouble ? out : raw::empty({n}, kDouble, out.device());
  const double step = n > 1 ? (last - first) / static_cast<double>(n - 1) : 0;
  arange(raw::narrow(wide, 0, 0, half), first, step);
  if (half < n) {
    const Tensor backwards = raw::empty({n - half}, kDouble, out.device());
    arange(backwards, last, -step);
    raw::copy_(raw::narrow(wide, 0, half, n - half), raw::flip(backwards, 0));
  }
  if (base) zip(BinaryOp::pow, Scalar(*base), wide, wide);
  if (!wide.is_same(out)) copy(wide, out);
}

void Backend::norm(double p, const Tensor& x, const Tensor& out) {
  const Tensor powers =
      raw::zip(BinaryOp::pow, raw::map(UnaryOp::abs, raw::to(x, out.scalar_type())), Scalar(p));
  reduce(ReduceOp::sum, powers, out);
  zip(BinaryOp::pow, out, Scalar(1 / p), out);
}

void Backend::mean_square(const Tensor& x, const Tensor& y, const Tensor& out) {
  const Dims ones = Dims::filled(x.dim(), 1);
  reduce(ReduceOp::mean, raw::map(UnaryOp::square, raw::zip(BinaryOp::sub, x, y)),
         raw::alias(out, ones, ones));
}

void Backend::mean_square_grad(const Tensor& grad, const Tensor& x, const Tensor& y,
                               const Tensor& out) {
  const Tensor scaled = raw::zip(BinaryOp::mul, grad, Scalar(2 / static_cast<double>(x.numel())));
  zip(BinaryOp::mul, raw::zip(BinaryOp::sub, x, y), scaled, out);
}

void Backend::aminmax(const Tensor& x, const Tensor& out) {
  int64_t place = 0;
  for (const ReduceOp op : {ReduceOp::amin, ReduceOp::amax})
    raw::copy_(raw::narrow(out, 0, place++, 1),
               raw::alias(raw::reduce(op, x, std::nullopt), {1}, {1}));
}

void Backend::histc(bool all, double low, double high, const Tensor& x, const Tensor& out) {
  const int64_t bins = out.numel();
  Tensor inside, place = x;
  if (!all) {
    inside = raw::zip(BinaryOp::logical_and, raw::zip(BinaryOp::ge, x, Scalar(low)),
                      raw::zip(BinaryOp::le, x, Scalar(high)));
    place = raw::where(inside, x, Scalar(low));
  }
  place = raw::zip(BinaryOp::sub, place, Scalar(low));
  place = raw::zip(BinaryOp::mul, place, Scalar(static_cast<double>(bins)));
  place = raw::to(raw::zip(BinaryOp::div, place, Scalar(high - low)), kLong);
  place = raw::zip(BinaryOp::minimum, place, Scalar(bins - 1));
  Tensor worth = all ? raw::empty({}, kLong, x.device()) : raw::to(inside, kLong);
  if (all) raw::fill_(worth, 1), worth = raw::expand(worth, x.sizes());
  fill(out, 0);
  raw::scatter_("histc", ScatterOp::sum, out, 0, place, worth);
}

// Two passes, since the squares of large numbers would swallow their differences. The rounding of
// the mean adds to the sum of squares; that is subtracted as a share of it. So a sum that the type
// cannot hold is infinite, and not the difference of two infinite ones.
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
  constexpr double kLeast = 0x1p-126;  // the least normal number of float32
  raw::zip_(BinaryOp::div, rest, raw::zip(BinaryOp::maximum, length, Scalar(kLeast)));
  raw::zip_(BinaryOp::mul, rest, rest);
  raw::zip_(BinaryOp::div, rest, Scalar(-n));
  raw::zip_(BinaryOp::add, rest, Scalar(1));
  raw::zip_(BinaryOp::maximum, rest, Scalar(0));
  raw::zip_(BinaryOp::div, rest, Scalar(divisor));
  if (root) map(UnaryOp::sqrt, rest, rest);
  raw::zip_(BinaryOp::mul, rest, length);
  if (!root) raw::zip_(BinaryOp::mul, rest, length);
  copy(rest, out);
}

namespace {
// sums = the sums of the columns of x (..., N), in Float.
void sum_columns(Backend& on, const Tensor& x, const Tensor& sums) {
  const int64_t n = sums.numel();
  const Tensor rows = *raw::try_view(raw::contiguous(x), {x.numel() / n, n});
  on.copy(raw::alias(raw::reduce(ReduceOp::sum, rows, IntArrayRef{0}, kFloat), {n}, {1}), sums);
}
}  // namespace

void Backend::map_grad_sums(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                            const Tensor& out, const Tensor& sums) {
  map_grad(op, grad, x, y, out);
  sum_columns(*this, out, sums);
}

void Backend::matmul_sums(const Tensor& a, const Tensor& b, const Tensor& out, const Tensor& sums) {
  matmul(a, b, Tensor(), out);
  reduce(ReduceOp::sum, a, raw::alias(sums, {1, sums.numel(), 1}, {sums.numel(), 1, 1}));
}

void Backend::convolution_sums(const Convolution& shape, const Tensor& grad, const Tensor& input,
                               const Tensor& out, const Tensor& sums) {
  convolution(ConvolutionPass::wgrad, shape, grad, input, Tensor(), out);
  // Neighbours are added first: such sums take two launches on a GPU in any case.
  const int64_t filters = sums.numel(), places = grad.numel() / shape.batch / filters;
  const Tensor of_samples =
      raw::reduce(ReduceOp::sum, *raw::try_view(grad, {shape.batch, filters, places}),
                  IntArrayRef{2}, computed_type(grad.scalar_type()));
  reduce(ReduceOp::sum, of_samples, raw::alias(sums, {1, filters, 1}, {filters, 1, 1}));
}

void Backend::copy_list(ArrayRef<Tensor> from, ArrayRef<Tensor> to) {
  for (size_t i = 0; i < from.size(); ++i) copy(from[i], to[i]);
}

Tensor Backend::packed(const Tensor& b, int64_t) { return raw::contiguous(b); }

void Backend::matmul_packed(const Tensor& a, const Tensor& packed, const Tensor& bias,
                            const Tensor& out) {
  matmul(raw::unsqueeze(a, 0), raw::unsqueeze(packed, 0), bias, raw::unsqueeze(out, 0));
}

void Backend::prepare(const fused::Kernel&, Device) {}

void Backend::fused(const fused::Kernel& kernel, ArrayRef<Tensor> inputs,
                    ArrayRef<Tensor> outputs) {
  const Dims none = Dims::filled(static_cast<int64_t>(kernel.domain.size()), 0);
  fused::evaluate(*this, kernel, {none, kernel.domain}, inputs, outputs);
}

namespace {
// The rows of sums (2, n) as the gradients of weight and bias.
void copy_sums(Backend& on, const Tensor& sums, const Tensor& of_weight, const Tensor& of_bias) {
  const auto row = [&](int64_t i) {
    return raw::alias(raw::narrow(sums, 0, i, 1), {sums.size(1)}, {1});
  };
  const Dims all = {sums.size(1)};
  on.copy(row(0), raw::alias(of_weight, all, {1}));
  on.copy(row(1), raw::alias(of_bias, all, {1}));
}
}  // namespace

void Backend::normalize_twice(const NormalizedRows& rows, double eps, const Tensor& x,
                              const Tensor& weight, const Tensor& bias, const Tensor& mean,
                              const Tensor& rstd, const Tensor& out, const Tensor& low) {
  normalize(rows, eps, x, weight, bias, mean, rstd, out);
  copy(out, low);
}

void Backend::normalize_grads(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                              const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                              const Tensor& other, const Tensor& of_weight, const Tensor& of_bias,
                              const Tensor& out, const Tensor& low, const Tensor& low_sums) {
  const int64_t n = of_weight.numel();
  const Tensor g = raw::to(grad, x.dtype()), sums = raw::empty({2, n}, x.dtype(), x.device());
  normalize_sums(rows, g, x, mean, rstd, sums);
  copy_sums(*this, sums, of_weight, of_bias);
  normalize_grad(rows, g, x, mean, rstd, weight, sums, out);
  if (other.defined()) zip(BinaryOp::add, out, other, out);
  if (low.defined()) copy(out, low);
  if (low_sums.defined()) sum_columns(*this, low, low_sums);
}

void Backend::batch_statistics(const NormalizedRows& rows, double eps, double momentum,
                               const Tensor& x, const Tensor& running_mean,
                               const Tensor& running_var, const Tensor& count, const Tensor& mean,
                               const Tensor& rstd) {
  const Tensor variance = raw::empty_like(mean);
  moments(rows, x, mean, variance);
  const auto move = [&](const Tensor& running, const Tensor& now) {
    if (running.defined())
      raw::ternary_(TernaryOp::lerp, running, raw::to(now, running.dtype()), Scalar(momentum));
  };
  const auto n = static_cast<double>(rows.elements());
  move(running_mean, mean);
  move(running_var, raw::zip(BinaryOp::mul, variance, Scalar(n / (n - 1))));
  if (count.defined()) raw::zip_(BinaryOp::add, count, Scalar(1));
  map(UnaryOp::rsqrt, raw::zip(BinaryOp::add, variance, Scalar(eps)), rstd);
}

void Backend::batch_normalize(const NormalizedRows& rows, AfterNorm after, double eps,
                              const Tensor& x, const Tensor& identity, const Tensor& weight,
                              const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                              const Tensor& out) {
  if (!after.adds && !after.clamps) {
    const bool is_given = std::isnan(eps);
    return normalize(
        rows, 0, x, weight, bias, mean,
        is_given ? rstd : raw::map(UnaryOp::rsqrt, raw::zip(BinaryOp::add, rstd, Scalar(eps))),
        out);
  }
  batch_normalize(rows, {}, eps, x, {}, weight, bias, mean, rstd, out);
  if (after.adds) zip(BinaryOp::add, out, identity, out);
  if (!after.clamps) return;
  if (const auto op = clamp_within(after.bounds)) return map(*op, out, out);
  ternary(TernaryOp::clamp, out, Scalar(after.bounds.low), Scalar(after.bounds.high), 1, out);
}

void Backend::batch_normalize_grads(const NormalizedRows& rows, AfterNorm after, const Tensor& grad,
                                    const Tensor& x, const Tensor& y, const Tensor& weight,
                                    const Tensor&, const Tensor& mean, const Tensor& rstd,
                                    const Tensor& of_weight, const Tensor& of_bias,
                                    const Tensor& of_x, const Tensor& of_identity) {
  Tensor passed = grad;
  if (after.clamps) {
    passed = of_identity.defined() ? of_identity : raw::empty_like(grad);
    if (const auto op = clamp_within(after.bounds)) {
      map_grad(*op, grad, y, y, passed);
    } else {
      const Tensor outside =
          raw::zip(BinaryOp::logical_or, raw::zip(BinaryOp::le, y, Scalar(after.bounds.low)),
                   raw::zip(BinaryOp::ge, y, Scalar(after.bounds.high)));
      where(outside, Scalar(0), grad, passed);
    }
  }
  if (of_x.defined())
    return normalize_grads(rows, passed, x, mean, rstd, weight, Tensor(), of_weight, of_bias, of_x,
                           Tensor(), Tensor());
  const Tensor sums =
      raw::empty({2, of_weight.numel()}, of_weight.scalar_type(), of_weight.device());
  normalize_sums(rows, passed, x, mean, rstd, sums);
  copy_sums(*this, sums, of_weight, of_bias);
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

void Backend::mode(const Tensor& x, int64_t dim, const Tensor& values, const Tensor& indices) {
  const int64_t n = x.sizes()[dim];
  const auto order = raw::sort(x, dim, false);
  Dims shape = Dims::filled(x.dim(), 1), strides = Dims::filled(x.dim(), 0);
  shape[dim] = n, strides[dim] = 1;
  const Tensor list = raw::empty({n}, kLong, x.device());
  arange(list, 0, 1);
  const Tensor place = raw::alias(list, shape, strides);
  const Tensor begins = raw::empty(x.sizes(), kBool, x.device());
  fill(begins, true);
  if (n > 1 && x.numel() > 0)
    zip(BinaryOp::ne, raw::narrow(order.values, dim, 1, n - 1),
        raw::narrow(order.values, dim, 0, n - 1), raw::narrow(begins, dim, 1, n - 1));
  const Tensor run_begin = raw::arg_scan(true, raw::where(begins, place, Scalar(0)), dim).values;
  const Tensor end =
      raw::arg_reduce("mode", true, raw::zip(BinaryOp::sub, place, run_begin), dim).indices;
  copy(raw::gather(order.values, dim, end), values);
  copy(raw::gather(order.indices, dim, end), indices);
}

Tensor Backend::run_starts(const Tensor& x) {
  const int64_t n = x.sizes()[0];
  const Tensor starts = raw::empty({n}, kBool, x.device());
  fill(starts, true);
  if (n > 1) {
    Tensor differ =
        raw::zip(BinaryOp::ne, raw::narrow(x, 0, 1, n - 1), raw::narrow(x, 0, 0, n - 1));
    if (x.dim() == 2)
      differ = raw::alias(raw::reduce(ReduceOp::amax, differ, IntArrayRef{1}, kBool), {n - 1}, {1});
    copy(differ, raw::narrow(starts, 0, 1, n - 1));
  }
  return raw::flat_nonzero(starts);
}

Tensor Backend::distinct(const Tensor& x) { return raw::gather(x, 0, run_starts(x)); }

void Backend::masked_scatter(const Tensor& mask, const Tensor& source, const Tensor& out) {
  const Tensor places = raw::flat_nonzero(mask), flat = raw::contiguous(out);
  const auto row = [](const Tensor& x, int64_t n) { return raw::alias(x, {n}, {1}); };
  raw::scatter_("masked_scatter", ScatterOp::set, row(flat, flat.numel()), 0, places,
                row(source, places.numel()));
  if (!flat.is_same(out)) raw::copy_(out, flat);
}
Tensor Backend::masked_select(const Tensor& x, const Tensor& mask) {
  return raw::index("masked_select", x, raw::index_list("masked_select", x, mask));
}

}  // namespace gradus
