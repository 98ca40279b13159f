// Pools of maxima and averages, plain and adaptive, with their gradients.
#include "gradus/autograd/engine/any_dtype.h"
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/ops/window/dims.h"
#include "gradus/autograd/ops/window/lists.h"
#include "gradus/tensor/factories.h"

namespace gradus {

namespace {

using autograd::check_least, autograd::spread_list, autograd::padded_size, autograd::window_extent,
    autograd::with_short_steps;

struct PoolSettings {
  IntArrayRef kernel_size, stride, padding, dilation;
  bool ceil_mode;
};

int64_t windows_along(const WindowDim& w, int64_t extent, bool ceil_mode) {
  const int64_t room = w.in + 2 * w.padding - extent;
  if (room < 0 && !ceil_mode) return 0;
  if (room < 0 && w.stride <= -room) return 0;
  const int64_t whole = room < 0 ? 0 : room / w.stride + 1;
  const int64_t count = whole + (ceil_mode && (room < 0 || room % w.stride != 0) ? 1 : 0);
  // The last window begins within the input or the padding before it.
  return ceil_mode && (count - 1) * w.stride >= w.in + w.padding ? count - 1 : count;
}

// The planes of x, and the sizes of its last dimensions. Adaptive averages take 0 channels, too.
Pool planes_of(const char* op, int spatial, const Tensor& x, bool takes_no_channels = false) {
  x.operand(op);
  check(x.dim() == spatial + 1 || x.dim() == spatial + 2, op, ": Expected ", spatial + 1, "D or ",
        spatial + 2, "D (batch mode) tensor for input, but got: ", x.sizes(),
        "; use unsqueeze or flatten");
  Pool pool;
  const bool together =
      x.suggest_memory_format() != MemoryFormat::Contiguous && x.dim() == spatial + 2;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (d == 1 && together)
      pool.channels = x.size(d);
    else if (d < x.dim() - spatial)
      pool.planes *= x.size(d);
    else
      pool.dim[kSpatial - x.dim() + d].in = x.size(d);
    check(x.size(d) > 0 || d == 0 || (takes_no_channels && d < x.dim() - spatial), op,
          ": Expected input to have non-zero size for non-batch "
          "dimensions, but it has shape ",
          x.sizes(), "; leave out empty tensors");
  }
  return pool;
}

Pool pool_of(const char* op, int spatial, const Tensor& x, const PoolSettings& s) {
  Pool pool = planes_of(op, spatial, x);
  check_least(op, "kernel_size", s.kernel_size, 1, "kernel size should be greater than zero");
  check_least(op, "stride", s.stride, 1, "stride should be greater than zero");
  check_least(op, "dilation", s.dilation, 1, "dilation should be greater than zero");
  check_least(op, "padding", s.padding, 0, "pad must be non-negative");
  const auto kernel = spread_list(op, "kernel_size", s.kernel_size, spatial, 1);
  const auto stride = s.stride.empty() ? kernel : spread_list(op, "stride", s.stride, spatial, 1);
  const auto padding = spread_list(op, "padding", s.padding, spatial, 0);
  const auto dilation = spread_list(op, "dilation", s.dilation, spatial, 1);
  Checked taps = 1;
  for (int d = kSpatial - spatial; d < kSpatial; ++d) {
    const auto i = static_cast<size_t>(d);
    WindowDim& w = pool.dim[d];
    w = {w.in, 0, kernel[i], stride[i], padding[i], dilation[i]};
    const int64_t extent = window_extent(op, kernel[i], dilation[i]);
    check(padding[i] <= extent / 2, op,
          ": pad should be at most half of effective kernel size, but got pad=", padding[i],
          ", kernel_size=", kernel[i], " and dilation=", dilation[i], "; pad the input first");
    padded_size(op, w.in, w.padding);
    w.out = windows_along(w, extent, s.ceil_mode);
    check(w.out > 0, op, ": input of shape ", x.sizes(), " and kernel_size=", s.kernel_size,
          " give an output of size ", w.out,
          " in a dimension. Output size is too small; use a smaller kernel or pad");
    w = with_short_steps(op, w);
    taps = taps * kernel[i];
  }
  taps.get(op, "the number of elements of a window");
  return pool;
}

Pool adaptive_pool(const char* op, int spatial, const Tensor& x, IntArrayRef output_size,
                   bool takes_no_channels) {
  Pool pool = planes_of(op, spatial, x, takes_no_channels);
  check_least(op, "output_size", output_size, 0,
              "elements of output_size must be greater than or equal to 0");
  const auto out = spread_list(op, "output_size", output_size, spatial, 1);
  for (int d = kSpatial - spatial; d < kSpatial; ++d) {
    const int64_t in = pool.dim[d].in, windows = out[static_cast<size_t>(d)];
    pool.dim[d].out = windows;
    pool.dim[d].adaptive = windows == 0 || in % windows != 0;
    // Windows that share out evenly are ordinary ones.
    if (!pool.dim[d].adaptive) pool.dim[d].kernel = pool.dim[d].stride = in / windows;
  }
  return pool;
}

// The places in their planes of elements that are given by their places in windows.
Tensor in_planes(const Pool& pool, int spatial, const Tensor& places) {
  Tensor rest = places.to(kLong), out = zeros_like(rest);
  int64_t step = 1;
  for (int d = kSpatial - 1; d >= kSpatial - spatial; --d) {
    const WindowDim& w = pool.dim[d];
    Tensor begin = arange(w.out, rest.options()) * w.stride - w.padding;
    for (int after = d + 1; after < kSpatial; ++after) begin = begin.unsqueeze(-1);
    out += (begin + rest.remainder(w.kernel) * w.dilation).clamp(0, w.in - 1) * step;
    rest = rest.div(w.kernel, "floor");
    step *= w.in;
  }
  return out;
}

TensorPair max_over(const char* op, int spatial, const Pool& pool, const Tensor& x,
                    raw::Places places = raw::Places::in_planes) {
  const auto out = raw::max_pool(op, pool, spatial, x, places);
  if (recording(x)) {
    const Dims sizes = x.impl().sizes;
    record_saying<TakesAnyDtype>(
        "MaxPoolWithIndicesBackward0", out.values, {x}, {out.indices},
        [pool, spatial, sizes](Node& n, const Tensor& grad) -> Tensors {
          const Tensor& indices = n.saved(0);
          if (!GradMode::is_enabled()) return {raw::max_pool_grad(pool, grad, indices, sizes)};
          const auto flat = [&](const Tensor& t) { return t.flatten(-spatial); };
          const Tensor at = indices.dtype() == kByte ? in_planes(pool, spatial, indices) : indices;
          Dims planes = sizes;
          planes.resize(sizes.size() - static_cast<size_t>(spatial) + 1);
          planes[planes.size() - 1] = pool.inputs();
          return {zeros(planes, grad.options()).scatter_add(-1, flat(at), flat(grad)).view(sizes)};
        });
  }
  return {out.values, out.indices};
}

TensorPair max_over(int spatial, const Tensor& x, const PoolSettings& settings,
                    raw::Places places) {
  constexpr const char* kOps[] = {"max_pool1d", "max_pool2d", "max_pool3d"};
  const char* const op = kOps[spatial - 1];
  return max_over(op, spatial, pool_of(op, spatial, x, settings), x, places);
}

Tensor average_gradient(const char* op, int spatial, const Pool& pool, const Tensor& grad);

Tensor average_over(const char* op, int spatial, const Pool& pool, const Tensor& x) {
  const Tensor out = raw::average_pool(op, pool, spatial, x);
  if (recording(x))
    record("AvgPoolBackward0", out, {x}, {},
           [op, spatial, pool](Node&, const Tensor& grad) -> Tensors {
             return {average_gradient(op, spatial, pool, grad)};
           });
  return out;
}

// Averages are linear: the gradient of their gradient is an average again.
Tensor average_gradient(const char* op, int spatial, const Pool& pool, const Tensor& grad) {
  const Tensor out = raw::average_pool_grad(pool, spatial, grad);
  if (recording(grad))
    record("AvgPoolBackwardBackward0", out, {grad}, {},
           [op, spatial, pool](Node&, const Tensor& x) -> Tensors {
             return {average_over(op, spatial, pool, x)};
           });
  return out;
}

Tensor average(const char* op, int spatial, const Tensor& x, IntArrayRef kernel_size,
               IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad,
               std::optional<int64_t> divisor_override) {
  check(divisor_override != 0, op, ": divisor must be not zero; leave divisor_override out");
  const int64_t one = 1;
  Pool pool = pool_of(op, spatial, x, {kernel_size, stride, padding, one, ceil_mode});
  pool.counts_padding = count_include_pad;
  pool.divisor = divisor_override.value_or(0);
  return average_over(op, spatial, pool, x);
}

}  // namespace

