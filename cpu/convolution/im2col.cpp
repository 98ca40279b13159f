// Convolutions by im2col: products with a matrix of windows, (channels and taps, places), into
// which those of some samples are copied. Many filters outweigh the copy. The product does not mind
// how short the lines of an image are, nor a stride. The gradient of the input adds a product of
// that form to the elements that each window saw.
#include <algorithm>

#include "gradus/cpu/convolution/convolution.h"
#include "gradus/cpu/convolution/padded_image.h"
#include "gradus/cpu/matmul/pack.h"
#include "gradus/cpu/matmul/product.h"
#include "gradus/cpu/parallel.h"

namespace gradus::cpu {

namespace {

constexpr int64_t kFewPlaces = 256;  // of a product
constexpr int64_t kFewOfCut = 16;    // filters or channels

// The library's own kernels multiply: BLAS may sum in another order where a product is cut.
template <class T>
void multiply_unfolded(const Product<T>& p) {
  multiply_packed(p, table_of<MicroKernel<T>>());
}

// The windows of samples, channel by channel.
template <class T>
struct Windows {
  explicit Windows(const Convolution& shape)
      : s(shape), image(image_of_input(s)), taps(image.taps(1, s.dim, 0)) {}

  // f(where a line of places of tap t is seen in the image of a channel, where it lies in the row)
  template <class F>
  void each_line(int64_t tap, const F& f) const {
    int64_t at = 0;
    for (int64_t i = 0; i < s.dim[0].out; ++i)
      for (int64_t j = 0; j < s.dim[1].out; ++j, at += s.dim[2].out)
        f(taps[static_cast<size_t>(tap)] + (i * image.dim[1].length + j) * image.dim[2].length, at);
  }

  // rows (channels and taps, `row` apart) of a sample's channels x.
  void unfold(const T* x, int64_t channels, T* rows, int64_t row) const {
    const Buffer<T> copy(image.channel());
    for (int64_t c = 0; c < channels; ++c, x += s.inputs()) {
      image.fill(x, 1, copy.data());
      for (int64_t t = 0; t < s.taps(); ++t, rows += row)
        each_line(t, [&](int64_t seen, int64_t at) {
          copy_few(copy.data() + seen, s.dim[2].out, rows + at);
        });
    }
  }
  // The sums of what the rows have for each element of the channels x.
  void fold(const T* rows, int64_t row, int64_t channels, T* x) const {
    const Buffer<T> sums(image.channel());
    std::fill_n(x, channels * s.inputs(), T(0));  // some elements no window sees
    for (int64_t c = 0; c < channels; ++c, x += s.inputs()) {
      std::fill_n(sums.data(), image.channel(), T(0));
      for (int64_t t = 0; t < s.taps(); ++t, rows += row)
        each_line(t, [&](int64_t seen, int64_t at) {
          T* const to = sums.data() + seen;
          for (int64_t k = 0; k < s.dim[2].out; ++k) to[k] += rows[at + k];
        });
      image.each_element([&](int64_t e, int64_t at) { x[e] = sums.data()[at]; });
    }
  }

