// Convolutions of 3 x 3 elements by Winograd's F(2 x 2, 3 x 3): Lavin and Gray, "Fast algorithms
// for convolutional neural networks" (2016). Tiles of 2 x 2 outputs take 16 multiplications of each
// channel instead of 36. Tiles and weights are brought to 16 points, and a matrix product at each
// of them sums over the channels. All factors are 1 and 1/2, so that rounding stays what it is.
//
// The lines of tiles of all samples are taken in blocks, whose points stay in a cache. Sums have
// borders that depend on the shapes alone.
#include <algorithm>

#include "gradus/cpu/convolution/convolution.h"
#include "gradus/cpu/convolution/padded_image.h"
#include "gradus/cpu/matmul/product.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/winograd_loops.h"
#include "gradus/tensor/base/batch_invariant.h"

namespace gradus::cpu {

namespace {

// The library's own kernels multiply: BLAS may sum in another order where a product is cut.
void multiply_points(const Product<float>& p) {
  multiply_packed(p, table_of<MicroKernel<float>>());
}

constexpr int64_t kLanes = WinogradLoops::kLanes, kPoints = WinogradLoops::kPoints;

// How a plane lies below the tiles of a sample: `lines` of `tiles`.
struct TiledPlane {
  int64_t height, width;  // of the plane
  int64_t above, before;  // zeros in front of it
  int64_t lines, tiles;

  int64_t elements() const { return height * width; }
};

// The tiles of a convolution's output, or of the gradient of its input, and what they see.
TiledPlane seen_by_output(const Convolution& s) {
  return {s.dim[1].in,
          s.dim[2].in,
          s.dim[1].padding,
          s.dim[2].padding,
          divide_up(s.dim[1].out, 2),
          divide_up(s.dim[2].out, 2)};
}
TiledPlane seen_by_input(const Convolution& s) {
  return {s.dim[1].out,
          s.dim[2].out,
          2 - s.dim[1].padding,
          2 - s.dim[2].padding,
          divide_up(s.dim[1].in, 2),
          divide_up(s.dim[2].in, 2)};
}
TiledPlane output_itself(const Convolution& s) {
  TiledPlane plane = seen_by_output(s);
  plane.height = s.dim[1].out, plane.width = s.dim[2].out, plane.above = plane.before = 0;
  return plane;
}

// Lines of tiles, of all samples.
struct Block {
  int64_t first, last;
};

// f(sample, the lines of it) for each sample of the block.
template <class F>
void for_samples(const Block& block, int64_t lines, const F& f) {
  for (int64_t line = block.first, next; line < block.last; line = next) {
    const int64_t sample = line / lines;
    next = std::min(block.last, (sample + 1) * lines);
    f(sample, Block{line - sample * lines, next - sample * lines});
  }
}

// The copy of a plane in which tiles lie alike, without the zeros around the plane: every second
// line, and those between them. Short lines of tiles lie side by side, so that they share vectors.
// Then the last two columns of a tile are the first two of the next one no longer, and come from a
// second copy.
class TiledCopy {
 public:
  // Tiles overlap by `overlap`.
  TiledCopy(const TiledPlane& of, int64_t overlap)
      : plane(of),
        reach(overlap),
        is_dense(2 * plane.tiles <= kLanes),
        pitch(is_dense ? 2 * plane.tiles : 2 * divide_up(plane.tiles, kLanes) * kLanes + overlap),
        size((plane.lines + overlap / 2) * pitch + 2 * kLanes),
        at{is_dense ? 2 * size : size, pitch, is_dense ? size : 2},
        memory(2 * at.odd) {
    std::fill_n(memory.data(), 2 * at.odd, 0.0f);
  }