#define GRADUS_POOLS(n)                                                                       \
  TensorPair max_pool##n##d_with_indices(const Tensor& self, IntArrayRef kernel_size,         \
                                         IntArrayRef stride, IntArrayRef padding,             \
                                         IntArrayRef dilation, bool ceil_mode) {              \
    return max_over(n, self, {kernel_size, stride, padding, dilation, ceil_mode},             \
                    raw::Places::in_planes);                                                  \
  }                                                                                           \
  Tensor max_pool##n##d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,      \
                        IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {          \
    GRADUS_AUTOCAST(max_pool##n##d, self, kernel_size, stride, padding, dilation, ceil_mode); \
    return std::get<0>(max_over(n, self, {kernel_size, stride, padding, dilation, ceil_mode}, \
                                raw::Places::quickest));                                      \
  }                                                                                           \
  Tensor adaptive_avg_pool##n##d(const Tensor& self, IntArrayRef output_size) {               \
    GRADUS_AUTOCAST(adaptive_avg_pool##n##d, self, output_size);                              \
    constexpr const char* kOp = "adaptive_avg_pool" #n "d";                                   \
    return average_over(kOp, n, adaptive_pool(kOp, n, self, output_size, true), self);        \
  }                                                                                           \
  TensorPair adaptive_max_pool##n##d(const Tensor& self, IntArrayRef output_size) {           \
    GRADUS_AUTOCAST(adaptive_max_pool##n##d, self, output_size);                              \
    constexpr const char* kOp = "adaptive_max_pool" #n "d";                                   \
    return max_over(kOp, n, adaptive_pool(kOp, n, self, output_size, false), self);           \
  }
GRADUS_POOLS(1)
GRADUS_POOLS(2)
GRADUS_POOLS(3)
#undef GRADUS_POOLS

Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, bool ceil_mode, bool count_include_pad) {
  return average("avg_pool1d", 1, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                 std::nullopt);
}
Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                  std::optional<int64_t> divisor_override) {
  return average("avg_pool2d", 2, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                 divisor_override);
}
Tensor avg_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                  std::optional<int64_t> divisor_override) {
  GRADUS_AUTOCAST(avg_pool3d, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                  divisor_override);
  return average("avg_pool3d", 3, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                 divisor_override);
}

}  // namespace gradus
