// batch_norm, layer_norm and group_norm. All compute in float32 or float64, and round once.
#include <cmath>

#include "gradus/autograd/engine/any_dtype.h"
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/graph_task.h"
#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/ops/window/batch_norm.h"
#include "gradus/autograd/ops/window/group_norm.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/level.h"
#include "gradus/tensor/raw/operand.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

// The parameter in the dtype that x is computed in.
Tensor like(const Tensor& parameter, const Tensor& x) {
  return parameter.defined() ? parameter.to(x.dtype()) : parameter;
}

// x as (samples, groups, weights of a row, neighbours with one weight), and weights as they fit to
// it.
Tensor split(const NormalizedRows& rows, const Tensor& x) {
  return x.reshape({rows.rows / rows.groups, rows.groups, rows.weights(), rows.inner});
}
Tensor split_weights(const NormalizedRows& rows, const Tensor& weight) {
  return weight.reshape({1, rows.groups, rows.weights(), 1});
}

// The gradients of x, weight and bias, of functions that have derivatives themselves.
Tensors differentiable_gradients(const NormalizedRows& rows, double eps, const Tensor& grad,
                                 const Tensor& x, const Tensor& weight) {
  const std::vector<int64_t> over = {rows.shared ? 0 : 2, 3};
  const auto mean = [&](const Tensor& t) { return t.mean(over, true); };
  const Tensor wide = split(rows, x.to(computed_type(x.dtype()))), g = split(rows, grad);
  const Tensor rstd = (wide.var(over, false, true) + eps).rsqrt();
  const Tensor normal = (wide - mean(wide)) * rstd;
  const Tensor weighted = weight.defined() ? g * split_weights(rows, weight) : g;
  const Tensor x_grad = rstd * (weighted - mean(weighted) - normal * mean(weighted * normal));
  return {x_grad.view(x.sizes()), (g * normal).sum({0, 3}), g.sum({0, 3})};
}

// The same as the device computes them; the gradients of weight and bias have one dimension.
Tensors device_gradients(Node& n, const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                         const Tensor& weight) {
  const Tensor mean = n.saved(1), rstd = n.saved(2);
  const auto wide = [&] { return raw::to(grad, x.dtype()); };
  if (!n.wants(1) && !n.wants(2))
    return {raw::normalize_grad(rows, wide(), x, mean, rstd, weight, Tensor()), {}, {}};
  if (!n.wants(0)) {
    const Tensor sums = raw::normalize_sums(rows, wide(), x, mean, rstd);
    return {{}, sums.select(0, 0), sums.select(0, 1)};
  }
  // x may have other uses, such as the sum of a residual connection, and be such a sum.
  const Tensor other = autograd::sum_to_add(n, 0), copy = autograd::room_for_copy(n, 0),
               sums = autograd::room_for_sums(n, 0);
  const auto of = raw::normalize_grads(rows, grad, x, mean, rstd, weight, other, copy, sums);
  return {of.x, of.weight, of.bias};
}

// x normalised by rows that have statistics of their own.
Tensor normalized(const char* node, const NormalizedRows& rows, double eps, const Tensor& x,
                  const Tensor& weight, const Tensor& bias) {
  Tensor mean, rstd;
  const Tensor copy = autocast::room_for_copy(x, weight);
  const Tensor y = raw::normalize(rows, eps, x, weight, bias, mean, rstd, copy);
  autocast::made(y, weight, copy);
  if (!recording(x, weight, bias)) return y;
  const Dims weight_shape = weight.defined() ? weight.impl().sizes : Dims(),
             bias_shape = bias.defined() ? bias.impl().sizes : Dims();
  const bool has_weight = weight.defined();
  // Under autocast the gradient comes as a product makes it.
  record_saying<TakesAnyDtype>(
      node, y, {x, weight, bias}, {x, mean, rstd, weight},
      [=](Node& n, const Tensor& grad) -> Tensors {
        const Tensor &saved = n.saved(0), w = has_weight ? n.saved(3) : Tensor();
        const bool again = GradMode::is_enabled();
        Tensors out = again ? differentiable_gradients(rows, eps, grad, saved, w)
                            : device_gradients(n, rows, grad, saved, w);
        const auto give = [&](size_t i, const Dims& shape) {
          if (!n.wants(i))
            out[i] = Tensor();
          else  // of the device's a tensor of its own, which may become a leaf's grad()
            out[i] = again ? out[i].reshape(shape) : raw::alias(*raw::try_view(out[i], shape));
        };
        give(1, weight_shape), give(2, bias_shape);
        return out;
      });
  return y;
}

