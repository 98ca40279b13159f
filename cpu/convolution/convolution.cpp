// Backend::convolution on the CPU: chooses the way (convolution.h). The one for few channels makes
// products without a matrix of windows: each sample is copied once, so that its windows lie alike
// (padded_image.h), and the kernels read them where they lie.
//
// The output is weight (filters, taps) * windows (taps, places), a tile of places at a time. The
// gradient of the input is the same product of the turned weight and windows over the gradient of
// the output. The gradient of the weight is grad (filters, places) * windows^T (places, taps), for
// which grad is brought to the layout of the places. Sums have borders that depend on the shapes
// alone.
//
// The ways multiply weights by the zeros of padding, too. An infinite weight would give NaN; the
// gradient of the input then has a way of its own.
#include "gradus/cpu/convolution/convolution.h"

#include "gradus/cpu/backend.h"
#include "gradus/cpu/convolution/padded_image.h"
#include "gradus/cpu/matmul/pack.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/convolution_kernel.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

// Multiplications and additions that are worth a thread.
constexpr int64_t kConvolutionGrain = 1 << 17;

int64_t round_up(int64_t count, int64_t unit) { return divide_up(count, unit) * unit; }

// Products of `rows` filters with windows over some channels, for each sample and group.
template <class T>
struct Correlation {
  PaddedImage image;
  int64_t samples, groups, rows, channels, taps;
  int64_t places[kSpatial];
  const WindowDim (&window)[kSpatial];
  const T *source, *bias;
  T* out;
  int64_t source_plane, out_plane;
};

// Places of an image that a tile covers and that are places of the output, side by side.
struct Segment {
  int64_t lane, count, place;
};

// How places become tiles: as many dimensions as give the fewest are walked as one, across the
// elements between the last place of a line and the first of the next.
template <class T>
class Tiles {
 public:
  Tiles(const Correlation<T>& c, int64_t columns) : c_(c), columns_(columns) {
    int64_t least = INT64_MAX;
    for (int joined = 0; joined < kSpatial; ++joined) {
      int64_t runs = 1, places[] = {1, 1, 1};
      for (int d = 0; d < kSpatial; ++d) (d < 2 - joined ? runs : places[d]) *= c.places[d];
      const int64_t span = c.image.reach(places) + 1, tiles = runs * divide_up(span, columns);
      if (tiles < least) least = tiles, joined_ = joined, span_ = span;
    }
  }

  // f(where the tile begins in the image, its segments)
  template <class F>
  void each(const F& f) const {
    const int64_t depths = joined_ == 2 ? 1 : c_.places[0], lines = joined_ > 0 ? 1 : c_.places[1];
    std::vector<Segment> segments;
    for (int64_t i = 0; i < depths; ++i)
      for (int64_t j = 0; j < lines; ++j)
        for (int64_t first = 0; first < span_; first += columns_) {
          const int64_t begin = (i * c_.image.dim[1].length + j) * c_.image.dim[2].length + first;
          find_segments(begin, std::min(columns_, span_ - first), segments);
          if (!segments.empty()) f(begin, segments);
        }
  }

 private:
  void find_segments(int64_t begin, int64_t count, std::vector<Segment>& out) const {
    const int64_t length = c_.image.dim[2].length, height = c_.image.dim[1].length;
    out.clear();
    for (int64_t lane = 0; lane < count;) {
      const int64_t at = begin + lane, column = at % length, line = at / length;
      const int64_t row = line % height, depth = line / height;
      const int64_t some = std::min(length - column, count - lane);
      if (column < c_.places[2] && row < c_.places[1])
        out.push_back({lane, std::min(some, c_.places[2] - column),
                       (depth * c_.places[1] + row) * c_.places[2] + column});
      lane += some;
    }
  }

  const Correlation<T>& c_;
  int64_t columns_, joined_ = 0, span_ = 0;
};

// One row of few terms, as where each channel is a group: a tile of places would be for several.
template <class T>
bool is_line(const Correlation<T>& c) {
  constexpr int64_t kFewTerms = 64;
  return c.rows == 1 && c.taps <= kFewTerms;
}
// part: a sample's group, whose image is that of c.source. Short lines are computed as one, with
// the elements between them, and copied from `span`.
template <class T>
void correlate_lines(const Correlation<T>& c, int64_t part, const T* weight, const T* image,
                     const std::vector<int64_t>& taps, T* span) {
  constexpr int64_t kLanes = ConvolutionKernel<T>::kLanes;
  const auto line = table_of<ConvolutionKernel<T>>().line;
  const T bias = c.bias ? c.bias[part % c.groups] : T(0);
  const auto& [depth, height, width] = c.places;
  const int64_t length = c.image.dim[2].length, reach = (height - 1) * length + width;
  const bool are_short = divide_up(reach, kLanes) < height * divide_up(width, kLanes);
  T* to = c.out + part * c.out_plane;
  for (int64_t i = 0; i < depth; ++i, image += c.image.dim[1].length * length) {
    if (are_short) line(c.taps, weight, image, taps.data(), bias, round_up(reach, kLanes), span);
    for (int64_t j = 0; j < height; ++j, to += width)
      if (are_short)
        copy_few(span + j * length, width, to);
      else
        line(c.taps, weight, image + j * length, taps.data(), bias, width, to);
  }
}

