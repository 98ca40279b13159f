// Convolutions and pools: dtypes, layouts, and what no backend is asked for.
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
    return convolution(op, ConvolutionPass::wgrad, shape, grad, input);
  }
  const Tensor out =
      empty(part_sizes(ConvolutionPass::wgrad, shape), grad.dtype(), grad.device(), op);
  backend(out).convolution_sums(shape, raw::contiguous(grad), raw::contiguous(input), out, sums);
  return out;
}

Tensor convolution(const char* op, ConvolutionPass part, const Convolution& shape, const Tensor& a,
                   const Tensor& b, const Tensor& bias) {
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
  // A GPU takes half types as they are, in any order; the CPU computes in float32.
  const bool as_is = a.is_cuda() && (a.dtype() == kHalf || a.dtype() == kBFloat16);
  const ScalarType compute = as_is ? a.scalar_type() : computed_type(a.dtype());
  Tensor out = empty(part_sizes(part, shape), compute, a.device(), op);
  if (out.numel() == 0) return to(std::move(out), a.dtype());
  const auto ready = [&](const Tensor& x) { return as_is ? x : raw::contiguous(to(x, compute)); };
  const Tensor offset = bias.defined() ? raw::contiguous(to(bias, compute)) : bias;
  if (a.numel() > 0 && b.numel() > 0) {
    backend(out).convolution(part, shape, ready(a), ready(b), offset, out);
  } else {
    fill_(out, 0);
    if (bias.defined()) {
      Dims column = Dims::filled(1 + shape.spatial, 1);
      column[0] = shape.filters;
      zip_(BinaryOp::add, out, *try_view(offset, column));
    }
  }
  return to(std::move(out), a.dtype());
}

ValuesAndIndices max_pool(const char* op, const Pool& pool, int spatial, const Tensor& x) {
  check<TypeError>(x.dtype() != kBool, op,
                   ": dtype bool is not supported; convert with .to(kFloat)");
  const ScalarType compute = computed_type(x.dtype());
  const Dims sizes = pooled_sizes(pool, spatial, x, true);
  ValuesAndIndices out{empty(sizes, compute, x.device(), op), empty(sizes, kLong, x.device(), op)};
  if (out.values.numel() > 0)
    backend(x).max_pool(pool, raw::contiguous(to(x, compute)), out.values, out.indices);
  out.values = to(std::move(out.values), x.dtype());
  return out;
}

Tensor max_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& indices,
                     IntArrayRef sizes) {
  const ScalarType compute = computed_type(grad.dtype());
  Tensor out = empty(sizes, compute, grad.device());
  if (grad.numel() == 0)
    fill_(out, 0);
  else if (out.numel() > 0)
    backend(out).max_pool_grad(pool, raw::contiguous(to(grad, compute)), raw::contiguous(indices),
                               out);
  return to(std::move(out), grad.dtype());
}

Tensor average_pool(const char* op, const Pool& pool, int spatial, const Tensor& x) {
  check_floating(op, x);
  const ScalarType compute = computed_type(x.dtype());
  Tensor out = empty(pooled_sizes(pool, spatial, x, true), compute, x.device(), op);
  if (out.numel() > 0) backend(out).average_pool(pool, raw::contiguous(to(x, compute)), out);
  return to(std::move(out), x.dtype());
}

Tensor average_pool_grad(const Pool& pool, int spatial, const Tensor& grad) {
  const ScalarType compute = computed_type(grad.dtype());
  Tensor out = empty(pooled_sizes(pool, spatial, grad, false), compute, grad.device());
  if (grad.numel() == 0)
    fill_(out, 0);
  else if (out.numel() > 0)
    backend(out).average_pool_grad(pool, raw::contiguous(to(grad, compute)), out);
  return to(std::move(out), grad.dtype());
}

}  // namespace gradus::raw