// Whether the device normalises rows of a half type as they are, as one may without a graph of
// derivatives.
bool takes_halves(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const auto fits = [&](const Tensor& t) { return !t.defined() || t.dtype() == x.dtype(); };
  const bool is_half = x.dtype() == kHalf || x.dtype() == kBFloat16;
  return is_half && raw::taken_type(contracts::normalize::x, x) == x.dtype() && fits(weight) &&
         fits(bias) && !recording(x, weight, bias);
}

// The result for an input without elements. The weight and the bias are in the graph, and their
// gradients 0.
Tensor normalized_nothing(const char* node, const Tensor& input, const Tensor& weight,
                          const Tensor& bias) {
  Tensor out = raw::clone(input);
  if (!recording(input, weight, bias)) return out;
  const auto geometry = [](const Tensor& x) {
    return x.defined() ? std::pair(x.impl().sizes, x.options().requires_grad(false))
                       : std::pair(Dims(), TensorOptions());
  };
  record(node, out, {input, weight, bias}, {},
         [of_weight = geometry(weight), of_bias = geometry(bias)](Node& n, const Tensor& grad) {
           Tensors grads(3);
           if (n.wants(0)) grads[0] = grad;
           if (n.wants(1)) grads[1] = zeros(of_weight.first, of_weight.second);
           if (n.wants(2)) grads[2] = zeros(of_bias.first, of_bias.second);
           return grads;
         });
  return out;
}

void check_parameters(const char* op, const Tensor& input, const Tensor& weight,
                      const Tensor& bias) {
  if (weight.defined()) raw::check_same_device(op, input, "input", weight, "weight");
  if (bias.defined()) raw::check_same_device(op, input, "input", bias, "bias");
}

void check_channels(const char* op, const char* name, const Tensor& x, int64_t channels) {
  check(!x.defined() || x.numel() == channels, op, ": ", name, " should contain ", channels,
        " elements not ", x.defined() ? x.numel() : 0,
        "; it has one for each channel, which are dimension 1 of the input");
}

// The arguments of batch_norm beside its input.
struct BatchNorm {
  const Tensor &weight, &bias, &running_mean, &running_var, &count;
  double momentum, eps;
  AfterNorm after = {};
  Tensor identity = {};
};

// A number for each channel, in the dtype that is computed in.
Tensor of_channels(const Tensor& x, ScalarType computed) {
  if (!x.defined()) return x;
  return (x.dim() == 1 ? x : x.flatten()).to(computed);
}

const char* node_of(AfterNorm after) {
  constexpr const char* kNames[2][2] = {
      {"NativeBatchNormBackward0", "NativeBatchNormClampBackward0"},
      {"NativeBatchNormAddBackward0", "NativeBatchNormAddClampBackward0"}};
  return kNames[after.adds][after.clamps];
}

// Where a clamp made none of its bounds.
Tensor between(const Bounds<double>& bounds, const Tensor& result) {
  const Tensor above = result > bounds.low;
  return std::isnan(bounds.high) ? above : above.logical_and(result < bounds.high);
}

// Whether x's device normalises, and finds the gradients, by kernels of its own: a GPU.
bool is_fused(const Tensor& x) {
  return !batching::here() && raw::takes_beside(Function::batch_normalize, x).channels_last;
}