// weight: rows, in whole steps of the kernel, of each group.
template <class T>
void correlate(const Correlation<T>& c, const T* weight) {
  const auto& kernel = table_of<ConvolutionKernel<T>>();
  const int64_t padded_rows = round_up(c.rows, kernel.step);
  const std::vector<int64_t> taps = c.image.taps(c.channels, c.window, 0);
  const Tiles<T> tiles(c, kernel.columns);
  const int64_t row_tiles = divide_up(c.rows, kernel.rows);
  const int64_t whole = c.samples * c.groups, work = c.rows * c.taps * c.out_plane;
  // Few samples share the threads within each.
  const int64_t cuts =
      std::clamp<int64_t>(std::min<int64_t>(divide_up(thread_count(), whole), row_tiles), 1,
                          std::max<int64_t>(work / kConvolutionGrain, 1));
  const int64_t rows_each = divide_up(row_tiles, cuts) * kernel.rows;
  const int64_t size = c.channels * c.image.channel();
  const int64_t grain = std::max<int64_t>(2 * kConvolutionGrain * cuts / work, 1);
  parallel_for(0, whole * cuts, grain, [&](int64_t begin, int64_t end) {
    const Buffer<T> image(size + kernel.columns),
        tile(is_line(c) ? c.image.image() + kernel.columns : kernel.rows * kernel.columns);
    std::fill_n(image.data(), size + kernel.columns, T(0));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t part = i / cuts, group = part % c.groups;
      const int64_t first = i % cuts * rows_each, last = std::min(first + rows_each, c.rows);
      if (i == begin || i % cuts == 0)
        c.image.copy(c.source + part * c.channels * c.source_plane, c.channels, image.data());
      const T* const a = weight + group * padded_rows * c.taps;
      if (is_line(c)) {
        correlate_lines(c, part, a, image.data(), taps, tile.data());
        continue;
      }
      tiles.each([&](int64_t at, const std::vector<Segment>& segments) {
        for (int64_t row = first; row < last; row += kernel.rows) {
          const int64_t rows = std::min(kernel.rows, last - row);
          kernel.multiply(round_up(rows, kernel.step), c.taps, a + row * c.taps, image.data() + at,
                          taps.data(), tile.data());
          for (int64_t r = 0; r < rows; ++r) {
            const T bias = c.bias ? c.bias[group * c.rows + row + r] : T(0);
            const T* const from = tile.data() + r * kernel.columns;
            T* const to = c.out + (part * c.rows + row + r) * c.out_plane;
            for (const Segment& s : segments)
              for (int64_t k = 0; k < s.count; ++k) to[s.place + k] = from[s.lane + k] + bias;
          }
        }
      });
    }
  });
}

template <class T>
void output_of(const Convolution& s, const T* input, const T* weight, const T* bias, T* out) {
  const int64_t rows = s.group_filters(), channels = s.group_channels(), taps = channels * s.taps();
  const Correlation<T> c = {image_of_input(s),
                            s.batch,
                            s.groups,
                            rows,
                            channels,
                            taps,
                            {s.dim[0].out, s.dim[1].out, s.dim[2].out},
                            s.dim,
                            input,
                            bias,
                            out,
                            s.inputs(),
                            s.outputs()};
  const int64_t padded = round_up(rows, table_of<ConvolutionKernel<T>>().step);
  const Buffer<T> a(s.groups * padded * taps);
  for (int64_t g = 0; g < s.groups; ++g) {
    T* const end = std::copy_n(weight + g * rows * taps, rows * taps, a.data() + g * padded * taps);
    std::fill_n(end, (padded - rows) * taps, T(0));
  }
  correlate(c, a.data());
}

template <class T>
void input_gradient(const Convolution& s, const T* grad, const T* weight, T* out) {
  const int64_t rows = s.group_channels(), filters = s.group_filters(), taps = s.taps();
  const Correlation<T> c = {image_of_output(s),
                            s.batch,
                            s.groups,
                            rows,
                            filters,
                            filters * taps,
                            {s.dim[0].in, s.dim[1].in, s.dim[2].in},
                            s.dim,
                            grad,
                            nullptr,
                            out,
                            s.outputs(),
                            s.inputs()};
  const int64_t padded = round_up(rows, table_of<ConvolutionKernel<T>>().step);
  const Buffer<T> a(s.groups * padded * filters * taps);
  T* to = a.data();
  for (int64_t g = 0; g < s.groups; ++g)
    for (int64_t r = 0; r < padded; ++r)
      for (int64_t f = 0; f < filters; ++f, to += taps) {
        if (r >= rows)
          std::fill_n(to, taps, T(0));
        else
          std::reverse_copy(weight + ((g * filters + f) * rows + r) * taps,
                            weight + ((g * filters + f) * rows + r + 1) * taps, to);
      }
  correlate(c, a.data());
}

