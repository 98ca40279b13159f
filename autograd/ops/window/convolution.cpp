// Convolutions and transposed ones, with their gradients. The output, the gradient of the input and
// that of the weight are each bilinear in the other two. So three operations are each other's
// derivatives, of every order.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/graph_task.h"
#include "gradus/autograd/engine/meta.h"
#include "gradus/autograd/ops/window/dims.h"
#include "gradus/autograd/ops/window/lists.h"

namespace gradus {

namespace {

using autograd::check_least, autograd::spread_list, autograd::padded_size, autograd::window_extent,
    autograd::with_short_steps;
using Part = ConvolutionPass;

// Whether gradient number `index`, which is made of grad, is given in Float: that of a Float
// parameter under autocast needs no conversion then.
bool is_wide(const Node& n, size_t index, const Tensor& grad) {
  const bool is_half = grad.dtype() == kHalf || grad.dtype() == kBFloat16;
  return is_half && autograd::may_be_wide(n, index);
}

// The gradient of a bias, which stands along dimension 1. Neighbours are added first: such sums
// take two launches on a GPU in any case.
Tensor bias_gradient(const Tensor& grad, bool wide) {
  const Tensor sum = grad.flatten(2).sum(2, false, computed_type(grad.scalar_type())).sum(0);
  return wide ? sum : sum.to(grad.scalar_type());
}

// Whether the gradients of weight and bias may come from one pass over grad.
bool sums_at_once(const Tensor& grad) {
  const bool wide = grad.dtype() == computed_type(grad.scalar_type());
  return !GradMode::is_enabled() && (wide || raw::takes(contracts::convolution_sums::grad, grad));
}

// The gradient of the input, added to what has come there before, as in a residual block. Undefined
// where nothing has.
Tensor added_gradient(Node& n, const char* op, const Convolution& shape, const Tensor& grad) {
  const Tensor sum = autograd::sum_to_add(n, 0, grad.scalar_type());
  if (!sum.defined()) return sum;
  if (owns_alone(sum)) return raw::convolution(op, Part::dgrad, shape, grad, n.saved(1), sum);
  const Tensor out = raw::convolution(op, Part::dgrad, shape, grad, n.saved(1));
  raw::zip_(BinaryOp::add, out, sum);
  return out;
}

// One pass of the convolution, made of the other two tensors. The output or its gradient comes
// first. bias: as for raw::convolution.
Tensor bilinear(const char* op, Part part, const Convolution& shape, const Tensor& a,
                const Tensor& b, const Tensor& bias = {},
                std::optional<ScalarType> dtype = std::nullopt) {
  const Tensor out = raw::convolution(op, part, shape, a, b, bias, dtype);
  if (recording(a, b, bias))
    record("ConvolutionBackward0", out, {a, b, bias},
           {if_used(b.requires_grad(), a), if_used(a.requires_grad(), b)},
           [op, part, shape](Node& n, const Tensor& given) {
             // A part of joined channels is laid by itself once, not by each product.
             const MemoryFormat format = given.suggest_memory_format();
             const Tensor grad =
                 format == MemoryFormat::Contiguous ? given : given.contiguous(format);
             Tensors grads(3);
             const auto make = [&](Part which, const Tensor& first, const Tensor& second) {
               return bilinear(op, which, shape, first, second);
             };
             const auto of_weight = [&](const Tensor& first, const Tensor& second) {
               return bilinear(op, Part::wgrad, shape, first, second, {},
                               is_wide(n, 1, grad) ? kFloat : grad.scalar_type());
             };
             // grad stands for `part`; each operand's gradient is made of it and the other operand.
             switch (part) {
               case Part::fprop:
                 if (n.wants(1) && n.wants(2) && sums_at_once(grad)) {
                   const bool wide = is_wide(n, 1, grad) && is_wide(n, 2, grad);
                   grads[2] = raw::empty({grad.size(1)}, wide ? kFloat : grad.scalar_type(),
                                         grad.device());
                   grads[1] = raw::convolution_sums(op, shape, grad, n.saved(0), grads[2]);
                 } else if (n.wants(1)) {
                   grads[1] = of_weight(grad, n.saved(0));
                 }
                 if (n.wants(0)) grads[0] = added_gradient(n, op, shape, grad);
                 if (n.wants(0) && !grads[0].defined())
                   grads[0] = make(Part::dgrad, grad, n.saved(1));
                 break;
               case Part::dgrad:
                 if (n.wants(1)) grads[1] = of_weight(n.saved(0), grad);
                 if (n.wants(0)) grads[0] = make(Part::fprop, grad, n.saved(1));
                 break;
               case Part::wgrad:
                 if (n.wants(1)) grads[1] = make(Part::dgrad, n.saved(0), grad);
                 if (n.wants(0)) grads[0] = make(Part::fprop, n.saved(1), grad);
                 break;
             }
             if (n.wants(2) && !grads[2].defined())
               grads[2] = bias_gradient(grad, is_wide(n, 2, grad));
             return grads;
           });
  return out;
}

struct Settings {
  IntArrayRef stride, padding, dilation, output_padding;
  int64_t groups;
  bool transposed = false;
};

void check_settings(const char* op, const Settings& s) {
  check_least(op, "stride", s.stride, 1, "non-positive stride is not supported");
  check_least(op, "padding", s.padding, 0, "negative padding is not supported");
  check_least(op, "dilation", s.dilation, 1, "dilation should be greater than zero");
  check_least(op, "output_padding", s.output_padding, 0,
              "negative output_padding is not supported");
  check(s.groups > 0, op, ": non-positive groups is not supported, but got groups=", s.groups,
        "; give 1 or more");
}

void check_shapes(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias,
                  int64_t groups, bool transposed) {
  const int64_t filters = weight.size(0), channels = input.size(1);
  const int64_t all = (Checked(groups) * weight.size(1)).get(op, "the number of channels");
  check(filters >= groups, op, ": Given groups=", groups, ", expected weight to be at least ",
        groups, " at dimension 0, but got weight of size ", weight.sizes(),
        " instead; use fewer groups");
  check(filters % groups == 0, op, ": Given groups=", groups,
        ", expected weight to be divisible by ", groups, " at dimension 0, but got weight of size ",
        weight.sizes(), " instead; use another number of groups");
  const int64_t expected = transposed ? filters : all;
  check(channels == expected, op, ": Given ", transposed ? "transposed=1" : "groups=",
        transposed ? std::string() : std::to_string(groups), ", weight of size ", weight.sizes(),
        ", expected input", input.sizes(), " to have ", expected, " channels, but got ", channels,
        " channels instead; give that many, in dimension 1 of a batch or 0 without one");
  const int64_t results = transposed ? all : filters;
  check(!bias.defined() || (bias.dim() == 1 && bias.size(0) == results), op, ": Given ",
        transposed ? "transposed=1, " : "", "weight of size ", weight.sizes(),
        ", expected bias to be 1-dimensional with ", results, " elements, but got bias of size ",
        bias.defined() ? bias.sizes() : IntArrayRef(), " instead; give a number for each result");
}

std::string by_x(const std::array<int64_t, kSpatial>& sizes, int spatial) {
  std::string out;
  for (int d = kSpatial - spatial; d < kSpatial; ++d)
    out += (out.empty() ? "" : " x ") + std::to_string(sizes[static_cast<size_t>(d)]);
  return "(" + out + ")";
}

// The shape, of which `result` is the part that is computed.
Convolution shape_of(const char* op, const Tensor& input, const Tensor& weight, const Settings& s,
                     int spatial) {
  Convolution shape;
  shape.spatial = spatial;
  shape.batch = input.size(0);
  shape.groups = s.groups;
  shape.channels = weight.size(1) * s.groups;
  shape.filters = weight.size(0);
  const auto stride = spread_list(op, "stride", s.stride, spatial, 1);
  const auto padding = spread_list(op, "padding", s.padding, spatial, 0);
  const auto dilation = spread_list(op, "dilation", s.dilation, spatial, 1);
  const auto more = spread_list(op, "output_padding", s.output_padding, spatial, 0);
  std::array<int64_t, kSpatial> sizes{1, 1, 1}, kernels{1, 1, 1};
  bool fits = true;
  for (int d = kSpatial - spatial; d < kSpatial; ++d) {
    const auto i = static_cast<size_t>(d);
    const int64_t size = input.size(d - kSpatial), kernel = weight.size(d - kSpatial);
    check(kernel > 0, op, ": weight has shape ", weight.sizes(), "; a kernel needs some elements");
    const int64_t reach = window_extent(op, kernel, dilation[i]);
    WindowDim& w = shape.dim[d];
    w = {size, size, kernel, stride[i], padding[i], dilation[i]};
    if (s.transposed) {
      check(more[i] < stride[i] || more[i] < dilation[i], op,
            ": output padding must be smaller than either stride or dilation, but got "
            "output_padding=",
            more[i], ", stride=", stride[i], ", dilation=", dilation[i], "; make it smaller");
      w.in = (Checked(stride[i]) * (size - 1) - Checked(2) * padding[i] + reach + more[i])
                 .get(op, "the output size");
      check(w.in > 0, op, ": Given input size per channel ", input.sizes().slice(2),
            ", the calculated output would have size ", w.in, " in a dimension; pad less");
    } else {
      sizes[i] = padded_size(op, size, padding[i]), kernels[i] = reach;
      fits &= sizes[i] >= reach;
      w.out = (sizes[i] - reach) / stride[i] + 1;
    }
    w = with_short_steps(op, w);
  }
  check(fits, op, ": Calculated padded input size per channel: ", by_x(sizes, spatial),
        ". Kernel size: ", by_x(kernels, spatial),
        ". Kernel size can't be greater than actual input size; pad more");
  return shape;
}

Tensor convolve(const char* op, int spatial, const Tensor& input, const Tensor& weight,
                const Tensor& bias, const Settings& s) {
  input.operand(op, "input"), weight.operand(op, "weight");
  check(weight.dim() == spatial + 2, op, ": expected ", spatial + 2, "D weight (",
        s.transposed ? "in, out" : "out, in",
        " / groups, kernel...), but got weight of size: ", weight.sizes(), "; reshape it");
  check(input.dim() == spatial + 1 || input.dim() == spatial + 2, op, ": Expected ", spatial + 1,
        "D (unbatched) or ", spatial + 2, "D (batched) input to ", op,
        ", but got input of size: ", input.sizes(), "; use unsqueeze or flatten");
  if (input.dim() == spatial + 1)
    return convolve(op, spatial, input.unsqueeze(0), weight, bias, s).squeeze(0);
  check_settings(op, s);
  check_shapes(op, input, weight, bias, s.groups, s.transposed);
  if (s.transposed && bias.defined()) {  // raw::convolution checks that of the others
    raw::check_same_device(op, input, "input", bias, "bias");
    check<TypeError>(input.dtype() == bias.dtype(), op, ": Input type (", input.dtype(),
                     ") and bias type (", bias.dtype(),
                     ") should be the same; convert one with .to(...)");
  }
  const Convolution shape = shape_of(op, input, weight, s, spatial);
  if (!s.transposed) return bilinear(op, Part::fprop, shape, input, weight, bias);
  const Tensor out = bilinear(op, Part::dgrad, shape, input, weight);
  if (!bias.defined()) return out;
  Dims column = Dims::filled(1 + spatial, 1);
  column[0] = bias.size(0);
  return out + bias.view(column);
}

Tensor convolve_named(const char* op, int spatial, const Tensor& input, const Tensor& weight,
                      const Tensor& bias, IntArrayRef stride, PaddingName padding,
                      IntArrayRef dilation, int64_t groups) {
  const bool same = padding.name == "same";
  check(same || padding.name == "valid", op, ": Invalid padding string: '", padding.name,
        "'; expected 'same' or 'valid'");
  if (!same) return convolve(op, spatial, input, weight, bias, {stride, 0, dilation, 0, groups});
  for (const int64_t step : stride)
    check(step == 1, op,
          ": padding='same' is not supported for strided convolutions, but got "
          "stride=",
          stride, "; use a stride of 1");
  check(weight.operand(op, "weight").dim() == spatial + 2, op, ": expected ", spatial + 2,
        "D weight (out, in / groups, kernel...), but got weight of size: ", weight.sizes(),
        "; reshape it");
  check_least(op, "dilation", dilation, 1, "dilation should be greater than zero");
  const auto apart = spread_list(op, "dilation", dilation, spatial, 1);
  // Padding that does not share out evenly is added at the end first.
  Dims both = Dims::filled(spatial, 0), after = Dims::filled(2 * spatial, 0);
  bool uneven = false;
  for (int d = 0; d < spatial; ++d) {
    const int64_t total = window_extent(op, std::max<int64_t>(weight.size(2 + d), 1),
                                        apart[static_cast<size_t>(kSpatial - spatial + d)]) -
                          1;
    both[d] = total / 2;
    after[2 * (spatial - 1 - d) + 1] = total % 2;
    uneven |= total % 2 != 0;
  }
  const Tensor padded = uneven ? constant_pad_nd(input.operand(op, "input"), after) : input;
  return convolve(op, spatial, padded, weight, bias, {stride, both, dilation, 0, groups});
}

}  // namespace

#define GRADUS_CONVOLUTIONS(n)                                                                     \
  Tensor conv##n##d(const Tensor& input, const Tensor& weight, const Tensor& bias,                 \
                    IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,                 \
                    int64_t groups) {                                                              \
    GRADUS_AUTOCAST(conv##n##d, input, weight, bias, stride, padding, dilation, groups);           \
    return convolve("conv" #n "d", n, input, weight, bias,                                         \
                    {stride, padding, dilation, 0, groups});                                       \
  }                                                                                                \
  Tensor conv##n##d(const Tensor& input, const Tensor& weight, const Tensor& bias,                 \
                    IntArrayRef stride, PaddingName padding, IntArrayRef dilation,                 \
                    int64_t groups) {                                                              \
    GRADUS_AUTOCAST(conv##n##d, input, weight, bias, stride, padding, dilation, groups);           \
    return convolve_named("conv" #n "d", n, input, weight, bias, stride, padding, dilation,        \
                          groups);                                                                 \
  }                                                                                                \
  Tensor conv_transpose##n##d(const Tensor& input, const Tensor& weight, const Tensor& bias,       \
                              IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding, \
                              int64_t groups, IntArrayRef dilation) {                              \
    GRADUS_AUTOCAST(conv_transpose##n##d, input, weight, bias, stride, padding, output_padding,    \
                    groups, dilation);                                                             \
    return convolve("conv_transpose" #n "d", n, input, weight, bias,                               \
                    {stride, padding, dilation, output_padding, groups, true});                    \
  }
GRADUS_CONVOLUTIONS(1)
GRADUS_CONVOLUTIONS(2)
GRADUS_CONVOLUTIONS(3)
#undef GRADUS_CONVOLUTIONS

Tensor convolution(const Tensor& input, const Tensor& weight, const Tensor& bias,
                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, int64_t groups) {
  GRADUS_AUTOCAST(convolution, input, weight, bias, stride, padding, dilation, transposed,
                  output_padding, groups);
  const int64_t spatial = weight.operand("convolution", "weight").dim() - 2;
  check(spatial >= 1 && spatial <= kSpatial, "convolution: weight has shape ", weight.sizes(),
        "; expected 3 to 5 dimensions, (out, in / groups, kernel...)");
  return convolve("convolution", static_cast<int>(spatial), input, weight, bias,
                  {stride, padding, dilation, output_padding, groups, transposed});
}

}  // namespace gradus