// x by the statistics of its rows, which move the running ones.
Tensor batch_normalized(const NormalizedRows& rows, const Tensor& x, const Tensor& weight,
                        const Tensor& bias, const Tensor& identity, const BatchNorm& of) {
  const auto moved = {&of.running_mean, &of.running_var, &of.count};
  for (const Tensor* t : moved)
    if (t->defined()) check_in_place("batch_norm", *t, false);
  const raw::Statistics statistics = raw::batch_statistics(
      rows, of.eps, of.momentum, x, of.running_mean, of.running_var, of.count);
  for (const Tensor* t : moved)
    if (t->defined()) t->impl().storage->bump_version();
  AfterNorm after = of.after;
  for (double* bound : {&after.bounds.low, &after.bounds.high})
    *bound = raw::as_element(*bound, x.dtype()).toDouble();
  const Tensor y = raw::batch_normalize(rows, after, x, identity, weight, bias, statistics);
  if (!recording(x, weight, bias, identity)) return y;
  // Only what a clamp passes on depends on the bias and on y. Where it clamps no sum, a GPU finds
  // that from x, so that nobody need keep y.
  const bool reads_y = after.clamps && (after.adds || !is_fused(x));
  record(node_of(after), y, {x, weight, bias, identity},
         {x, statistics.mean, statistics.rstd, weight, if_used(after.clamps && !after.adds, bias),
          if_used(reads_y, y)},
         [rows, eps = of.eps, after, reads_y, has_weight = weight.defined()](
             Node& n, const Tensor& grad) -> Tensors {
           const Tensor &saved = n.saved(0), w = has_weight ? n.saved(3) : Tensor(),
                        b = after.clamps && !after.adds ? n.saved(4) : Tensor();
           const raw::Statistics given = {n.saved(1), n.saved(2)};
           Tensor result = reads_y ? n.saved(5) : Tensor();
           Tensors out(4);
           if (GradMode::is_enabled()) {
             if (after.clamps && !reads_y)
               result = raw::batch_normalize(rows, after, saved, {}, w, b, given);
             const Tensor passed =
                 result.defined() ? where(between(after.bounds, result), grad, Scalar(0)) : grad;
             const auto ordered = [&](const Tensor& t, int64_t from, int64_t to) {
               return rows.columns ? t.movedim(from, to) : t;
             };
             out = differentiable_gradients(rows, eps, ordered(passed, 1, -1),
                                            ordered(saved, 1, -1), w);
             out = {ordered(out[0], -1, 1), out[1].flatten(), out[2].flatten(), passed};
           } else {
             const raw::BatchGrads grads = raw::batch_normalize_grads(
                 rows, after, grad, saved, result, w, b, given, n.wants(0));
             out = {grads.x, grads.weight, grads.bias, after.clamps ? grads.identity : grad};
           }
           for (const size_t i : {1, 2, 3})
             if (!n.wants(i)) out[i] = Tensor();
           return out;
         });
  return y;
}

// Whether one kernel normalises by running statistics: on a GPU.
bool takes_given(const Tensor& input) { return input.numel() > 0 && is_fused(input); }

// x by the running statistics. REQUIRES: takes_given(x), and nothing that follows is recorded.
Tensor normalized_by_given(const Tensor& x, const Tensor& weight, const Tensor& bias,
                           const BatchNorm& of) {
  const int64_t channels = x.size(1), length = x.numel() / (x.size(0) * channels);
  const bool columns = x.dim() == 2 || x.suggest_memory_format() != MemoryFormat::Contiguous;
  const NormalizedRows rows =
      columns ? NormalizedRows{x.numel() / channels, channels, 1, 1, true, true}
              : NormalizedRows{x.size(0) * channels, length, channels, length, true};
  const ScalarType computed = computed_type(x.dtype());
  const Tensor mean = of_channels(of.running_mean, computed),
               variance = of_channels(of.running_var, computed);
  const Tensor y = raw::batch_normalize(rows, of.after, x, of.identity, weight, bias,
                                        {.mean = mean, .rstd = variance, .eps = of.eps});
  if (!recording(x, weight, bias)) return y;
  // Running statistics may move before the backward pass.
  const Tensor kept_mean = raw::clone(mean), kept_variance = raw::clone(variance);
  record(node_of({}), y, {x, weight, bias}, {x, kept_mean, kept_variance, weight},
         [eps = of.eps, has_weight = weight.defined(), computed](Node& n,
                                                                 const Tensor& grad) -> Tensors {
           const Tensor &saved = n.saved(0), g = grad.to(computed),
                        rstd = (n.saved(2) + eps).rsqrt();
           Dims column = Dims::filled(saved.dim(), 1);
           column[1] = rstd.numel();
           std::vector<int64_t> over;
           for (int64_t d = 0; d < saved.dim(); ++d)
             if (d != 1) over.push_back(d);
           Tensors out(3);
           if (n.wants(0)) out[0] = g * (has_weight ? n.saved(3) * rstd : rstd).view(column);
           if (n.wants(1))
             out[1] = (g * (saved.to(computed) - n.saved(1).view(column))).sum(over) * rstd;
           if (n.wants(2)) out[2] = g.sum(over);
           return out;
         });
  return y;
}