// Samples are summed in chunks, whose sums are added up at the end.
template <class T>
void weight_gradient(const Convolution& s, const T* grad, const T* input, T* out) {
  using Kernel = ConvolutionKernel<T>;
  constexpr int64_t kMostChunks = 16, kMostSums = 1 << 22, kBatchBytes = 1 << 17;
  // A fold of fewer lanes spends its time on adding them up, so that small images are folded
  // together beyond a cache of kBatchBytes.
  constexpr int64_t kFewLanes = 1024, kMostBytes = 1 << 23, kPieceBytes = 1 << 20;
  const Kernel& kernel = table_of<Kernel>();
  const PaddedImage image = image_of_input(s);
  const int64_t places[] = {s.dim[0].out, s.dim[1].out, s.dim[2].out};
  const int64_t rows = s.group_filters(), channels = s.group_channels(), taps = channels * s.taps();
  // Whole steps of any set. One row, as where each channel is a group, has a kernel of its own.
  const int64_t row_step = rows == 1 ? 1 : 4;
  const int64_t all_rows = round_up(rows, row_step), all_taps = round_up(taps, rows == 1 ? 18 : 6);
  const int64_t fold_rows = rows == 1 ? 1 : kernel.fold_rows,
                fold_taps = rows == 1 ? kernel.line_taps : kernel.fold_taps;
  const auto fold = rows == 1 ? kernel.fold_line : kernel.fold;
  const std::vector<int64_t> offsets = image.taps(channels, s.dim, all_taps - taps);
  const int64_t span = round_up(image.reach(places) + 1, Kernel::kLanes);
  const int64_t size = channels * image.channel();
  const int64_t sums = s.groups * all_rows * all_taps;
  const int64_t work = s.filters * taps * s.outputs();
  const int64_t most_chunks = std::max(kMostChunks / s.groups, int64_t{1});
  const int64_t chunk = std::max({divide_up(s.batch, most_chunks), kConvolutionGrain / work,
                                  divide_up(s.batch * sums, kMostSums), int64_t{1}});
  const int64_t chunks = divide_up(s.batch, chunk);
  const int64_t each = (size + all_rows * span) * static_cast<int64_t>(sizeof(T));
  // Windows of one element: images and gradients lie as they are to be read.
  const bool as_given = image.channel() == s.inputs() && span == s.outputs() &&
                        s.inputs() == span && all_rows == rows;
  const int64_t at_once =
      as_given ? 1
               : std::clamp<int64_t>(
                     std::max(kBatchBytes / each, std::min(kFewLanes / span, kMostBytes / each)), 1,
                     chunk);
  // Places that are folded at once, so that a cache holds them for all rows and taps.
  const int64_t piece = round_up(divide_up(span, divide_up(each, kPieceBytes)), Kernel::kLanes);
  const Buffer<T> partial(chunks * sums);
  const int64_t row_tiles = all_rows / row_step;
  const int64_t cuts = std::min(divide_up(thread_count(), chunks * s.groups), row_tiles);
  const int64_t rows_each = divide_up(row_tiles, cuts) * row_step;
  parallel_for(0, chunks * s.groups * cuts, 1, [&](int64_t begin, int64_t end) {
    const int64_t image_size = size + Kernel::kLanes;
    const int64_t copies = as_given ? 0 : at_once;
    const Buffer<T> images(copies * image_size), grads(copies * all_rows * span);
    std::fill_n(images.data(), copies * image_size, T(0));
    std::fill_n(grads.data(), copies * all_rows * span, T(0));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t cut = i % cuts, group = i / cuts % s.groups, c = i / cuts / s.groups;
      const int64_t first_row = cut * rows_each,
                    end_row = std::min(first_row + rows_each, all_rows);
      T* const to = partial.data() + (c * s.groups + group) * all_rows * all_taps;
      if (first_row >= end_row) continue;
      std::fill(to + first_row * all_taps, to + end_row * all_taps, T(0));
      const int64_t last = std::min((c + 1) * chunk, s.batch);
      for (int64_t first = c * chunk; first < last; first += at_once) {
        const int64_t count = std::min(at_once, last - first),
                      first_part = first * s.groups + group;
        for (int64_t n = 0; n < count && !as_given; ++n) {
          const int64_t part = (first + n) * s.groups + group;
          image.copy(input + part * channels * s.inputs(), channels,
                     images.data() + n * image_size);
          for (int64_t r = first_row; r < std::min(end_row, rows); ++r) {
            const T* from = grad + (part * rows + r) * s.outputs();
            T* const line = grads.data() + (n * all_rows + r) * span;
            for (int64_t j = 0; j < places[0]; ++j)
              for (int64_t k = 0; k < places[1]; ++k, from += places[2])
                copy_along(from, places[2],
                           line + (j * image.dim[1].length + k) * image.dim[2].length);
          }
        }
        const T* const a = as_given ? grad + first_part * rows * span : grads.data();
        const T* const b = as_given ? input + first_part * size : images.data();
        for (int64_t p = 0; p < span; p += piece)
          for (int64_t t = 0; t < taps; t += fold_taps)
            for (int64_t r = first_row; r < end_row; r += fold_rows)
              fold(count, std::min(piece, span - p), a + r * span + p, all_rows * span, span, b + p,
                   image_size, offsets.data() + t, to + r * all_taps + t, all_taps);
      }
    }
  });
  parallel_for(0, s.filters, divide_up(kGrain, taps), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row)
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t at = (row / rows * all_rows + row % rows) * all_taps + t;
        T sum = partial.data()[at];
        for (int64_t c = 1; c < chunks; ++c) sum += partial.data()[c * sums + at];
        out[row * taps + t] = sum;
      }
  });
}

