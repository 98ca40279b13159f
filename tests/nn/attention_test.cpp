// Attention: the kernels against their composite, derivatives, masks, and errors; Transformer's
// text and errors. PyTorch's values: rows/attention.def.
#include <limits>
#include <sstream>

#include "gradus/autograd/tools/gradcheck.h"
#include "gradus/tensor/backend.h"
#include "tests/support.h"

namespace gradus {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Sizes {
  int64_t batch, heads, queries, keys, width, values;
};

// What attention and its gradient write, by a device's own functions or by the default ones.
struct Results {
  Tensor out, log_sums, grad_q, grad_k, grad_v;
};
struct Operands {
  Tensor q, k, v, mask, grad;

  Operands to(Device device) const {
    return {q.to(device), k.to(device), v.to(device), mask.defined() ? mask.to(device) : mask,
            grad.to(device)};
  }
};

Results run(const Attention& how, const Operands& x, bool own) {
  Backend& device = backend(x.q);
  const auto like = [](const Tensor& t) { return zeros(t.sizes(), t.options()); };
  Results y{like(x.grad), like(x.grad.select(3, 0)), like(x.q), like(x.k), like(x.v)};
  if (own) {
    device.attention(how, x.q, x.k, x.v, x.mask, y.out, y.log_sums);
    device.attention_grad(how, x.grad, x.q, x.k, x.v, x.mask, y.out, y.log_sums, y.grad_q, y.grad_k,
                          y.grad_v);
  } else {
    device.Backend::attention(how, x.q, x.k, x.v, x.mask, y.out, y.log_sums);
    device.Backend::attention_grad(how, x.grad, x.q, x.k, x.v, x.mask, y.out, y.log_sums, y.grad_q,
                                   y.grad_k, y.grad_v);
  }
  return y;
}

void expect_close(const Results& x, const Results& y, double tolerance, const std::string& what) {
  const auto close = [&](const Tensor& a, const Tensor& b, const char* name) {
    EXPECT_TRUE(allclose(a.to(kCPU), b.to(kCPU), tolerance, tolerance)) << what << ", " << name;
  };
  close(x.out, y.out, "out"), close(x.log_sums, y.log_sums, "log_sums");
  close(x.grad_q, y.grad_q, "grad_q"), close(x.grad_k, y.grad_k, "grad_k");
  close(x.grad_v, y.grad_v, "grad_v");
}

Operands operands(const Sizes& s, ScalarType dtype, bool masked) {
  const auto drawn = [&](int64_t length, int64_t width) {
    // As MultiheadAttention has them: heads side by side.
    return randn({length, s.batch, s.heads, width}, dtype).permute({1, 2, 0, 3});
  };
  Operands x{drawn(s.queries, s.width), drawn(s.keys, s.width), drawn(s.keys, s.values), {}, {}};
  x.grad = randn({s.batch, s.heads, s.queries, s.values}, dtype);
  if (masked) {
    Tensor mask = randn({s.batch, 1, s.queries, s.keys}, dtype);
    mask = mask.masked_fill(mask > 1, -kInfinity);
    mask.select(2, 0).fill_(-kInfinity);  // the first query sees nothing
    x.mask = mask.expand({s.batch, s.heads, s.queries, s.keys});
  }
  return x;
}

// Sizes about the tiles of the kernels, causal and masked, with dropout.
TEST(Attention, KernelsAgreeWithTheComposite) {
  manual_seed(1);
  const std::vector<Sizes> all{
      {2, 2, 3, 5, 4, 3}, {1, 2, 70, 130, 5, 17}, {1, 1, 65, 64, 70, 2}, {1, 1, 140, 273, 6, 9}};
  for (const Sizes& s : all)
    for (const ScalarType dtype : {kDouble, kFloat})
      for (const int way : {0, 1, 2, 3}) {
        Attention how{0.5};
        how.causal = way == 1;
        if (way == 3) how.dropout = 0.3, how.state = {7, 11};
        const Operands x = operands(s, dtype, way == 2);
        const double tolerance = dtype == kDouble ? 1e-9 : 2e-4;
        const std::string what = std::to_string(s.queries) + " queries, way " + std::to_string(way);
        const Results composite = run(how, x, false);
        expect_close(run(how, x, true), composite, tolerance, what + ", CPU");
        if (cuda::is_available())
          expect_close(run(how, x.to(kCUDA), true), composite, tolerance, what + ", CUDA");
      }
}

// A query that is no number gives no numbers, whatever the place of its row and the length of the
// lines, and leaves its neighbours as they are.
TEST(Attention, NanOfAQueryReachesItsRowAlone) {
  manual_seed(2);
  for (const int64_t keys : {1, 15, 16, 17, 130}) {
    const Tensor q = randn({1, 1, 140, 8}), k = randn({1, 1, keys, 8}), v = randn({1, 1, keys, 8});
    const Tensor clean = scaled_dot_product_attention(q, k, v);
    for (const int64_t row : {0, 131}) {
      const Tensor broken = q.clone();
      broken.select(2, row).fill_(NAN);
      const Tensor out = scaled_dot_product_attention(broken, k, v);
      EXPECT_TRUE(out.select(2, row).isnan().all().item<bool>()) << keys << " keys, row " << row;
      for (const int64_t other : {row - 1, row + 1}) {
        if (other < 0) continue;
        EXPECT_TRUE(out.select(2, other).equal(clean.select(2, other)))
            << keys << " keys, row " << other;
      }
    }
  }
}

// Without a width all scores are 0: the mean of the values.
TEST(Attention, OfNoWidthIsTheMean) {
  const Tensor v = arange(5, kDouble).view({1, 1, 5, 1}).requires_grad_();
  const Tensor y =
      scaled_dot_product_attention(zeros({1, 1, 2, 0}, kDouble), zeros({1, 1, 5, 0}, kDouble), v);
  expect_values(y, {2, 2});
  y.sum().backward();
  expect_values(v.grad(), {0.4, 0.4, 0.4, 0.4, 0.4});
}

// As PyTorch broadcasts what stands before the last two dimensions: keys of one head for several
// queries.
TEST(Attention, BroadcastsItsBatch) {
  manual_seed(4);
  for (const Device device : cpu_and_cuda()) {
    const auto leaf = [&](IntArrayRef sizes) {
      return randn(sizes, TensorOptions(kDouble).device(device)).requires_grad_();
    };
    const Tensor q = leaf({2, 3, 4, 5}), k = leaf({2, 1, 6, 5}), v = leaf({6, 2});
    const auto whole = [](const Tensor& x) { return x.detach().clone().requires_grad_(); };
    const Tensor all_k = whole(k.expand({2, 3, 6, 5})), all_v = whole(v.expand({2, 3, 6, 2}));
    const Tensor same_q = whole(q);
    const Tensor y = scaled_dot_product_attention(q, k, v);
    const Tensor expected = scaled_dot_product_attention(same_q, all_k, all_v);
    expect_values(y, to_vector(expected), 1e-12);
    y.sin().sum().backward(), expected.sin().sum().backward();
    expect_values(q.grad(), to_vector(same_q.grad()), 1e-12);
    expect_values(k.grad(), to_vector(all_k.grad().sum(1, true)), 1e-12);
    expect_values(v.grad(), to_vector(all_v.grad().sum({0, 1})), 1e-12);
    EXPECT_THROW(scaled_dot_product_attention(q, leaf({2, 2, 6, 5}), v), ValueError);
  }
}

// Heads of keys that several queries share are as those repeated.
TEST(Attention, SharesHeadsOfKeys) {
  manual_seed(6);
  for (const Device device : cpu_and_cuda()) {
    const auto leaf = [&](IntArrayRef sizes) {
      return randn(sizes, TensorOptions(kDouble).device(device)).requires_grad_();
    };
    const auto expect_shared = [&](const Tensor& q, const Tensor& k, const Tensor& v,
                                   const std::optional<Tensor>& mask, bool causal) {
      const Tensors leaves{q, k, v};
      const auto repeated = [&](const Tensor& x) {
        return x.repeat_interleave(q.size(-3) / x.size(-3), -3);
      };
      const auto results = [&](const Tensor& y) {
        Tensors all = autograd::grad({y.sin().sum()}, leaves);
        all.push_back(y);
        return all;
      };
      const Tensors shared =
          results(scaled_dot_product_attention(q, k, v, mask, 0, causal, {}, true));
      const Tensors expected = results(
          scaled_dot_product_attention(q, repeated(k), repeated(v), mask, 0, causal, {}, true));
      for (size_t i = 0; i < shared.size(); ++i)
        expect_values(shared[i], to_vector(expected[i]), 1e-12);
    };
    const Tensor q = leaf({2, 6, 4, 5}), k = leaf({2, 3, 7, 5}), v = leaf({2, 3, 7, 2});
    const Tensor mask = randn({6, 4, 7}, TensorOptions(kDouble).device(device));
    for (const bool causal : {false, true}) expect_shared(q, k, v, std::nullopt, causal);
    expect_shared(q, k, v, mask, false);
    expect_shared(q, k, v, mask.clone().requires_grad_(), false);  // the composite
    expect_shared(leaf({4, 1, 5}), leaf({2, 7, 5}), leaf({2, 7, 5}), std::nullopt, false);
    expect_shared(q, leaf({3, 7, 5}), leaf({1, 3, 7, 5}), std::nullopt, true);  // batches broadcast
    const auto attend = [](const Tensors& x) {
      return Tensors{scaled_dot_product_attention(x[0], x[1], x[2], {}, 0, true, {}, true)};
    };
    if (device.is_cpu()) {
      EXPECT_TRUE(autograd::gradcheck(attend, {q, k, v}));
      EXPECT_TRUE(autograd::gradgradcheck(attend, {q, k, v}));
    }
    expect_error<ValueError>(
        [&] {
          attend({q, leaf({2, 4, 7, 5}), leaf({2, 4, 7, 5})});
        },
        "query has shape [2, 6, 4, 5], key [2, 4, 7, 5], value [2, 4, 7, 5]; enable_gqa");
    expect_error<ValueError>(
        [&] {
          attend({q, k, leaf({2, 2, 7, 5})});
        },
        "expects one number of heads");
    expect_error<ValueError>([&] { scaled_dot_product_attention(q, k, v); },
                             "query has 6 heads, key and value 3 (dimension -3); set enable_gqa");
  }
}

TEST(Attention, ItsResultMayChangeInPlaceOnEachDevice) {
  for (const Device device : cpu_and_cuda())
    for (const ScalarType dtype : {kDouble, kFloat, kHalf})
      for (const int64_t length : {2, 16}) {
        const auto leaf = [&] {
          return randn({1, 2, length, 16}).to(device, dtype).requires_grad_();
        };
        const Tensor q = leaf(), k = leaf(), v = leaf();
        Tensor y = scaled_dot_product_attention(q, k, v);
        EXPECT_NO_THROW(y.add_(1)) << device << dtype << length;
        // What changed is saved for the backward pass, except where it is a copy.
        try {
          y.sum().backward();
        } catch (const Error& error) {
          EXPECT_NE(std::string(error.what()).find("modified by an inplace"), std::string::npos)
              << error.what();
        }
      }
}

TEST(Attention, HasBothDerivatives) {
  manual_seed(2);
  const auto leaf = [](IntArrayRef shape) { return randn(shape, kDouble).set_requires_grad(true); };
  const Tensors qkv{leaf({2, 3, 2}), leaf({2, 3, 2}), leaf({2, 3, 2})};
  const Tensor hidden = tensor({0, 1, 0}).to(kBool);
  for (const int way : {0, 1, 2}) {
    const auto f = [&](const Tensors& x) {
      return Tensors{scaled_dot_product_attention(
          x[0], x[1], x[2], way == 1 ? std::optional(~hidden) : std::nullopt, 0, way == 2)};
    };
    EXPECT_TRUE(autograd::gradcheck(f, qkv));
    EXPECT_TRUE(autograd::gradgradcheck(f, qkv));
  }
  Tensors with_mask = qkv;
  with_mask.push_back(leaf({3, 3}));
  const auto f = [](const Tensors& x) {
    return Tensors{scaled_dot_product_attention(x[0], x[1], x[2], x[3])};
  };
  EXPECT_TRUE(autograd::gradcheck(f, with_mask));
  EXPECT_TRUE(autograd::gradgradcheck(f, with_mask));
}

TEST(Attention, DropsWeightsByTheGenerator) {
  const Tensor q = ones({1, 8, 4}), v = ones({1, 32, 3});
  const auto out = [&] {
    manual_seed(5);
    return scaled_dot_product_attention(q, ones({1, 32, 4}), v, std::nullopt, 0.5);
  };
  const Tensor first = out();
  EXPECT_TRUE(first.equal(out()));
  EXPECT_NEAR(first.mean().item<double>(), 1, 0.2);
  EXPECT_GT(first.std().item<double>(), 0.05);
  EXPECT_TRUE((scaled_dot_product_attention(q, q, ones({1, 8, 3}), std::nullopt, 1) == 0)
                  .all()
                  .item<bool>());
}

TEST(Attention, KeepsHalfTypesAndLeadingDimensions) {
  const Tensor q = randn({2, 3, 2, 4, 6});
  const Tensor out = scaled_dot_product_attention(q, q, q);
  EXPECT_EQ(out.sizes(), q.sizes());
  const Tensor half = scaled_dot_product_attention(q.to(kHalf), q.to(kHalf), q.to(kHalf));
  EXPECT_EQ(half.dtype(), kHalf);
  EXPECT_TRUE(allclose(half.to(kFloat), out, 1e-2, 1e-2));
}

TEST(Attention, SaysWhatIsWrong) {
  const Tensor q = ones({2, 3, 4});
  const auto attend = [&](const Tensor& k, const Tensor& v) {
    scaled_dot_product_attention(q, k, v);
  };
  expect_error<ValueError>([&] { attend(ones({4}), q); }, "key has shape [4], expected");
  expect_error<ValueError>([&] { attend(ones({5, 3, 4}), q); }, "must match the size of tensor b");
  expect_error<ValueError>(
      [&] {
        attend(ones({2, 3, 5}), q);
      },
      "their last dimensions must be equal");
  expect_error<ValueError>([&] { attend(q, ones({2, 4, 4})); }, "one value for each key");
  expect_error<TypeError>([&] { attend(q, q.to(kDouble)); }, "value has dtype float64");
  expect_error<ValueError>([&] { scaled_dot_product_attention(q, q, q, std::nullopt, 2); },
                           "dropout_p is 2");
  expect_error<ValueError>(
      [&] {
        scaled_dot_product_attention(q, q, q, ones({3, 3}), 0, true);
      },
      "Explicit attn_mask should not be set when is_causal=True");
}

TEST(MultiheadAttention, SaysWhatIsWrong) {
  expect_error<ValueError>([] { nn::MultiheadAttention(4, 3); },
                           "embed_dim must be divisible by num_heads, but they are 4 and 3");
  nn::MultiheadAttention attention(4, 2);
  const Tensor x = ones({3, 2, 4});
  expect_error<ValueError>([&] { attention(x, x, Tensor()); }, "value is undefined");
  expect_error<ValueError>(
      [&] {
        attention(ones({3, 4}), x, x);
      },
      "expected (length, batch, width)");
  expect_error<ValueError>([&] { attention(ones({3, 2, 5}), x, x); }, "expected embed_dim = 4");
  expect_error<ValueError>([&] { attention(x, ones({3, 1, 4}), x); }, "expected one batch size");
  expect_error<ValueError>(
      [&] {
        attention(x, x, x, ones({2, 4}, kBool));
      },
      "key_padding_mask has shape [2, 4], expected [2, 3]");
  expect_error<ValueError>(
      [&] {
        attention(x, x, x, Tensor(), true, ones({3, 4}));
      },
      "attn_mask has shape [3, 4], expected [3, 3] or [4, 3, 3]");
  expect_error<TypeError>(
      [&] {
        attention(x, x, x, Tensor(), true, ones({3, 3}, kLong));
      },
      "attn_mask has dtype int64");
}

TEST(Transformer, PrintsItsParts) {
  std::ostringstream out;
  out << nn::TransformerEncoderLayer(4, 2);
  EXPECT_TRUE(out.str().starts_with(
      "gradus::nn::TransformerEncoderLayerImpl(\n"
      "  (self_attn): gradus::nn::MultiheadAttention(\n"
      "    (out_proj): gradus::nn::Linear(in_features=4, out_features=4, bias=true)\n"
      "  )\n"
      "  (linear1): gradus::nn::Linear(in_features=4, out_features=2048, bias=true)\n"))
      << out.str();
}

TEST(Transformer, MayNormFirst) {
  const nn::TransformerEncoderLayer layer(nn::TransformerEncoderLayerOptions(4, 2)
                                              .dim_feedforward(3)
                                              .dropout(0)
                                              .layer_norm_eps(0.5)
                                              .norm_first(true)
                                              .bias(false));
  const Tensor x = randn({3, 2, 4}), a = layer->norm1(x);
  const Tensor y = x + std::get<0>(layer->self_attn->forward(a, a, a));
  EXPECT_TRUE(
      allclose(layer->forward(x), y + layer->linear2(relu(layer->linear1(layer->norm2(y))))));
  EXPECT_EQ(layer->norm2->options.eps(), 0.5);
  for (const auto& parameter : layer->named_parameters())
    EXPECT_TRUE(parameter.key().find("bias") == std::string::npos) << parameter.key();

  const nn::TransformerDecoderLayer decoder(
      nn::TransformerDecoderLayerOptions(4, 2).dim_feedforward(3).dropout(0).norm_first(true));
  const Tensor memory = randn({5, 2, 4}), b = decoder->norm1(x);
  const Tensor own = x + std::get<0>(decoder->self_attn->forward(b, b, b));
  const Tensor both =
      own + std::get<0>(decoder->multihead_attn->forward(decoder->norm2(own), memory, memory));
  EXPECT_TRUE(allclose(decoder->forward(x, memory),
                       both + decoder->linear2(relu(decoder->linear1(decoder->norm3(both))))));
  EXPECT_TRUE(nn::Transformer(nn::TransformerOptions(4, 2, 1, 1).norm_first(true))
                  ->encoder.get<nn::TransformerEncoder>()
                  ->layers->at<nn::TransformerEncoderLayerImpl>(0)
                  .options.norm_first());
}

TEST(Transformer, SaysWhatIsWrong) {
  nn::Transformer model(nn::TransformerOptions(4, 2, 1, 1).dim_feedforward(3));
  expect_error<ValueError>(
      [&] {
        model(ones({2, 3}), ones({2, 3, 4}));
      },
      "src and tgt should have 3 dimensions");
  expect_error<ValueError>(
      [&] {
        model(ones({2, 3, 4}), ones({3, 2, 4}));
      },
      "src and tgt should have equal batch size");
  expect_error<ValueError>(
      [&] {
        model(ones({2, 3, 4}), ones({2, 3, 3}));
      },
      "src and tgt should have same feature size as d_model");
  expect_error<ValueError>(
      [] {
        nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(4, 2).activation(kTanh));
      },
      "Unknown activation: activation should be kRelu, kGELU, or a callable");
  expect_error<ValueError>(
      [] { nn::TransformerEncoder(nn::TransformerEncoderLayerOptions(4, 2), 0); },
      "num_layers must be 1 or more");
  expect_values(nn::TransformerImpl::generate_square_subsequent_mask(2), {0, -kInfinity, 0, 0});
}

TEST(MultiheadAttention, ABatchMayBeEmpty) {
  const nn::MultiheadAttention attention(
      nn::MultiheadAttentionOptions(4, 2).add_bias_kv(true).add_zero_attn(true));
  const Tensor query = ones({3, 0, 4}, requires_grad()), key = ones({5, 0, 4});
  for (const bool need_weights : {true, false}) {
    const auto [out, weights] =
        attention->forward(query, key, key, zeros({0, 5}, kBool), need_weights);
    EXPECT_EQ(out.sizes(), IntArrayRef({3, 0, 4}));
    if (need_weights) {
      EXPECT_EQ(weights.sizes(), IntArrayRef({0, 3, 7}));
    }
    out.sum().backward();
    EXPECT_EQ(query.grad().sizes(), query.sizes());
  }
}

}  // namespace
}  // namespace gradus