  // The lines of tiles of a plane x.
  void copy(const float* x, const Block& lines) const {
    const int64_t first = std::max<int64_t>(2 * lines.first - plane.above, 0);
    const int64_t last = std::min(2 * lines.last + reach - plane.above, plane.height);
    const int64_t begin = std::max<int64_t>(2 - plane.before, 0);
    for (int64_t i = first; i < last; ++i) {
      const int64_t line = i + plane.above;
      const float* const from = x + i * plane.width;
      float* const to = memory.data() + line % 2 * at.odd + line / 2 * pitch + plane.before;
      copy_along(from, std::min(plane.width, pitch - plane.before), to);
      if (is_dense && reach > 0)
        copy_along(from + begin, std::min(plane.width, pitch + 2 - plane.before) - begin,
                   to + at.right + begin - 2);
    }
  }
  // f(tiles, where they lie) for those lines, a vector's tiles or more at a time.
  template <class F>
  void each(const Block& lines, const F& f) const {
    if (is_dense)
      return f((lines.last - lines.first) * plane.tiles, memory.data() + lines.first * pitch);
    for (int64_t i = lines.first; i < lines.last; ++i) f(plane.tiles, memory.data() + i * pitch);
  }

  const TiledPlane& plane;
  int64_t reach;
  bool is_dense;
  int64_t pitch, size;  // of a line of tiles, of a copy
  TileLines at;

