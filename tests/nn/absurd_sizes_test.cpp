// Every size that is computed from options, with absurd numbers in each place: the call gives a
// small result or throws an error of the library, soon, and without much memory.
#include <functional>

#include "gradus/cpu/blocks.h"
#include "tests/support.h"

namespace gradus {
namespace absurd_sizes {

namespace F = nn::functional;

constexpr int64_t kAbsurd[] = {0,
                               -1,
                               1,
                               3,
                               100'000,
                               int64_t{1} << 31,
                               int64_t{1} << 32,
                               int64_t{1} << 40,
                               int64_t{1} << 62,
                               INT64_MAX / 2,
                               INT64_MAX - 1,
                               INT64_MAX,
                               INT64_MIN};

// Refuses blocks of more than this, so that a size that fits into an int64, but not into memory,
// takes none of it.
void refuse_large(size_t nbytes) {
  check<OutOfMemoryError>(nbytes <= size_t{1} << 20, "allocate: ", nbytes, " bytes are too many");
}
struct SmallMemory {
  SmallMemory() { cpu::on_block = refuse_large; }
  ~SmallMemory() { cpu::on_block = nullptr; }
};

// A call with some options, numbers that suit all of them.
struct Call {
  const char* name;
  std::vector<int64_t> usual;
  std::function<Tensor(const std::vector<int64_t>&)> run;
};

std::string list_text(const std::vector<int64_t>& options) {
  std::string out;
  append(out, IntArrayRef(options));
  return out;
}
Tensor image() { return arange(50, kFloat).view({1, 2, 5, 5}); }
Tensor first_of(const Tensors& list) { return list.empty() ? Tensor() : list[0]; }

std::vector<Call> calls() {
  using V = const std::vector<int64_t>&;
  std::vector<Call> out;
  const auto add = [&](const char* name, std::vector<int64_t> usual, std::function<Tensor(V)> run) {
    out.push_back({name, std::move(usual), std::move(run)});
  };
  // Windows. All gradients are computed, too: their kernels see the same sizes.
  const auto with_gradient = [](const Tensor& y) {
    if (y.defined() && y.requires_grad() && y.numel() > 0) y.sum().backward();
    return y.detach();
  };
  const auto leaf = [] { return image().set_requires_grad(true); };
  add("conv1d", {1, 0, 1, 1}, [=](V v) {
    const Tensor w = ones({2, 2, 3}).set_requires_grad(true);
    return with_gradient(conv1d(leaf().flatten(2), w, {}, v[0], v[1], v[2], v[3]));
  });
  add("conv2d", {1, 0, 1, 1}, [=](V v) {
    const Tensor w = ones({2, 2, 3, 3}).set_requires_grad(true);
    return with_gradient(conv2d(leaf(), w, {}, v[0], v[1], v[2], v[3]));
  });
  add("conv2d of one tap", {1, 0, 1}, [=](V v) {
    const Tensor w = ones({2, 2, 1, 1}).set_requires_grad(true);
    return with_gradient(conv2d(leaf(), w, {}, {v[0], 1}, {v[1], 0}, v[2]));
  });
  add("conv2d same", {1}, [=](V v) {
    return with_gradient(conv2d(leaf(), ones({2, 2, 2, 3}), {}, 1, "same", v[0]));
  });
  add("conv3d", {1, 0, 1}, [=](V v) {
    const Tensor w = ones({2, 2, 1, 3, 3}).set_requires_grad(true);
    return with_gradient(conv3d(leaf().unsqueeze(2), w, {}, v[0], v[1], v[2]));
  });
  add("conv_transpose1d", {1, 0, 0, 1, 1}, [=](V v) {
    const Tensor w = ones({2, 2, 3}).set_requires_grad(true);
    return with_gradient(conv_transpose1d(leaf().flatten(2), w, {}, v[0], v[1], v[2], v[3], v[4]));
  });
  add("conv_transpose2d", {1, 0, 0, 1, 1}, [=](V v) {
    const Tensor w = ones({2, 2, 3, 3}).set_requires_grad(true);
    return with_gradient(conv_transpose2d(leaf(), w, {}, v[0], v[1], v[2], v[3], v[4]));
  });
  add("Conv2d, circular", {1, 1, 1}, [=](V v) {
    nn::Conv2d layer(
        nn::Conv2dOptions(2, 2, 3).stride(v[0]).padding(v[1]).dilation(v[2]).padding_mode(
            kCircular));
    return with_gradient(layer(leaf()));
  });
  add("ConvTranspose2d, output_size", {2, 0, 1, 11}, [=](V v) {
    nn::ConvTranspose2d layer(
        nn::ConvTranspose2dOptions(2, 2, 3).stride(v[0]).padding(v[1]).dilation(v[2]));
    return with_gradient(layer->forward(image(), std::vector<int64_t>{v[3], v[3]}));
  });
  for (const bool ceil_mode : {false, true}) {
    add("max_pool1d", {2, 1, 0, 1}, [=](V v) {
      return with_gradient(max_pool1d(leaf().flatten(2), v[0], v[1], v[2], v[3], ceil_mode));
    });
    add("max_pool2d", {2, 1, 0, 1},
        [=](V v) { return with_gradient(max_pool2d(leaf(), v[0], v[1], v[2], v[3], ceil_mode)); });
    add("max_pool3d", {2, 1, 1, 1},
        [=](V v) { return with_gradient(max_pool3d(leaf(), v[0], v[1], v[2], v[3], ceil_mode)); });
    add("avg_pool1d", {2, 1, 0}, [=](V v) {
      return with_gradient(avg_pool1d(leaf().flatten(2), v[0], v[1], v[2], ceil_mode));
    });
    add("avg_pool2d", {2, 1, 0, 4}, [=](V v) {
      return with_gradient(avg_pool2d(leaf(), v[0], v[1], v[2], ceil_mode, true, v[3]));
    });
    add("avg_pool3d", {1, 1, 0},
        [=](V v) { return with_gradient(avg_pool3d(leaf(), v[0], v[1], v[2], ceil_mode)); });
    add("lp_pool2d", {2, 1}, [=](V v) {
      return F::lp_pool2d(image(),
                          F::LPPool2dFuncOptions(2, v[0]).stride(v[1]).ceil_mode(ceil_mode));
    });
  }
  add("adaptive_avg_pool2d", {2, 2}, [=](V v) {
    return with_gradient(adaptive_avg_pool2d(leaf(), {v[0], v[1]}));
  });
  add("adaptive_max_pool2d", {2, 2}, [=](V v) {
    return with_gradient(std::get<0>(adaptive_max_pool2d(leaf(), {v[0], v[1]})));
  });
  add("fractional_max_pool2d", {2, 2}, [](V v) {
    return F::fractional_max_pool2d(image(),
                                    F::FractionalMaxPool2dFuncOptions(v[0]).output_size(v[1]));
  });
  add("max_unpool2d", {2, 2, 0, 4}, [](V v) {
    const Tensor x = ones({1, 1, 2, 2}), i = tensor({0, 1, 4, 5}, kLong).view({1, 1, 2, 2});
    return F::max_unpool2d(x, i,
                           F::MaxUnpool2dFuncOptions(v[0]).stride(v[1]).padding(v[2]).output_size(
                               std::vector<int64_t>{v[3], v[3]}));
  });
  add("unfold", {2, 1, 0, 1}, [](V v) {
    return F::unfold(image(), F::UnfoldFuncOptions(v[0]).dilation(v[1]).padding(v[2]).stride(v[3]));
  });
  add("fold", {4, 2, 1, 0, 1}, [](V v) {
    return F::fold(ones({1, 4, 9}),
                   F::FoldFuncOptions(v[0], v[1]).dilation(v[2]).padding(v[3]).stride(v[4]));
  });
  add("local_response_norm", {2},
      [](V v) { return F::local_response_norm(image(), F::LocalResponseNormFuncOptions(v[0])); });
  add("CrossMapLRN2d", {3}, [](V v) { return nn::CrossMapLRN2d(v[0])(image()); });
  for (const auto mode : {kNearest, kNearestExact, kBilinear, kBicubic, kArea})
    for (const bool antialias : {false, true})
      if (!antialias || mode == kBilinear || mode == kBicubic) {
        add("interpolate to a size", {4, 4}, [=](V v) {
          return with_gradient(F::interpolate(leaf(), F::InterpolateFuncOptions()
                                                          .size(std::vector<int64_t>{v[0], v[1]})
                                                          .mode(mode)
                                                          .antialias(antialias)));
        });
        for (const double unit : {1.0, 1e-18, 1e300})
          add("interpolate by factors", {2, 2}, [=](V v) {
            return F::interpolate(
                image(), F::InterpolateFuncOptions()
                             .scale_factor(std::vector<double>{static_cast<double>(v[0]) * unit,
                                                               static_cast<double>(v[1])})
                             .mode(mode)
                             .antialias(antialias));
          });
      }
  // Shapes.
  for (const char* mode : {"constant", "reflect", "replicate", "circular"})
    add(mode, {1, 1, 1, 1}, [=](V v) {
      return with_gradient(pad(leaf(), {v[0], v[1], v[2], v[3]}, mode));
    });
  add("pixel_shuffle", {1}, [](V v) { return pixel_shuffle(image(), v[0]); });
  add("pixel_unshuffle", {1}, [](V v) { return pixel_unshuffle(image(), v[0]); });
  add("pixel_unshuffle of nothing", {1}, [](V v) {
    return pixel_unshuffle(zeros({2, 0, 0}), v[0]);
  });
  add("channel_shuffle", {2}, [](V v) { return channel_shuffle(image(), v[0]); });
  add("expand", {2, 2}, [](V v) { return ones({}).expand({v[0], v[1], 3}); });
  add("repeat", {2, 2}, [](V v) { return ones({2, 3}).repeat({v[0], v[1]}); });
  add("tile", {2, 2}, [](V v) { return ones({2, 3}).tile({v[0], v[1]}); });
  add("repeat_interleave", {2, 0}, [](V v) { return ones({2, 3}).repeat_interleave(v[0], v[1]); });
  add("repeat_interleave of counts", {2, 2}, [](V v) {
    return repeat_interleave(tensor(std::vector<int64_t>{v[0], v[1]}), std::nullopt);
  });
  add("Tensor::unfold", {0, 2, 1}, [](V v) { return image().unfold(v[0], v[1], v[2]); });
  add("unfold of an expanded one", {2},
      [](V v) { return ones({1}).expand({int64_t{1} << 40}).unfold(0, int64_t{1} << 30, v[0]); });
  add("slice", {0, 0, 5, 2},
      [=](V v) { return with_gradient(leaf().slice(v[0], v[1], v[2], v[3])); });
  add("narrow", {2, 1, 2}, [](V v) { return image().narrow(v[0], v[1], v[2]); });
  add("select", {2, 1}, [](V v) { return image().select(v[0], v[1]); });
  add("diagonal", {0, 2, 3}, [](V v) { return image().diagonal(v[0], v[1], v[2]); });
  add("diag_embed", {0, 0, 1}, [](V v) { return ones({2, 3}).diag_embed(v[0], v[1], v[2]); });
  add("diag", {0}, [](V v) { return ones({3}).diag(v[0]); });
  add("tril", {0}, [](V v) { return image().tril(v[0]); });
  add("triu", {0}, [](V v) { return image().triu(v[0]); });
  add("tril_indices", {3, 3, 0}, [](V v) { return tril_indices(v[0], v[1], v[2]); });
  add("roll", {1, 2}, [=](V v) { return with_gradient(leaf().roll(v[0], v[1])); });
  add("rot90", {1}, [](V v) { return image().rot90(v[0], {2, 3}); });
  add("view", {2, 25}, [](V v) { return image().view({v[0], v[1]}); });
  add("unflatten", {1, 2, 1}, [](V v) { return image().unflatten(v[0], {v[1], v[2]}); });
  add("as_strided", {2, 2, 1, 1, 0}, [](V v) {
    return image().as_strided({v[0], v[1]}, {v[2], v[3]}, v[4]);
  });
  add("split", {2, 2}, [](V v) { return first_of(image().split(v[0], v[1])); });
  add("split with sizes", {2, 3}, [](V v) {
    return first_of(image().split_with_sizes({v[0], v[1], 0}, 3));
  });
  add("chunk", {2, 2}, [](V v) { return first_of(image().chunk(v[0], v[1])); });
  add("chunk of nothing", {2}, [](V v) { return first_of(zeros({0, 2}).chunk(v[0])); });
  add("tensor_split", {2, 2}, [](V v) { return first_of(image().tensor_split(v[0], v[1])); });
  add("tensor_split at", {1, 2}, [](V v) {
    return first_of(image().tensor_split(IntArrayRef({v[0], v[1]}), 3));
  });
  add("hsplit of nothing", {2}, [](V v) { return first_of(hsplit(zeros({2, 0}), v[0])); });
  // Makers, and functions with a number of results.
  add("zeros", {0, 2, 3}, [](V v) { return zeros({v[0], v[1], v[2]}); });
  add("contiguous strides of nothing", {2, 3}, [](V v) { return zeros({0, v[0], v[1]}).clone(); });
  add("zeros then 0", {2, 3}, [](V v) {
    return zeros({v[0], v[1], 0}).numel() == 0 ? Tensor() : Tensor();
  });
  add("empty_strided", {2, 2, 2, 1}, [](V v) {
    return empty_strided({v[0], v[1]}, {v[2], v[3]}).zero_();
  });
  add("eye", {2, 3}, [](V v) { return eye(v[0], v[1]); });
  add("arange", {0, 5, 1}, [](V v) { return arange(v[0], v[1], v[2]); });
  add("range", {0, 5, 1}, [](V v) { return range(v[0], v[1], v[2]); });
  add("arange of floats", {0, 5, 1}, [](V v) {
    return arange(static_cast<double>(v[0]), static_cast<double>(v[1]), static_cast<double>(v[2]));
  });
  add("linspace", {5}, [](V v) { return linspace(0, 1, v[0]); });
  add("logspace", {5}, [](V v) { return logspace(0, 1, v[0]); });
  add("hann_window", {5}, [](V v) { return hann_window(v[0]); });
  add("kaiser_window", {5}, [](V v) { return kaiser_window(v[0]); });
  add("randperm", {5}, [](V v) { return randperm(v[0]); });
  add("multinomial", {2}, [](V v) { return ones({4}).multinomial(v[0], true); });
  add("one_hot", {5}, [](V v) { return one_hot(arange(3), v[0]); });
  add("bincount", {2}, [](V v) { return bincount(arange(3), {}, v[0]); });
  add("bincount of", {2}, [](V v) { return bincount(tensor(std::vector<int64_t>{v[0]})); });
  add("histc", {2}, [](V v) { return histc(image(), v[0]); });
  add("histogram", {2}, [](V v) { return std::get<0>(histogram(image(), v[0])); });
  add("topk", {2, 3}, [](V v) { return std::get<0>(image().topk(v[0], v[1])); });
  add("kthvalue", {2, 3}, [](V v) { return std::get<0>(image().kthvalue(v[0], v[1])); });
  add("diff", {1, 3}, [](V v) { return image().diff(v[0], v[1]); });
  add("vander", {3}, [](V v) { return vander(ones({3}), v[0]); });
  add("mvlgamma", {2}, [](V v) { return mvlgamma(ones({1}) * 9, v[0]); });
  add("polygamma", {2}, [](V v) { return polygamma(v[0], ones({1})); });
  add("cumsum", {1}, [](V v) { return image().cumsum(v[0]); });
  add("cat", {2}, [](V v) {
    const Tensor x = zeros({0}).expand({v[0], 0});
    return cat({x, x, x}, 0);
  });
  return out;
}

// f(call, options) with one absurd number in each place, and with two of them.
template <class F>
void each_absurd(const Call& call, const F& f) {
  const size_t places = call.usual.size();
  for (size_t i = 0; i < places; ++i)
    for (size_t j = i; j < places; ++j)
      for (const int64_t a : kAbsurd)
        for (const int64_t b : kAbsurd) {
          if (i == j && a != b) continue;
          std::vector<int64_t> options = call.usual;
          options[i] = a, options[j] = b;
          f(options);
        }
}

TEST(AbsurdSizes, GiveASmallResultOrAnError) {
  const SmallMemory guard;
  manual_seed(1);
  size_t errors = 0, results = 0;
  for (const Call& call : calls())
    each_absurd(call, [&](const std::vector<int64_t>& options) {
      SCOPED_TRACE(std::string(call.name) + " " + list_text(options));
      try {
        const Tensor y = call.run(options);
        ++results;
        EXPECT_TRUE(!y.defined() || checked_numel(call.name, y.sizes()) >= 0);
      } catch (const Error& error) {
        ++errors;
        EXPECT_NE(std::string(error.what()), "");
      } catch (const std::exception& error) {
        ADD_FAILURE() << "not an error of the library: " << error.what();
      }
    });
  EXPECT_GT(errors, 3'000);
  EXPECT_GT(results, 1'000);
}

TEST(AbsurdSizes, AStrideBeyondTheInputTakesNoMemory) {
  const SmallMemory guard;
  const Tensor x = image(), w = (arange(18, kFloat) / 9).view({1, 2, 3, 3});
  const Tensor expected = conv2d(x, w, {}, 3);
  for (const int64_t stride : {100'000, 1 << 30})
    EXPECT_TRUE(equal(conv2d(x, w, {}, stride), expected));
}

// Three windows, of which the middle one sees the first element.
TEST(AbsurdSizes, WindowsFarApartGiveTheirValuesAndGradients) {
  const SmallMemory guard;
  for (const Device device : {Device(kCPU), Device(kCUDA)}) {
    if (device.is_cuda() && !cuda::is_available()) continue;
    const int64_t far = int64_t{1} << 24;
    const Tensor x = arange(3, 8, kFloat).view({1, 1, 5}).to(device).requires_grad_();
    const Tensor w = full({2, 1, 1}, 2.0).to(device).requires_grad_();
    const Tensor y = conv1d(x, w, tensor({0.5, 1.0}, kFloat).to(device), far, far);
    expect_values(y, {0.5, 6.5, 0.5, 1, 7, 1});
    y.sum().backward();
    expect_values(x.grad(), {4, 0, 0, 0, 0});
    expect_values(w.grad(), {3, 3});
  }
}

}  // namespace absurd_sizes
}  // namespace gradus
