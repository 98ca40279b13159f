// Convolutions and pools: dtypes, layouts, and what no backend is asked for.
#include "gradus/tensor/base/precision.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::raw {

namespace {

Dims part_sizes(ConvolutionPass part, const Convolution& shape) {
  Dims out;
  if (part == ConvolutionPass::wgrad)
    out = {shape.filters, shape.group_channels()};
  else
    out = {shape.batch, part == ConvolutionPass::fprop ? shape.filters : shape.channels};
  for (int d = kSpatial - shape.spatial; d < kSpatial; ++d)
    out.push_back(part == ConvolutionPass::fprop   ? shape.dim[d].out
                  : part == ConvolutionPass::dgrad ? shape.dim[d].in
                                                   : shape.dim[d].kernel);
  return out;
}

// The format of a result: the first of channels last that its operands suggest.
MemoryFormat format_of(const Tensor& a, const Tensor& b) {
  const MemoryFormat format = a.suggest_memory_format();
  return format != MemoryFormat::Contiguous ? format : b.suggest_memory_format();
}

// x in that format, with its strides also where those of another one fit.
Tensor in_format(const Tensor& x, MemoryFormat format) {
  const Tensor out = raw::contiguous(x, format);
  if (out.suggest_memory_format() == format) return out;
  return alias(out, out.impl().sizes, strides_of(format, out.sizes()));
}

// x's sizes, with the last ones those of the pool's input or output.
Dims pooled_sizes(const Pool& pool, int spatial, const Tensor& x, bool output) {
  Dims out = x.impl().sizes;
  for (int i = 1; i <= spatial; ++i) {
    const WindowDim& dim = pool.dim[kSpatial - i];
    out[out.size() - static_cast<size_t>(i)] = output ? dim.out : dim.in;
  }
  return out;
}

}  // namespace

Tensor convolution_sums(const char* op, const Convolution& shape, const Tensor& grad,
                        const Tensor& input, const Tensor& sums) {
  if (grad.numel() == 0 || input.numel() == 0) {
    fill_(sums, 0);
    return convolution(op, ConvolutionPass::wgrad, shape, grad, input, Tensor(), sums.dtype());
  }
  const Tensor out =
      empty(part_sizes(ConvolutionPass::wgrad, shape), sums.dtype(), grad.device(), op);
  namespace row = contracts::convolution_sums;
  backend(out).convolution_sums(shape, taken(row::grad, grad), taken(row::input, input), out, sums);
  return in_format(out, format_of(grad, input));
}

Tensor convolution(const char* op, ConvolutionPass part, const Convolution& shape, const Tensor& a,
                   const Tensor& b, const Tensor& bias, std::optional<ScalarType> dtype) {
  const auto& [first, second] = part == ConvolutionPass::fprop   ? std::pair("input", "weight")
                                : part == ConvolutionPass::dgrad ? std::pair("grad", "weight")
                                                                 : std::pair("grad", "input");
  check_same_device(op, a, first, b, second);
  check_floating(op, a);
  check<TypeError>(a.dtype() == b.dtype(), op, ": ", first, " has dtype ", a.dtype(), ", ", second,
                   " has ", b.dtype(), "; convert one with .to(...)");
  if (bias.defined()) {
    check_same_device(op, a, first, bias, "bias");
    check<TypeError>(a.dtype() == bias.dtype(), op, ": Input type (", a.dtype(),
                     ") and bias type (", bias.dtype(),
                     ") should be the same; convert one with .to(...)");
  }
  namespace row = contracts::convolution;
  const ScalarType result = dtype.value_or(a.dtype());
  const ScalarType compute = result == kFloat ? kFloat : taken_type(row::a, a);
  const Dims sizes = part_sizes(part, shape);
  const MemoryFormat format = format_of(a, b);
  const bool strided = contracts::strides_of(row::out, a.device().type()) == Strides::any;
  const bool of_input = part == ConvolutionPass::dgrad && bias.defined(),
             has_terms = a.numel() > 0 && b.numel() > 0;
  const bool in_place = of_input && strided && has_terms && compute == result &&
                        IntArrayRef(bias.strides()) == strides_of(format, sizes);
  Tensor out =
      in_place ? bias
               : empty(sizes, compute, a.device(), strided ? format : MemoryFormat::Contiguous, op);
  const auto finished = [&] { return in_format(to(std::move(out), result), format); };
  if (out.numel() == 0) return finished();
  Tensor offset = in_place ? out : of_input ? Tensor() : taken(row::bias, bias);
  if (offset.defined() && !of_input) offset = raw::contiguous(offset);
  if (has_terms) {
    backend(out).convolution(part, shape, taken(row::a, a), taken(row::b, b), offset, out);
  } else {
    fill_(out, 0);
    if (offset.defined()) {
      Dims column = Dims::filled(1 + shape.spatial, 1);
      column[0] = shape.filters;
      zip_(BinaryOp::add, out, *try_view(offset, column));
    }
  }
  if (of_input && !in_place) zip_(BinaryOp::add, out, bias);
  return finished();
}

