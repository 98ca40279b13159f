// Convolutions by im2col: products with a matrix of windows, (channels and taps, places), into
// which those of some samples are copied. Many filters outweigh the copy. The product does not mind
// how short the lines of an image are, nor a stride. The gradient of the input adds a product of
// that form to the elements that each window saw. Windows that lie apart within the image are
// copied from it, and each element has one of them at most. Windows of one element that move by 1
// are no copy: the image is their matrix.
#include <algorithm>

#include "gradus/cpu/convolution/convolution.h"
#include "gradus/cpu/convolution/padded_image.h"
#include "gradus/cpu/matmul/pack.h"
#include "gradus/cpu/matmul/product.h"
#include "gradus/cpu/parallel.h"

namespace gradus::cpu {

namespace {

constexpr int64_t kFewPlaces = 256;  // of a product of several samples
constexpr int64_t kPlacesOfMatrix = 128;
constexpr int64_t kFewOfCut = 16;  // filters or channels
constexpr int64_t kFewRows = 32, kFewColumns = 64;

// The library's own kernels multiply: BLAS may sum in another order where a product is cut.
template <class T>
void multiply_unfolded(const Product<T>& p) {
  multiply_packed(p, table_of<MicroKernel<T>>());
}

// No padding, and no element in two windows.
bool windows_lie_apart(const Convolution& s) {
  return std::all_of(s.dim, s.dim + kSpatial, [](const WindowDim& w) {
    return w.padding == 0 && w.stride > (w.kernel - 1) * w.dilation;
  });
}

// An image of many places is a product of its own, which needs no copy of the gradient or the
// result. Fewer places are enough where the image needs none, too.
bool is_one_product(const Convolution& s) {
  const bool is_matrix = s.inputs() == s.outputs() && windows_lie_apart(s);
  return s.outputs() >= (is_matrix ? kPlacesOfMatrix : kFewPlaces);
}

// The windows of samples, channel by channel.
template <class T>
struct Windows {
  explicit Windows(const Convolution& shape)
      : s(shape),
        apart(windows_lie_apart(s)),
        are_rows(apart && s.inputs() == s.outputs() && is_one_product(s)),
        image(image_of_input(s)),
        taps(apart ? std::vector<int64_t>{} : image.taps(1, s.dim, 0)) {}

  // f(where a line of places of tap t is seen in the image of a channel, where it lies in the row)
  template <class F>
  void each_line(int64_t tap, const F& f) const {
    int64_t at = 0;
    for (int64_t i = 0; i < s.dim[0].out; ++i)
      for (int64_t j = 0; j < s.dim[1].out; ++j, at += s.dim[2].out)
        f(taps[static_cast<size_t>(tap)] + (i * image.dim[1].length + j) * image.dim[2].length, at);
  }

  // f(row, element of the channels, where it lies in the row) for each line of windows that
  // lie apart, whose elements are a stride apart.
  template <class F>
  void each_line_apart(int64_t channels, const F& f) const {
    const auto& [d0, d1, d2] = s.dim;
    int64_t row = 0;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < d0.kernel; ++i)
        for (int64_t j = 0; j < d1.kernel; ++j)
          for (int64_t k = 0; k < d2.kernel; ++k, ++row)
            for (int64_t o0 = 0, at = 0; o0 < d0.out; ++o0)
              for (int64_t o1 = 0; o1 < d1.out; ++o1, at += d2.out) {
                const int64_t line = (c * d0.in + o0 * d0.stride + i * d0.dilation) * d1.in +
                                     o1 * d1.stride + j * d1.dilation;
                f(row, line * d2.in + k * d2.dilation, at);
              }
  }

