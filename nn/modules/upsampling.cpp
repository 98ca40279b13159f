// Upsample and F::interpolate: one spatial dimension after the other, as weighted sums of slices.
#include "gradus/nn/modules/upsampling.h"
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/one_node.h"

#include <algorithm>
#include <cmath>

namespace gradus::nn {

InterpolationMode::InterpolationMode(Nonlinearity linear) : value(Interpolation::Linear) {
  check(linear == kLinear,
        "interpolate: mode is no interpolation, expected kNearest, kNearestExact, kLinear, "
        "kBilinear, kBicubic, kTrilinear or kArea");
}

const char* InterpolationMode::name() const {
  static constexpr const char* kNames[] = {"kNearest", "kNearestExact", "kLinear", "kBilinear",
                                           "kBicubic", "kTrilinear",    "kArea"};
  return kNames[static_cast<size_t>(value)];
}

namespace functional {

namespace {

// The positions of one dimension of the output in the input.
struct Positions {
  int64_t in, out;
  double scale;  // pixels of the input for one of the output
  bool align_corners;

  // The position in the input, in pixels, of the center of pixel i.
  double center(int64_t i) const {
    const auto at = static_cast<double>(i);
    return align_corners ? scale * at : scale * (at + 0.5) - 0.5;
  }
};

// out[i] = sum over k of weight[k][i] * in[index[k][i]]
struct Taps {
  Taps(int64_t taps, int64_t out)
      : count(taps), index(empty({taps, out}, kLong)), weight(empty({taps, out}, kDouble)) {}
  void set(int64_t tap, int64_t i, int64_t place, double w) {
    const int64_t at = tap * index.size(1) + i;
    index.data_ptr<int64_t>()[at] = place;
    weight.data_ptr<double>()[at] = w;
  }
  int64_t count;
  Tensor index, weight;
};

// Keys' cubic convolution kernel with parameter a, at distance x.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

// Positions in float, as PyTorch computes them.
Taps nearest(const Positions& p, bool exact) {
  Taps taps(1, p.out);
  const auto scale = static_cast<float>(p.scale);
  for (int64_t i = 0; i < p.out; ++i) {
    const float at = (static_cast<float>(i) + (exact ? 0.5F : 0.F)) * scale;
    taps.set(0, i, std::min(static_cast<int64_t>(std::floor(at)), p.in - 1), 1);
  }
  return taps;
}

Taps linear(const Positions& p) {
  Taps taps(2, p.out);
  for (int64_t i = 0; i < p.out; ++i) {
    // An axis that keeps its size is copied, whatever the scale factor, as in PyTorch.
    const double at = p.in == p.out ? static_cast<double>(i) : std::max(p.center(i), 0.0);
    const int64_t first = std::min(static_cast<int64_t>(at), p.in - 1);
    const double share = std::min(at - static_cast<double>(first), 1.0);
    taps.set(0, i, first, 1 - share);
    taps.set(1, i, std::min(first + 1, p.in - 1), share);
  }
  return taps;
}

Taps bicubic(const Positions& p) {
  Taps taps(4, p.out);
  for (int64_t i = 0; i < p.out; ++i) {
    const double at = p.center(i);
    const auto first = static_cast<int64_t>(std::floor(at)) - 1;
    for (int64_t k = 0; k < 4; ++k)
      taps.set(k, i, std::clamp<int64_t>(first + k, 0, p.in - 1),
               cubic(at - static_cast<double>(first + k), -0.75));
  }
  return taps;
}

// The triangle or the cubic kernel, stretched over as many pixels as one of the output covers.
Taps antialiased(const Positions& p, bool is_cubic) {
  const double stretch = std::max(p.scale, 1.0), support = (is_cubic ? 2 : 1) * stretch;
  Taps taps(static_cast<int64_t>(std::ceil(support)) * 2 + 1, p.out);
  for (int64_t i = 0; i < p.out; ++i) {
    const double center = p.scale * (static_cast<double>(i) + 0.5);
    const int64_t from = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
    const int64_t to = std::min(static_cast<int64_t>(center + support + 0.5), p.in);
    const auto weight = [&](int64_t place) {
      const double x = (static_cast<double>(place) - center + 0.5) / stretch;
      return is_cubic ? cubic(x, -0.5) : std::max(1 - std::abs(x), 0.0);
    };
    double sum = 0;
    for (int64_t place = from; place < to; ++place) sum += weight(place);
    for (int64_t place = from; place < to; ++place)
      taps.set(place - from, i, place, weight(place) / sum);
    // A tap without a share names a pixel that has one: 0 times NaN is NaN.
    for (int64_t tap = to - from; tap < taps.count; ++tap)
      taps.set(tap, i, std::min(from, p.in - 1), 0);
  }
  return taps;
}

Tensor resampled(const Tensor& x, int64_t dim, const Taps& taps) {
  Tensor out;
  std::vector<int64_t> along(static_cast<size_t>(x.dim()), 1);
  along[static_cast<size_t>(dim)] = -1;
  for (int64_t k = 0; k < taps.count; ++k) {
    const Tensor slice = x.index_select(dim, taps.index[k].to(x.device()));
    if (taps.count == 1) return slice;
    const Tensor part = slice * taps.weight[k].to(x.options()).view(along);
    out = out.defined() ? out + part : part;
  }
  return out;
}

template <class T>
std::string list_text(const std::vector<T>& list) {
  std::ostringstream out;
  for (const T& each : list) out << (out.tellp() == 0 ? "[" : ", ") << each;
  return out.str() + ']';
}

// The sizes of the output; scales get scale_factor where it says where pixels lie.
std::vector<int64_t> output_sizes(const Tensor& input, const InterpolateFuncOptions& options) {
  const int64_t spatial = input.dim() - 2;
  const auto& size = options.size();
  const auto& factor = options.scale_factor();
  check(size || factor, "interpolate: either size or scale_factor should be defined; give one");
  check(!size || !factor,
        "interpolate: only one of size or scale_factor should be defined; leave one out");
  check(!size || static_cast<int64_t>(size->size()) == spatial,
        "interpolate: size shape must match input shape. Input is ", spatial, "D, size is ",
        size ? list_text(*size) : "", "; give a number for each spatial dimension");
  check(!factor || static_cast<int64_t>(factor->size()) == spatial,
        "interpolate: scale_factor shape must match input shape. Input is ", spatial,
        "D, scale_factor size is ", factor ? list_text(*factor) : "",
        "; give a number for each spatial dimension");
  std::vector<int64_t> out;
  for (int64_t d = 0; d < spatial; ++d) {
    const auto i = static_cast<size_t>(d);
    const double scaled = factor ? static_cast<double>(input.size(d + 2)) * (*factor)[i] : 0;
    check(std::abs(scaled) < 0x1p62, "interpolate: scale_factor ", factor ? list_text(*factor) : "",
          " of an input of shape ", input.sizes(), " gives no size; give smaller numbers");
    out.push_back(size ? (*size)[i] : static_cast<int64_t>(std::floor(scaled)));
    check(input.size(d + 2) > 0 && out.back() > 0,
          "interpolate: Input and output sizes should be greater than 0, but the input has shape ",
          input.sizes(), " and the output sizes begin with ", list_text(out),
          "; give larger numbers");
  }
  return out;
}

// A number alone is that of every spatial dimension.
InterpolateFuncOptions spread(InterpolateFuncOptions options, int64_t spatial) {
  const auto count = static_cast<size_t>(spatial);
  if (options.size() && options.size()->size() == 1)
    options.size(std::vector(count, options.size()->front()));
  if (options.scale_factor() && options.scale_factor()->size() == 1)
    options.scale_factor(std::vector(count, options.scale_factor()->front()));
  return options;
}

Tensor area(const Tensor& input, const std::vector<int64_t>& sizes) {
  if (sizes.size() == 1) return adaptive_avg_pool1d(input, sizes);
  return sizes.size() == 2 ? adaptive_avg_pool2d(input, sizes) : adaptive_avg_pool3d(input, sizes);
}

}  // namespace

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& given) {
  const int64_t spatial = input.operand("interpolate").dim() - 2;
  const InterpolateFuncOptions options = spread(given, std::max<int64_t>(spatial, 1));
  const InterpolationMode mode = options.mode();
  check(spatial >= 1 && spatial <= 3,
        "interpolate: Input Error: Only 3D, 4D and 5D input Tensors supported (got ", input.dim(),
        "D) for the modes: nearest | linear | bilinear | bicubic | trilinear (got ", mode.name(),
        "); it is (N, C, spatial dimensions), use unsqueeze");
  const bool aligns = mode.value != Interpolation::Nearest && mode.value != Interpolation::Area;
  check(aligns || !options.align_corners(),
        "interpolate: align_corners option can only be set with the interpolating modes: linear | "
        "bilinear | bicubic | trilinear; leave it out");
  const std::vector<int64_t> sizes = output_sizes(input, options);
  const auto expect_spatial = [&](int64_t expected) {
    check(spatial == expected, "interpolate: Got ", input.dim(), "D input, but ", mode.name(),
          " needs ", expected + 2, "D input; use another mode");
  };
  if (mode.value == Interpolation::Linear) expect_spatial(1);
  if (mode.value == Interpolation::Bilinear || mode.value == Interpolation::Bicubic)
    expect_spatial(2);
  if (mode.value == Interpolation::Trilinear) expect_spatial(3);
  const bool is_cubic = mode.value == Interpolation::Bicubic;
  check(
      !options.antialias() || mode.value == Interpolation::Bilinear || is_cubic,
      "interpolate: antialias option is only supported for bilinear and bicubic, but the mode is ",
      mode.name(), "; leave it out");
  const bool nearest_mode =
      mode.value == Interpolation::Nearest || mode.value == Interpolation::NearestExact;
  check<TypeError>(nearest_mode || input.is_floating_point(), "interpolate: input has dtype ",
                   input.dtype(), ", expected a floating point type for ", mode.name(),
                   "; convert with .to(kFloat)");
  if (mode.value == Interpolation::Area) return area(input, sizes);
  GRADUS_AUTOCAST_AS(upsample, interpolate, input, options);

  Tensor out = nearest_mode ? input : as_computed(input);  // half types are rounded once
  for (int64_t d = 0; d < spatial; ++d) {
    const auto i = static_cast<size_t>(d);
    Positions p{input.size(d + 2), sizes[i], 0, options.align_corners().value_or(false)};
    if (p.align_corners && !nearest_mode)
      p.scale = p.out > 1 ? static_cast<double>(p.in - 1) / static_cast<double>(p.out - 1) : 0;
    else if (options.scale_factor() && !options.recompute_scale_factor().value_or(false))
      p.scale = 1 / (*options.scale_factor())[i];
    else
      p.scale = static_cast<double>(p.in) / static_cast<double>(p.out);
    const Taps taps = nearest_mode          ? nearest(p, mode.value == Interpolation::NearestExact)
                      : options.antialias() ? antialiased(p, is_cubic)
                      : is_cubic            ? bicubic(p)
                                            : linear(p);
    out = resampled(out, d + 2, taps);
  }
  return out.to(input.dtype());
}

}  // namespace functional

void UpsampleImpl::pretty_print(std::ostream& stream) const {
  stream << class_name(typeid(*this)) << '(';
  if (options.scale_factor())
    stream << "scale_factor=" << functional::list_text(*options.scale_factor());
  else if (options.size())
    stream << "size=" << functional::list_text(*options.size());
  stream << ", mode=" << options.mode().name() << ')';
}

Tensor UpsampleImpl::forward(const Tensor& input) {
  check_defined(input, "input");
  return functional::interpolate(input, functional::InterpolateFuncOptions()
                                            .size(options.size())
                                            .scale_factor(options.scale_factor())
                                            .mode(options.mode())
                                            .align_corners(options.align_corners()));
}

}  // namespace gradus::nn