template <class T>
bool is_finite(const T* x, int64_t count) {
  T sum = 0;  // of zeros, or NaN
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += x[i] * T(0);
  return sum == 0;
}

// Adds each product of an element of grad and one of the weight where it belongs, and no other.
template <class T>
void scatter_products(const Convolution& s, const T* grad, const T* weight, T* out) {
  const int64_t channels = s.group_channels(), filters = s.group_filters(), taps = s.taps();
  const WindowDim(&w)[kSpatial] = s.dim;
  parallel_for(0, s.batch * s.channels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t sample = plane / s.channels, channel = plane % s.channels;
      const int64_t first = channel / channels * filters;
      T* const to = out + plane * s.inputs();
      std::fill_n(to, s.inputs(), T(0));
      for (int64_t filter = first; filter < first + filters; ++filter) {
        const T* from = grad + (sample * s.filters + filter) * s.outputs();
        const T* const kernel = weight + (filter * channels + channel % channels) * taps;
        for (int64_t i = 0; i < w[0].out; ++i)
          for (int64_t j = 0; j < w[1].out; ++j)
            for (int64_t k = 0; k < w[2].out; ++k, ++from) {
              const int64_t at[] = {i, j, k};
              for (int64_t t = 0; t < taps; ++t) {
                const int64_t tap[] = {t / w[2].kernel / w[1].kernel, t / w[2].kernel % w[1].kernel,
                                       t % w[2].kernel};
                int64_t place = 0;
                bool inside = true;
                for (int d = 0; d < kSpatial; ++d) {
                  const int64_t q = at[d] * w[d].stride + tap[d] * w[d].dilation - w[d].padding;
                  inside &= q >= 0 && q < w[d].in;
                  place = place * w[d].in + q;
                }
                if (inside) to[place] += *from * kernel[t];
              }
            }
      }
    }
  });
}

template <class T>
const ConvolutionWay<T>& way_of(const Convolution& s) {
  static constexpr ConvolutionWay<T> in_place = {output_of<T>, input_gradient<T>,
                                                 weight_gradient<T>};
  const ConvolutionWay<T>* way = direct_way<T>(s);
  if constexpr (std::is_same_v<T, float>)
    if (!way) way = winograd_way(s);
  if (!way) way = unfolded_way<T>(s);
  return way ? *way : in_place;
}

}  // namespace

void CpuBackend::convolution(ConvolutionPass part, const Convolution& shape, const Tensor& a,
                             const Tensor& b, const Tensor& bias, const Tensor& out) {
  visit_floating("convolution", out.dtype(), [&]<class T>(TypeTag<T>) {
    const T *x = static_cast<const T*>(a.data_ptr()), *y = static_cast<const T*>(b.data_ptr());
    T* const to = static_cast<T*>(out.data_ptr());
    const ConvolutionWay<T>& way = way_of<T>(shape);
    switch (part) {
      case ConvolutionPass::fprop:
        return way.output(shape, x, y,
                          bias.defined() ? static_cast<const T*>(bias.data_ptr()) : nullptr, to);
      case ConvolutionPass::dgrad:
        return (is_finite(y, b.numel()) ? way.input : scatter_products<T>)(shape, x, y, to);
      case ConvolutionPass::wgrad:
        return (way.weight ? way.weight : weight_gradient<T>)(shape, x, y, to);
    }
  });
}

}  // namespace gradus::cpu