  // rows (channels and taps, `row` apart) of a sample's channels x.
  void unfold(const T* x, int64_t channels, T* rows, int64_t row) const {
    const int64_t count = s.dim[2].out, stride = s.dim[2].stride;
    if (apart)
      return each_line_apart(channels, [&](int64_t r, int64_t seen, int64_t at) {
        copy_line(x + seen, count, stride, rows + r * row + at, 1);
      });
    const Buffer<T> copy(image.channel());
    std::fill_n(copy.data(), image.channel(), T(0));
    for (int64_t c = 0; c < channels; ++c, x += s.inputs()) {
      image.copy(x, 1, copy.data());
      for (int64_t t = 0; t < s.taps(); ++t, rows += row)
        each_line(
            t, [&](int64_t seen, int64_t at) { copy_few(copy.data() + seen, count, rows + at); });
    }
  }
  // The rows of `samples` samples from x on, where they lie or in `unfolded`.
  const T* rows(const T* x, int64_t samples, int64_t channels, T* unfolded, int64_t row) const {
    if (are_rows) return x;
    for (int64_t n = 0; n < samples; ++n)
      unfold(x + n * s.channels * s.inputs(), channels, unfolded + n * s.outputs(), row);
    return unfolded;
  }
  // The sums of what the rows have for each element of the channels x.
  void fold(const T* rows, int64_t row, int64_t channels, T* x) const {
    const int64_t count = s.dim[2].out, stride = s.dim[2].stride;
    std::fill_n(x, channels * s.inputs(), T(0));  // some elements no window sees
    if (apart)
      return each_line_apart(channels, [&](int64_t r, int64_t seen, int64_t at) {
        for (int64_t k = 0; k < count; ++k) x[seen + k * stride] = rows[r * row + at + k];
      });
    const Buffer<T> sums(image.channel());
    for (int64_t c = 0; c < channels; ++c, x += s.inputs()) {
      std::fill_n(sums.data(), image.channel(), T(0));
      for (int64_t t = 0; t < s.taps(); ++t, rows += row)
        each_line(t, [&](int64_t seen, int64_t at) {
          T* const to = sums.data() + seen;
          for (int64_t k = 0; k < count; ++k) to[k] += rows[at + k];
        });
      image.each_element([&](int64_t e, int64_t at) { x[e] = sums.data()[at]; });
    }
  }