Tensor batch_norm_of(const Tensor& input, bool training, const BatchNorm& of) {
  constexpr const char* kOp = "batch_norm";
  raw::check_floating(kOp, input.operand(kOp, "input"));
  check(input.dim() >= 2, kOp, ": input has shape ", input.sizes(),
        "; expected (N, C, ...), at least 2 dimensions, unsqueeze it");
  const int64_t channels = input.size(1);
  check_channels(kOp, "weight", of.weight, channels);
  check_channels(kOp, "bias", of.bias, channels);
  check_channels(kOp, "running_mean", of.running_mean, channels);
  check_channels(kOp, "running_var", of.running_var, channels);
  check(
      training || (of.running_mean.defined() && of.running_var.defined()), kOp,
      ": running_mean and running_var must be defined in evaluation mode; give them, or training");
  check(!training || !(of.eps <= 0), kOp, ": eps is ", of.eps,
        "; expected more than 0 in training");
  check_parameters(kOp, input, of.weight, of.bias);
  check_parameters(kOp, input, of.running_mean, of.running_var);
  if (input.numel() == 0) {
    if (of.count.defined()) of.count.add_(1);
    return normalized_nothing("NativeBatchNormBackward0", input, of.weight, of.bias);
  }
  const MemoryFormat format = input.suggest_memory_format();
  if (training && format != MemoryFormat::Contiguous &&
      raw::takes_beside(Function::batch_statistics, input).channels_last) {
    // Channels that lie last are the columns of a matrix, which is taken in any floating type.
    const NormalizedRows rows = {input.numel() / channels, channels, 1, 1, true, true};
    const ScalarType computed = computed_type(input.dtype());
    return batch_normalized(rows, input, of_channels(of.weight, computed),
                            of_channels(of.bias, computed), of.identity, of);
  }
  const ScalarType computed = computed_type(input.dtype());
  const Tensor w = of_channels(of.weight, computed), b = of_channels(of.bias, computed);
  if (!training && takes_given(input) && !recording(of.running_mean, of.running_var))
    return normalized_by_given(input, w, b, of);
  const Tensor x = input.to(computed);
  if (!training) {
    const Tensor rstd = (like(of.running_var, x) + of.eps).rsqrt();
    const Tensor scale = w.defined() ? w * rstd : rstd;
    const Tensor shift = -like(of.running_mean, x) * scale;
    Dims column = Dims::filled(input.dim(), 1);
    column[1] = channels;
    const auto of_channel = [&](const Tensor& t) { return t.view(column); };
    return addcmul(of_channel(b.defined() ? b + shift : shift), x, of_channel(scale))
        .to(input.dtype());
  }
  const int64_t length = input.numel() / (input.size(0) * channels);
  const NormalizedRows rows = {input.size(0) * channels, length, channels, length, true};
  const Tensor& identity = of.identity;
  return batch_normalized(rows, x, w, b, identity.defined() ? identity.to(x.dtype()) : identity, of)
      .to(input.dtype())
      .contiguous(format);
}

}  // namespace

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum, double eps, bool) {
  return batch_norm_of(input, training,
                       {weight, bias, running_mean, running_var, Tensor(), momentum, eps});
}

bool autograd::follows_given(const Tensor& input, const Tensor& weight, const Tensor& bias,
                             const Tensor& running_mean, const Tensor& running_var,
                             const Tensor& identity) {
  return input.defined() && input.dim() >= 2 && takes_given(input) &&
         !recording(input, weight, bias, running_mean, running_var, identity);
}