 private:
  Buffer<float> memory;
};

// Points of the tiles of a block, for some channels: out[point][channel][tile], `row` tiles apart.
// x: the first sample's channels; others are `sample` elements apart. Tiles overlap by `overlap`.
void bring_to_points(void (*loop)(int64_t, const float*, const TileLines&, float*, int64_t),
                     const TiledPlane& plane, int64_t overlap, const Block& block, const float* x,
                     int64_t sample, int64_t channels, int64_t row, float* out) {
  const TiledCopy copy(plane, overlap);
  for (int64_t c = 0; c < channels; ++c, out += row) {
    float* to = out;  // a line's last vector reaches over its end, and the next line follows
    for_samples(block, plane.lines, [&](int64_t s, const Block& lines) {
      copy.copy(x + s * sample + c * plane.elements(), lines);
      copy.each(lines, [&](int64_t tiles, const float* seen) {
        loop(tiles, seen, copy.at, to, channels * row);
        to += tiles;
      });
    });
  }
}

// Elements of a row of a block's tiles, with place for what a vector reaches over its end.
int64_t row_of(int64_t tiles) { return divide_up(tiles + kLanes - 1, kLanes) * kLanes; }

// Lines of tiles of a block, by the channels of its points.
int64_t lines_of_block(const TiledPlane& plane, int64_t channels, int64_t bytes, int64_t least,
                       int64_t most) {
  const int64_t fit = bytes / (kPoints * channels * static_cast<int64_t>(sizeof(float)));
  return std::max<int64_t>(std::clamp(fit, least, most) / plane.tiles, 1);
}

// out (rows) = weight (rows, depth) * x (depth), for each sample and group.
struct Tiling {
  TiledPlane plane;
  int64_t samples, groups, rows, depth, height, width;  // of the output
};

// points: of weights, [group][point][row][depth].
void correlate_tiles(const Tiling& t, const float* x, const float* points, const float* bias,
                     float* out) {
  constexpr int64_t kBytes = 1 << 20, kLeast = 64, kMost = 256, kFewRows = 48;
  const WinogradLoops& loops = table_of<WinogradLoops>();
  const TiledPlane& plane = t.plane;
  const int64_t all = t.samples * plane.lines;
  const int64_t each = lines_of_block(plane, t.rows + t.depth, kBytes, kLeast, kMost);
  const int64_t blocks = divide_up(all, each), row = row_of(each * plane.tiles);
  const int64_t length = 2 * row;  // of the lines of a sample's outputs, side by side
  // Few blocks share the threads within each.
  const int64_t cuts =
      std::min(divide_up(thread_count(), blocks * t.groups), divide_up(t.rows, kFewRows));
  const int64_t cut = divide_up(t.rows, cuts);
  parallel_for(0, blocks * t.groups * cuts, 1, [&](int64_t i, int64_t) {
    const int64_t group = i / cuts % t.groups, first_row = i % cuts * cut;
    const int64_t rows = std::min(cut, t.rows - first_row), begin = i / cuts / t.groups * each;
    if (rows <= 0) return;
    const Block block{begin, std::min(begin + each, all)};
    const Buffer<float> seen(kPoints * t.depth * row), made(kPoints * rows * row);
    const Buffer<float> lines(2 * length);
    bring_to_points(loops.input, plane, 2, block, x + group * t.depth * plane.elements(),
                    t.groups * t.depth * plane.elements(), t.depth, row, seen.data());
    for (int64_t k = 0; k < kPoints; ++k)
      multiply_points(
          Product<float>{rows, (block.last - block.first) * plane.tiles, t.depth,
                         points + ((group * kPoints + k) * t.rows + first_row) * t.depth,
                         seen.data() + k * t.depth * row, nullptr, made.data() + k * rows * row,
                         t.depth, 1, row, 1, 0, 0, row, 1});
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t filter = group * t.rows + first_row + r;
      const float* from = made.data() + r * row;
      for_samples(block, plane.lines, [&](int64_t s, const Block& some) {
        float* const to = out + (s * t.groups * t.rows + filter) * t.height * t.width;
        const int64_t tiles = (some.last - some.first) * plane.tiles;
        loops.output(tiles, from, rows * row, bias ? bias[filter] : 0, lines.data(), length);
        from += tiles;
        for (int64_t y = 2 * some.first; y < std::min(2 * some.last, t.height); ++y)
          copy_along(lines.data() + y % 2 * length + (y / 2 - some.first) * 2 * plane.tiles,
                     t.width, to + y * t.width);
      });
    }
  });
}

// The points of `groups` times `rows` times `depth` weights.
Buffer<float> points_of_weights(int64_t groups, int64_t rows, int64_t depth, const float* weight,
                                int64_t row_step, int64_t depth_step, bool turned) {
  // A piece's, since each row of turned weights reads some bytes of as many lines of memory.
  constexpr int64_t kDepths = 64, kRows = 64;
  const WinogradLoops& loops = table_of<WinogradLoops>();
  Buffer<float> points(groups * kPoints * rows * depth);
  const int64_t across = divide_up(depth, kDepths), pieces = divide_up(rows, kRows) * across;
  parallel_for(0, groups * pieces, 1, [&](int64_t i, int64_t) {
    const int64_t group = i / pieces, first = i % across * kDepths;
    const int64_t top = i % pieces / across * kRows;
    for (int64_t r = top; r < std::min(top + kRows, rows); ++r)
      loops.weight(std::min(kDepths, depth - first),
                   weight + group * rows * depth * 9 + r * row_step + first * depth_step,
                   depth_step, turned, points.data() + (group * kPoints * rows + r) * depth + first,
                   rows * depth);
  });
  return points;
}

void winograd_output(const Convolution& s, const float* input, const float* weight,
                     const float* bias, float* out) {
  const int64_t rows = s.group_filters(), depth = s.group_channels();
  const Buffer<float> points =
      points_of_weights(s.groups, rows, depth, weight, 9 * depth, 9, false);
  correlate_tiles({seen_by_output(s), s.batch, s.groups, rows, depth, s.dim[1].out, s.dim[2].out},
                  input, points.data(), bias, out);
}

void winograd_input(const Convolution& s, const float* grad, const float* weight, float* out) {
  const int64_t rows = s.group_channels(), depth = s.group_filters();
  const Buffer<float> points = points_of_weights(s.groups, rows, depth, weight, 9, 9 * rows, true);
  correlate_tiles({seen_by_input(s), s.batch, s.groups, rows, depth, s.dim[1].in, s.dim[2].in},
                  grad, points.data(), nullptr, out);
}

// Blocks are summed in chunks, whose sums are added up at the end.
void winograd_weight(const Convolution& s, const float* grad, const float* input, float* out) {
  constexpr int64_t kMostChunks = 16, kMostSums = 1 << 22, kChunkTiles = 512, kFewRows = 48;
  constexpr int64_t kBytes = 1 << 21, kLeast = 128, kMost = 512;
  const WinogradLoops& loops = table_of<WinogradLoops>();
  const TiledPlane seen = seen_by_output(s), made = output_itself(s);
  const int64_t rows = s.group_filters(), channels = s.group_channels();
  const int64_t all = s.batch * seen.lines, sums = s.groups * kPoints * rows * channels;
  const int64_t chunk = std::max({divide_up(all, kMostChunks), divide_up(kChunkTiles, seen.tiles),
                                  divide_up(all * sums, kMostSums)});
  const int64_t chunks = divide_up(all, chunk);
  const int64_t each =
      std::min(chunk, lines_of_block(seen, rows + channels, kBytes, kLeast, kMost));
  const int64_t row = row_of(each * seen.tiles);
  const int64_t cuts =
      std::min(divide_up(thread_count(), chunks * s.groups), divide_up(rows, kFewRows));
  const int64_t cut = divide_up(rows, cuts);
  const Buffer<float> partial(chunks * sums + kLanes);
  parallel_for(0, chunks * s.groups * cuts, 1, [&](int64_t i, int64_t) {
    const int64_t group = i / cuts % s.groups, first_row = i % cuts * cut;
    const int64_t some = std::min(cut, rows - first_row), c = i / cuts / s.groups;
    if (some <= 0) return;
    const Buffer<float> x(kPoints * channels * row), y(kPoints * some * row);
    float* const to = partial.data() + c * sums + (group * kPoints * rows + first_row) * channels;
    const int64_t end = std::min((c + 1) * chunk, all);
    for (int64_t begin = c * chunk; begin < end; begin += each) {
      const Block block{begin, std::min(begin + each, end)};
      bring_to_points(loops.input, seen, 2, block, input + group * channels * s.inputs(),
                      s.channels * s.inputs(), channels, row, x.data());
      bring_to_points(loops.grad, made, 0, block, grad + (group * rows + first_row) * s.outputs(),
                      s.filters * s.outputs(), some, row, y.data());
      for (int64_t k = 0; k < kPoints; ++k) {
        float* const sum = to + k * rows * channels;
        multiply_points(Product<float>{some, channels, (block.last - block.first) * seen.tiles,
                                       y.data() + k * some * row, x.data() + k * channels * row,
                                       begin > c * chunk ? sum : nullptr, sum, row, 1, 1, row,
                                       channels, 1, channels, 1});
      }
    }
  });
  parallel_for(0, s.filters, divide_up(kGrain, 16 * channels), [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r)
      loops.weight_grad(channels,
                        partial.data() + (r / rows * kPoints * rows + r % rows) * channels,
                        rows * channels, chunks, sums, out + r * channels * 9);
  });
}

}  // namespace

const ConvolutionWay<float>* winograd_way(const Convolution& s) {
  constexpr int64_t kFewChannels = 32, kFewTiles = 64;
  static constexpr ConvolutionWay<float> way = {winograd_output, winograd_input, winograd_weight};
  const bool many =
      detail::batch_invariant() ? s.outputs() >= kFewTiles : s.batch * s.outputs() >= 4 * kFewTiles;
  bool takes = s.spatial == 2 && s.group_channels() >= kFewChannels &&
               s.group_filters() >= kFewChannels && many;
  for (const int d : {1, 2}) {
    const WindowDim& w = s.dim[d];
    takes = takes && w.kernel == 3 && w.stride == 1 && w.dilation == 1 && w.padding <= 2;
  }
  return takes ? &way : nullptr;
}

}  // namespace gradus::cpu