  const Convolution& s;
  bool apart, are_rows;  // are_rows: the image is their matrix
  PaddedImage image;
  std::vector<int64_t> taps;
};

// Samples of one group that make one product, and the part of it that a thread takes.
struct Share {
  int64_t group, first, last;  // samples
  int64_t begin, count;        // filters or channels
};

// f(share) for all of them. `size`: filters or channels of a group.
template <class F>
void for_shares(const Convolution& s, int64_t size, int64_t samples, const F& f) {
  const int64_t blocks = divide_up(s.batch, samples);
  // Few products are cut for the threads.
  const int64_t cuts =
      std::min(divide_up(thread_count(), blocks * s.groups), divide_up(size, kFewOfCut));
  const int64_t cut = divide_up(size, cuts);
  parallel_for(0, blocks * s.groups * cuts, 1, [&](int64_t i, int64_t) {
    const int64_t first = i / cuts / s.groups * samples, begin = i % cuts * cut;
    if (begin < size)
      f(Share{i / cuts % s.groups, first, std::min(first + samples, s.batch), begin,
              std::min(cut, size - begin)});
  });
}

int64_t samples_of_product(const Convolution& s) {
  return is_one_product(s) ? 1 : std::min(divide_up(kFewPlaces, s.outputs()), s.batch);
}

template <class T>
void unfolded_output(const Convolution& s, const T* input, const T* weight, const T* bias, T* out) {
  const Windows<T> windows(s);
  const int64_t filters = s.group_filters(), channels = s.group_channels(), places = s.outputs();
  const int64_t depth = channels * s.taps(), samples = samples_of_product(s),
                row = samples * places;
  const bool is_one = is_one_product(s);
  for_shares(s, filters, samples, [&](const Share& share) {
    const Buffer<T> unfolded(windows.are_rows ? 0 : depth * row),
        made(is_one ? 0 : share.count * row);
    const int64_t first = share.group * filters + share.begin, count = share.last - share.first;
    T* const first_out = out + (share.first * s.filters + first) * places;
    T* const product = is_one ? first_out : made.data();
    const T* const seen =
        windows.rows(input + (share.first * s.groups + share.group) * channels * s.inputs(), count,
                     channels, unfolded.data(), row);
    multiply_unfolded(Product<T>{share.count, count * places, depth, weight + first * depth, seen,
                                 nullptr, product, depth, 1, row, 1, 0, 0, row, 1});
    if (is_one && !bias) return;
    for (int64_t n = 0; n < count; ++n)
      for (int64_t r = 0; r < share.count; ++r) {
        const T* const from = product + r * row + n * places;
        T* const to = first_out + (n * s.filters + r) * places;
        const T shift = bias ? bias[first + r] : T(0);
        for (int64_t p = 0; p < places; ++p) to[p] = from[p] + shift;
      }
  });
}

// The rows (places) of all filters of the share's group: where they lie, or samples side by side in
// `joined`.
template <class T>
const T* rows_of_gradient(const Convolution& s, const T* grad, const Share& share, int64_t row,
                          T* joined) {
  const int64_t filters = s.group_filters(), places = s.outputs();
  const T* const first = grad + (share.first * s.filters + share.group * filters) * places;
  if (is_one_product(s)) return first;
  for (int64_t n = 0; n < share.last - share.first; ++n)
    for (int64_t r = 0; r < filters; ++r)
      std::copy_n(first + (n * s.filters + r) * places, places, joined + r * row + n * places);
  return joined;
}

template <class T>
void unfolded_input(const Convolution& s, const T* grad, const T* weight, T* out) {
  const Windows<T> windows(s);
  const int64_t filters = s.group_filters(), channels = s.group_channels(), places = s.outputs();
  const int64_t taps = s.taps(), samples = samples_of_product(s), row = samples * places;
  const bool is_one = is_one_product(s);
  for_shares(s, channels, samples, [&](const Share& share) {
    const Buffer<T> joined(is_one ? 0 : filters * row),
        rows(windows.are_rows ? 0 : share.count * taps * row);
    T* const first_out =
        out + (share.first * s.channels + share.group * channels + share.begin) * s.inputs();
    multiply_unfolded(Product<T>{share.count * taps, (share.last - share.first) * places, filters,
                                 weight + (share.group * filters * channels + share.begin) * taps,
                                 rows_of_gradient(s, grad, share, row, joined.data()), nullptr,
                                 windows.are_rows ? first_out : rows.data(), 1, channels * taps,
                                 row, 1, 0, 0, row, 1});
    if (windows.are_rows) return;
    for (int64_t n = 0; n < share.last - share.first; ++n)
      windows.fold(rows.data() + n * places, row, share.count,
                   first_out + n * s.channels * s.inputs());
  });
}

// Products are summed in chunks of samples, whose sums are added up at the end.
template <class T>
void unfolded_weight(const Convolution& s, const T* grad, const T* input, T* out) {
  constexpr int64_t kMostChunks = 8, kMostSums = 1 << 22, kChunkPlaces = 1024;
  const Windows<T> windows(s);
  const int64_t filters = s.group_filters(), channels = s.group_channels(), places = s.outputs();
  const int64_t taps = s.taps(), depth = channels * taps, sums = s.filters * depth;
  const int64_t chunk = std::max({divide_up(s.batch, kMostChunks), divide_up(kChunkPlaces, places),
                                  divide_up(s.batch * sums, kMostSums)});
  const int64_t samples = samples_of_product(s), row = samples * places;
  const bool is_one = is_one_product(s);
  const Buffer<T> partial(divide_up(s.batch, chunk) * sums);
  for_shares(s, channels, chunk, [&](const Share& share) {
    const Buffer<T> joined(is_one ? 0 : filters * row),
        unfolded(windows.are_rows ? 0 : share.count * taps * row);
    T* const sum = partial.data() + share.first / chunk * sums +
                   (share.group * filters * channels + share.begin) * taps;
    for (int64_t first = share.first; first < share.last; first += samples) {
      Share some = share;
      some.first = first, some.last = std::min(first + samples, share.last);
      const T* const seen = windows.rows(
          input + (first * s.channels + share.group * channels + share.begin) * s.inputs(),
          some.last - first, share.count, unfolded.data(), row);
      const Product<T> product = {filters,
                                  share.count * taps,
                                  (some.last - first) * places,
                                  rows_of_gradient(s, grad, some, row, joined.data()),
                                  seen,
                                  first > share.first ? sum : nullptr,
                                  sum,
                                  row,
                                  1,
                                  1,
                                  row,
                                  depth,
                                  1,
                                  depth,
                                  1};
      // Few columns leave much of a tile's width unused.
      const bool is_narrow = share.count * taps < std::min(kFewColumns, filters);
      multiply_unfolded(is_narrow ? product.transposed() : product);
    }
  });
  parallel_for(0, sums, share_of(sums, kGrain), [&](int64_t first, int64_t last) {
    std::copy(partial.data() + first, partial.data() + last, out + first);
    for (int64_t c = 1; c < divide_up(s.batch, chunk); ++c)
      for (int64_t i = first; i < last; ++i) out[i] += partial.data()[c * sums + i];
  });
}

}  // namespace

template <class T>
const ConvolutionWay<T>* unfolded_way(const Convolution& s) {
  constexpr int64_t kFewRowsApart = 8, kMostBytes = 1 << 23;
  static constexpr ConvolutionWay<T> way = {unfolded_output<T>, unfolded_input<T>,
                                            unfolded_weight<T>},
                                     narrow = {unfolded_output<T>, unfolded_input<T>, nullptr};
  const int64_t columns = s.group_channels() * s.taps(), windows = columns * s.outputs();
  const bool has_many_rows = windows_lie_apart(s)
                                 ? std::min(columns, s.group_filters()) >= kFewRowsApart
                                 : std::min(s.group_channels(), s.group_filters()) >= kFewRows;
  const bool takes = has_many_rows && windows > 0 &&
                     windows * static_cast<int64_t>(sizeof(T)) <= kMostBytes && s.batch > 0;
  if (!takes) return nullptr;
  return s.group_channels() < kFewRows && columns < kFewColumns ? &narrow : &way;
}
template const ConvolutionWay<float>* unfolded_way(const Convolution&);
template const ConvolutionWay<double>* unfolded_way(const Convolution&);

}  // namespace gradus::cpu