Tensor autograd::batch_norm_step(const Tensor& input, bool training, const Tensor& weight,
                                 const Tensor& bias, const Tensor& running_mean,
                                 const Tensor& running_var, const Tensor& count, double momentum,
                                 double eps, AfterNorm after, const Tensor& identity) {
  return batch_norm_of(
      input, training,
      {weight, bias, running_mean, running_var, count, momentum, eps, after, identity});
}

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps, bool) {
  GRADUS_AUTOCAST(layer_norm, input, normalized_shape, weight, bias, eps, true);
  constexpr const char* kOp = "layer_norm";
  raw::check_floating(kOp, input.operand(kOp, "input"));
  check(!normalized_shape.empty(), kOp,
        ": Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
        "element, but got normalized_shape = ",
        normalized_shape, "; give the sizes of the last dimensions");
  const auto check_shape = [&](const char* name, const Tensor& x) {
    check(!x.defined() || x.sizes() == normalized_shape, kOp, ": Expected ", name,
          " to be of same shape as normalized_shape, but got ", name, " of shape ",
          x.defined() ? x.sizes() : IntArrayRef(), " and normalized_shape = ", normalized_shape,
          "; reshape it");
  };
  check_shape("weight", weight), check_shape("bias", bias);
  const size_t count = normalized_shape.size();
  const IntArrayRef sizes = input.sizes();
  check(sizes.size() >= count && sizes.slice(sizes.size() - count, count) == normalized_shape, kOp,
        ": Given normalized_shape=", normalized_shape,
        ", expected input with this shape in its last dimensions, but got input of size ",
        input.sizes(), "; permute the input or change normalized_shape");
  check_parameters(kOp, input, weight, bias);
  if (input.numel() == 0)
    return normalized_nothing("NativeLayerNormBackward0", input, weight, bias);
  NormalizedRows rows;
  rows.length = numel_of(normalized_shape);
  rows.rows = input.numel() / rows.length;
  if (takes_halves(input, weight, bias)) {
    Tensor mean, rstd;
    return raw::normalize(rows, eps, input, weight, bias, mean, rstd);
  }
  const Tensor x = input.to(computed_type(input.dtype()));
  return normalized("NativeLayerNormBackward0", rows, eps, x, like(weight, x), like(bias, x))
      .to(input.dtype());
}

namespace {

void check_group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight,
                      const Tensor& bias) {
  constexpr const char* kOp = "group_norm";
  raw::check_floating(kOp, input.operand(kOp, "input"));
  check(input.dim() >= 2, kOp, ": Expected at least 2 dimensions for input tensor but received ",
        input.dim(), "; expected (N, C, ...), unsqueeze it");
  check(num_groups > 0 && input.size(1) % num_groups == 0, kOp,
        ": Expected number of channels in input to be divisible by num_groups, but got input of "
        "shape ",
        input.sizes(), " and num_groups=", num_groups, "; give a divisor of ", input.size(1));
  const auto check_vector = [&](const char* name, const Tensor& x) {
    check(!x.defined() || (x.dim() == 1 && x.size(0) == input.size(1)), kOp, ": Expected ", name,
          " to be a vector of size equal to the number of channels in input, but got ", name,
          " of shape ", x.defined() ? x.sizes() : IntArrayRef(), " and input of shape ",
          input.sizes());
  };
  check_vector("weight", weight), check_vector("bias", bias);
  check_parameters(kOp, input, weight, bias);
}

// The groups of row-major samples.
NormalizedRows rows_of_groups(const Tensor& input, int64_t num_groups) {
  const int64_t samples = input.size(0) * num_groups,
                channel = input.numel() / input.size(0) / input.size(1);
  return {samples, input.numel() / samples, num_groups, channel, false};
}