  const Convolution& s;
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
  return std::min(divide_up(kFewPlaces, s.outputs()), s.batch);
}

template <class T>
void unfolded_output(const Convolution& s, const T* input, const T* weight, const T* bias, T* out) {
  const Windows<T> windows(s);
  const int64_t filters = s.group_filters(), channels = s.group_channels(), places = s.outputs();
  const int64_t depth = channels * s.taps(), samples = samples_of_product(s),
                row = samples * places;
  for_shares(s, filters, samples, [&](const Share& share) {
    const Buffer<T> rows(depth * row), made(share.count * row);
    for (int64_t n = share.first; n < share.last; ++n)
      windows.unfold(input + (n * s.groups + share.group) * channels * s.inputs(), channels,
                     rows.data() + (n - share.first) * places, row);
    const int64_t first = share.group * filters + share.begin;
    multiply_unfolded(Product<T>{share.count, (share.last - share.first) * places, depth,
                                 weight + first * depth, rows.data(), nullptr, made.data(), depth,
                                 1, row, 1, 0, 0, row, 1});
    for (int64_t n = share.first; n < share.last; ++n)
      for (int64_t r = 0; r < share.count; ++r) {
        const T* const from = made.data() + r * row + (n - share.first) * places;
        T* const to = out + (n * s.filters + first + r) * places;
        const T shift = bias ? bias[first + r] : T(0);
        for (int64_t p = 0; p < places; ++p) to[p] = from[p] + shift;
      }
  });
}

// Rows (samples' places side by side) of the share's, or all, filters of its group.
template <class T>
void join_samples(const Convolution& s, const T* grad, const Share& share, int64_t row, T* out) {
  const int64_t filters = s.group_filters(), places = s.outputs();
  for (int64_t n = share.first; n < share.last; ++n)
    for (int64_t r = 0; r < filters; ++r)
      std::copy_n(grad + (n * s.filters + share.group * filters + r) * places, places,
                  out + r * row + (n - share.first) * places);
}

template <class T>
void unfolded_input(const Convolution& s, const T* grad, const T* weight, T* out) {
  const Windows<T> windows(s);
  const int64_t filters = s.group_filters(), channels = s.group_channels(), places = s.outputs();
  const int64_t taps = s.taps(), samples = samples_of_product(s), row = samples * places;
  for_shares(s, channels, samples, [&](const Share& share) {
    const Buffer<T> joined(filters * row), rows(share.count * taps * row);
    join_samples(s, grad, share, row, joined.data());
    multiply_unfolded(Product<T>{share.count * taps, (share.last - share.first) * places, filters,
                                 weight + (share.group * filters * channels + share.begin) * taps,
                                 joined.data(), nullptr, rows.data(), 1, channels * taps, row, 1, 0,
                                 0, row, 1});
    for (int64_t n = share.first; n < share.last; ++n)
      windows.fold(rows.data() + (n - share.first) * places, row, share.count,
                   out + (n * s.channels + share.group * channels + share.begin) * s.inputs());
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
  const Buffer<T> partial(divide_up(s.batch, chunk) * sums);
  for_shares(s, channels, chunk, [&](const Share& share) {
    const Buffer<T> joined(filters * row), rows(share.count * taps * row);
    T* const sum = partial.data() + share.first / chunk * sums +
                   (share.group * filters * channels + share.begin) * taps;
    for (int64_t first = share.first; first < share.last; first += samples) {
      Share some = share;
      some.first = first, some.last = std::min(first + samples, share.last);
      join_samples(s, grad, some, row, joined.data());
      for (int64_t n = some.first; n < some.last; ++n)
        windows.unfold(input + (n * s.channels + share.group * channels + share.begin) * s.inputs(),
                       share.count, rows.data() + (n - first) * places, row);
      multiply_unfolded(Product<T>{filters, share.count * taps, (some.last - first) * places,
                                   joined.data(), rows.data(), first > share.first ? sum : nullptr,
                                   sum, row, 1, 1, row, depth, 1, depth, 1});
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
  constexpr int64_t kFewRows = 32, kMostBytes = 1 << 23;
  static constexpr ConvolutionWay<T> way = {unfolded_output<T>, unfolded_input<T>,
                                            unfolded_weight<T>};
  const int64_t windows = s.group_channels() * s.taps() * s.outputs();
  const bool takes = s.group_channels() >= kFewRows && s.group_filters() >= kFewRows &&
                     windows > 0 && windows * static_cast<int64_t>(sizeof(T)) <= kMostBytes &&
                     s.batch > 0;
  return takes ? &way : nullptr;
}
template const ConvolutionWay<float>* unfolded_way(const Convolution&);
template const ConvolutionWay<double>* unfolded_way(const Convolution&);

}  // namespace gradus::cpu
