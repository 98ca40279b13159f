// grid_sample: sums over the pixels around each place; affine_grid.
#include "gradus/nn/modules/sampling.h"
#include "gradus/autograd/engine/cast_operands.h"

#include <algorithm>
#include <cctype>

namespace gradus::nn::functional {

namespace {

// One of the pixels around each place, along one dimension.
struct Tap {
  Tensor at;      // whole numbers, as floating point
  Tensor weight;  // undefined: 1
};

// One dimension of the input.
struct Axis {
  double size;
  PaddingMode padding;
  bool align_corners;

  // Places in [-1, 1], as pixels.
  Tensor pixels(const Tensor& x) const {
    return align_corners ? (x + 1) * ((size - 1) / 2) : ((x + 1) * size - 1) / 2;
  }
  // Places moved into the picture. A place at the first or the last one gets no gradient: the pixel
  // behind it, which the derivative would take, is not there.
  Tensor within(const Tensor& x) const {
    const Tensor bounded = x.detach().clamp(0, size - 1);
    return where((x > 0).logical_and(x < size - 1), x, bounded);
  }
  // Places beyond the border, put where they are read.
  Tensor padded(const Tensor& x) const {
    if (padding == kBorder) return within(x);
    if (padding != kReflection) return x;
    const double low = align_corners ? 0 : -0.5, span = align_corners ? size - 1 : size;
    if (span == 0) return x * 0;
    const Tensor from_low = (x - low).abs(), rest = from_low.remainder(span);
    const Tensor is_odd = (from_low / span).detach().floor().remainder(2).ne(0);
    return within(where(is_odd, span - rest, rest) + low);
  }