// group_norm, and silu where it follows, of channels that lie last; the result is of this dtype.
Tensor group_norm_by_columns(const Tensor& x, int64_t num_groups, const Tensor& weight,
                             const Tensor& bias, double eps, bool silu, ScalarType dtype) {
  const int64_t channels = x.size(1);
  const NormalizedRows rows = {
      x.numel() / channels, channels, num_groups, 1, true, true, x.size(0)};
  const ScalarType computed = computed_type(x.scalar_type());
  const Tensor w = of_channels(weight, computed), b = of_channels(bias, computed);
  const raw::Statistics statistics = raw::batch_statistics(rows, eps, 0, x, {}, {}, {});
  AfterNorm after;
  after.silu = silu;
  const Tensor y = raw::batch_normalize(rows, after, x, {}, w, b, statistics, dtype);
  if (!recording(x, w, b)) return y;
  record_saying<TakesAnyDtype>(
      silu ? "NativeGroupNormSiluBackward0" : "NativeGroupNormBackward0", y, {x, w, b},
      {x, statistics.mean, statistics.rstd, w, if_used(silu, b)},
      [rows, eps, after, has_weight = w.defined(), has_bias = b.defined()](
          Node& n, const Tensor& grad) -> Tensors {
        const Tensor &saved = n.saved(0), weights = has_weight ? n.saved(3) : Tensor(),
                     biases = after.silu && has_bias ? n.saved(4) : Tensor();
        Tensors out;
        if (GradMode::is_enabled()) {
          const ScalarType wide = computed_type(saved.scalar_type());
          const NormalizedRows plain = rows_of_groups(saved, rows.groups);
          Tensor passed = grad.to(wide);
          if (after.silu) {
            const Tensor before =
                             group_norm(saved.to(wide), rows.groups, weights, biases, eps, true),
                         sigmoid = before.sigmoid();
            passed = passed * sigmoid * (1 + before * (1 - sigmoid));
          }
          out = differentiable_gradients(plain, eps, passed, saved, weights);
          out = {out[0].to(saved.scalar_type()), out[1].flatten(), out[2].flatten()};
        } else {
          const bool taken =
              grad.dtype() == saved.dtype() || (grad.dtype() == kFloat && saved.dtype() != kDouble);
          const raw::BatchGrads grads = raw::batch_normalize_grads(
              rows, after, taken ? grad : raw::to(grad, computed_type(saved.scalar_type())), saved,
              Tensor(), weights, biases, {n.saved(1), n.saved(2)}, n.wants(0));
          out = {grads.x, grads.weight, grads.bias};
        }
        for (const size_t i : {1, 2})
          if (!n.wants(i)) out[i] = Tensor();
        return out;
      });
  return y;
}

// Whether the device has kernels for channels that lie last, as those of x do. kMostSamples: a grid
// of blocks counts so many.
bool takes_columns(const Tensor& x) {
  constexpr int64_t kMostSamples = 65535;
  return x.numel() > 0 && x.size(0) <= kMostSamples &&
         x.suggest_memory_format() != MemoryFormat::Contiguous && !batching::here() &&
         raw::takes_beside(Function::batch_statistics, x).channels_last;
}

}  // namespace

bool autograd::group_norm_takes_silu(const Tensor& input) { return takes_columns(input); }

Tensor autograd::group_norm_silu(const Tensor& input, int64_t num_groups, const Tensor& weight,
                                 const Tensor& bias, double eps, bool lowers) {
  check_group_norm(input, num_groups, weight, bias);
  ScalarType dtype = autocast::cast_type(autocast::row_of("group_norm"), input);
  if (lowers && autocast::cast_type(autocast::row_of("conv2d"), input) == input.dtype())
    dtype = input.scalar_type();
  return group_norm_by_columns(input, num_groups, weight, bias, eps, true, dtype);
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias,
                  double eps, bool) {
  check_group_norm(input, num_groups, weight, bias);
  if (takes_columns(input))
    return group_norm_by_columns(input, num_groups, weight, bias, eps, false,
                                 autocast::cast_type(autocast::row_of("group_norm"), input));
  GRADUS_AUTOCAST(group_norm, input, num_groups, weight, bias, eps, true);
  if (input.numel() == 0)
    return normalized_nothing("NativeGroupNormBackward0", input, weight, bias);
  const Tensor x = input.to(computed_type(input.dtype()));
  const NormalizedRows rows = rows_of_groups(x, num_groups);
  return normalized("NativeGroupNormBackward0", rows, eps, x, like(weight, x), like(bias, x))
      .to(input.dtype());
}

}  // namespace gradus