namespace {

MemoryFormat format_of(const Pool& pool, int64_t rank) {
  if (pool.channels == 1) return MemoryFormat::Contiguous;
  return rank == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}
// Planes that lie together (pool.channels) are laid one after the other where a device takes such
// alone.
struct PoolCall {
  Pool pool;
  MemoryFormat format;  // of what the backend takes
  ScalarType compute;

  // p: what x is for the backend.
  PoolCall(Parameter p, const Pool& of, const Tensor& x) : pool(of), compute(taken_type(p, x)) {
    const bool together = of.channels > 1 && takes_beside(p.function(), x).channels_last;
    format = together ? format_of(of, x.dim()) : MemoryFormat::Contiguous;
    if (!together) pool.planes *= pool.channels, pool.channels = 1;
  }
  Tensor ready(const Tensor& x) const { return raw::contiguous(to(x, compute), format); }
  Tensor result(IntArrayRef sizes, ScalarType dtype, const Tensor& x, const char* op) const {
    return empty(sizes, dtype, x.device(), format, op);
  }
};
// The result of a pool, in its format.
Tensor finished(const Pool& pool, Tensor out, ScalarType dtype) {
  const int64_t rank = out.dim();
  return in_format(to(std::move(out), dtype), format_of(pool, rank));
}

// Whether a byte holds the place of each element in its window, and x's device takes such places.
bool counts_in_bytes(const Pool& pool, const Tensor& x) {
  int64_t elements = 1;
  for (const WindowDim& w : pool.dim) {
    if (w.adaptive || w.kernel > 256) return false;
    elements *= w.kernel;
  }
  return elements <= 256 && takes_beside(Function::max_pool, x).bytes != 0;
}

}  // namespace

ValuesAndIndices max_pool(const char* op, const Pool& pool, int spatial, const Tensor& x,
                          Places places) {
  check<TypeError>(x.dtype() != kBool, op,
                   ": dtype bool is not supported; convert with .to(kFloat)");
  check_ordered(op, x);
  const Dims sizes = pooled_sizes(pool, spatial, x, true);
  const PoolCall call(contracts::max_pool::x, pool, x);
  const Tensor values = call.result(sizes, call.compute, x, op),
               indices = call.result(
                   sizes, places == Places::quickest && counts_in_bytes(pool, x) ? kByte : kLong, x,
                   op);
  if (values.numel() > 0) backend(x).max_pool(call.pool, call.ready(x), values, indices);
  return {finished(pool, values, x.dtype()), finished(pool, indices, indices.dtype())};
}

Tensor max_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& indices,
                     IntArrayRef sizes) {
  const PoolCall call(contracts::max_pool_grad::grad, pool, grad);
  const Tensor out = call.result(sizes, call.compute, grad, "max_pool");
  if (grad.numel() == 0)
    fill_(out, 0);
  else if (out.numel() > 0)
    backend(out).max_pool_grad(call.pool, call.ready(grad), raw::contiguous(indices, call.format),
                               out);
  return finished(pool, out, grad.dtype());
}

Tensor average_pool(const char* op, const Pool& pool, int spatial, const Tensor& x) {
  check_floating(op, x);
  const PoolCall call(contracts::average_pool::x, pool, x);
  const Tensor out = call.result(pooled_sizes(pool, spatial, x, true), call.compute, x, op);
  if (out.numel() > 0) backend(out).average_pool(call.pool, call.ready(x), out);
  return finished(pool, out, x.dtype());
}

Tensor average_pool_grad(const Pool& pool, int spatial, const Tensor& grad) {
  const PoolCall call(contracts::average_pool_grad::grad, pool, grad);
  const Tensor out =
      call.result(pooled_sizes(pool, spatial, grad, false), call.compute, grad, "avg_pool");
  if (grad.numel() == 0)
    fill_(out, 0);
  else if (out.numel() > 0)
    backend(out).average_pool_grad(call.pool, call.ready(grad), out);
  return finished(pool, out, grad.dtype());
}

}  // namespace gradus::raw