  std::vector<Tap> taps(const Tensor& grid, Interpolation mode) const {
    const Tensor x = pixels(grid);
    if (mode == Interpolation::Nearest) return {{padded(x).round(), {}}};
    if (mode == Interpolation::Bicubic) return cubic_taps(x);
    const Tensor place = padded(x), first = place.detach().floor(), share = place - first;
    return {{first, 1 - share}, {first + 1, share}};
  }
  // Keys' cubic convolution with a = -0.75.
  std::vector<Tap> cubic_taps(const Tensor& x) const {
    const Tensor first = x.detach().floor(), t = x - first;
    const double a = -0.75;
    const auto near = [&](const Tensor& s) { return ((a + 2) * s - (a + 3)) * s * s + 1; };
    const auto far = [&](const Tensor& s) { return (((s - 5) * s + 8) * s - 4) * a; };
    return {{padded(first - 1), far(t + 1)},
            {padded(first), near(t)},
            {padded(first + 1), near(1 - t)},
            {padded(first + 2), far(2 - t)}};
  }
};

// Adds to `out` the pixels of all combinations of taps from dimension d on. index: places in the
// rows of `image`; weight: that of the dimensions before d, undefined where it is 1.
void add_taps(Tensor& out, const Tensor& image, const std::vector<std::vector<Tap>>& taps,
              const std::vector<Axis>& axes, size_t d, const Tensor& index, const Tensor& weight) {
  if (d == taps.size()) {
    const Tensor rows = index.flatten(1).unsqueeze(1).expand({-1, image.size(1), -1});
    Tensor part = image.gather(2, rows);
    if (weight.defined()) part = part * weight.flatten(1).unsqueeze(1);
    out = out.defined() ? out + part : part;
    return;
  }
  for (const Tap& tap : taps[d]) {
    const double last = axes[d].size - 1;
    const Tensor inside = tap.at.ge(0).logical_and(tap.at.le(last));  // NaN is outside
    Tensor w =
        tap.weight.defined() ? where(inside, tap.weight, 0) : inside.to(tap.at.scalar_type());
    if (weight.defined()) w = weight * w;
    const Tensor at = where(inside, tap.at.detach(), 0).to(kLong);
    add_taps(out, image, taps, axes, d + 1,
             index.defined() ? index * static_cast<int64_t>(axes[d].size) + at : at, w);
  }
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options) {
  GRADUS_AUTOCAST(grid_sample, input, grid, options);
  input.operand("grid_sample");
  grid.operand("grid_sample");
  const int64_t spatial = input.dim() - 2;
  const Interpolation mode = options.mode().value;
  check(spatial == 2 || spatial == 3,
        "grid_sample: expected 4D or 5D input, but got input with sizes ", input.sizes(),
        "; reshape it to (N, C, H, W) or (N, C, D, H, W)");
  check(grid.dim() == input.dim() && grid.size(0) == input.size(0) && grid.size(-1) == spatial,
        "grid_sample: expected grid of shape [", input.size(0), ", ..., ", spatial,
        "] with as many dimensions as input, ", input.dim(), ", but it has shape ", grid.sizes(),
        "; affine_grid() makes one");
  check(mode == Interpolation::Bilinear || mode == Interpolation::Nearest ||
            (mode == Interpolation::Bicubic && spatial == 2),
        "grid_sample: mode is ", options.mode().name(),
        ", expected kBilinear, kNearest or, in two dimensions, kBicubic; choose one of them");
  check(
      options.padding_mode() != kCircular,
      "grid_sample: padding_mode is kCircular, expected kZeros, kBorder or kReflection; choose one "
      "of them");
  std::vector<Axis> axes;
  std::vector<std::vector<Tap>> taps;
  for (int64_t d = 0; d < spatial; ++d) {
    check(input.size(d + 2) > 0,
          "grid_sample: expected input to have non-empty spatial "
          "dimensions, but input has sizes ",
          input.sizes(), "; give images of a pixel at least");
    axes.push_back({static_cast<double>(input.size(d + 2)), options.padding_mode(),
                    options.align_corners().value_or(false)});
    taps.push_back(axes.back().taps(grid.select(-1, spatial - 1 - d), mode));  // x is the last one
  }
  Tensor out;
  add_taps(out, input.flatten(2), taps, axes, 0, {}, {});
  std::vector<int64_t> shape{input.size(0), input.size(1)};
  for (int64_t d = 1; d <= spatial; ++d) shape.push_back(grid.size(d));
  return out.view(shape);
}

Tensor affine_grid(const Tensor& theta, IntArrayRef size, bool align_corners) {
  GRADUS_AUTOCAST(affine_grid, theta, size, align_corners);
  theta.operand("affine_grid");
  check(theta.is_floating_point(),
        "affine_grid: Expected theta to have floating point type, but got ",
        lower(toString(theta.scalar_type())), "; convert it with .to(kFloat)");
  check(std::all_of(size.begin(), size.end(), [](int64_t n) { return n > 0; }),
        "affine_grid: Expected non-zero, positive output size. Got ", size,
        "; give the size of the output, (N, C, H, W) or (N, C, D, H, W)");
  const auto spatial = static_cast<int64_t>(size.size()) - 2;
  check(spatial == 2 || spatial == 3,
        "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
        "respectively. Got size ",
        size, "; give (N, C, H, W) or (N, C, D, H, W)");
  check(theta.dim() == 3 && theta.size(1) == spatial && theta.size(2) == spatial + 1 &&
            theta.size(0) == size[0],
        "affine_grid: Expected a batch of ", spatial, "D affine matrices of shape Nx", spatial, "x",
        spatial + 1, " for size ", size, ". Got ", theta.sizes(), ". Expand one to N = ", size[0]);
  // Places (x, y, 1) of all pixels.
  std::vector<int64_t> shape(size.begin() + 2, size.end());
  Tensors places;
  for (int64_t d = spatial; d-- > 0;) {
    const int64_t n = shape[static_cast<size_t>(d)];
    Tensor along = n == 1 ? zeros({1}, theta.options().requires_grad(false))
                          : linspace(-1, 1, n, theta.options().requires_grad(false));
    if (!align_corners) along = along * (static_cast<double>(n - 1) / static_cast<double>(n));
    std::vector<int64_t> one(static_cast<size_t>(spatial), 1);
    one[static_cast<size_t>(d)] = n;
    places.push_back(along.view(one).expand(shape));
  }
  places.push_back(ones_like(places[0]));
  const Tensor base = stack(places, -1).view({1, -1, spatial + 1}).expand({size[0], -1, -1});
  shape.insert(shape.begin(), size[0]);
  shape.push_back(spatial);
  return base.bmm(theta.transpose(1, 2)).view(shape);
}

}  // namespace gradus::nn::functional
