// Attention by tensor cores beside float64 on the CPU: types, shapes, strides, masks, dropout.
#include <algorithm>
#include <bit>

#include "gradus/gradus.h"
#include "tests/cuda/compare.h"
#include "tests/support.h"

namespace gradus {
namespace {

class TensorAttentionTest : public GpuTest {
 protected:
  void TearDown() override { set_float32_matmul_precision("highest"); }
};

struct AttentionCase {
  int64_t batch, heads, queries, keys, width, values;
  bool causal = false, masked = false, strided = false, padded = false;  // padded: a mask of keys
  int64_t sharing = 1;  // heads of queries that share one of keys
};

// (batch, heads, rows, width), strided: as a view of rows that hold all heads.
Tensor random_heads(const AttentionCase& shape, int64_t rows, int64_t width, ScalarType dtype,
                    int64_t sharing = 1) {
  const int64_t heads = shape.heads * sharing;
  const auto made = [&](Dims sizes) {
    return random_memory(dtype, numel_of(sizes), {-1.5, 1.5}).view(sizes);
  };
  if (!shape.strided) return made({shape.batch, heads, rows, width});
  return made({shape.batch, rows, heads, width}).transpose(1, 2);
}

// out and the gradients of q, k and v, in float64 on the CPU.
Tensors attended_and_grads(const Tensors& qkv, const Tensor& mask, bool causal,
                           const Tensor& grad) {
  Tensors leaves;
  for (const Tensor& each : qkv) leaves.push_back(each.detach().set_requires_grad(true));
  const Tensor out = scaled_dot_product_attention(
      leaves[0], leaves[1], leaves[2], mask.defined() ? std::optional<Tensor>(mask) : std::nullopt,
      0.0, causal, std::nullopt, true);
  EXPECT_EQ(out.dtype(), qkv[0].dtype());
  Tensors all = autograd::grad({out}, leaves, {grad});
  all.insert(all.begin(), out.detach());
  for (Tensor& each : all) each = each.to(kCPU).to(kDouble);
  return all;
}

// The relative error of rounding a factor. TF32 has the fraction of Half.
double unit_of(ScalarType dtype) {
  if (dtype == kFloat && get_float32_matmul_precision() == "highest") return 0x1p-20;
  return dtype == kBFloat16 ? 0x1p-8 : 0x1p-11;
}

void expect_attention(const AttentionCase& shape, ScalarType dtype) {
  const auto& [batch, shared, queries, keys, width, values, causal, masked, strided, padded,
               sharing] = shape;
  const int64_t heads = shared * sharing;
  const Tensors qkv = {random_heads(shape, queries, width, dtype, sharing),
                       random_heads(shape, keys, width, dtype),
                       random_heads(shape, keys, values, dtype)};
  Tensor mask;
  int64_t seen = causal ? std::min(keys, queries) : keys;  // how many keys a query sees at least
  if (masked) {
    mask = random_memory(dtype, queries * keys, {-2, 2}).view({queries, keys});
    if (keys > 3) {
      mask.narrow(1, 1, 2).fill_(-std::numeric_limits<double>::infinity());
      seen -= 2;
    }
    mask[0].fill_(-std::numeric_limits<double>::infinity());  // a query that sees nothing
  }
  if (padded) {
    mask = random_memory(dtype, batch * keys, {-2, 2}).view({batch, 1, 1, keys});
    for (int64_t i = 0; i < batch; ++i) {
      const int64_t length = i == 1 ? 0 : pick(1, keys);  // the queries of a sequence see nothing
      mask[i].narrow(2, length, keys - length).fill_(-std::numeric_limits<double>::infinity());
      if (length > 0) seen = std::min(seen, length);
    }
  }
  const Tensor grad = random_memory(dtype, batch * heads * queries * values, {-1, 1})
                          .view({batch, heads, queries, values});
  Tensors wide, gpu;
  for (const Tensor& each : qkv) wide.push_back(each.to(kDouble)), gpu.push_back(each.cuda());
  const Tensors expected =
      attended_and_grads(wide, mask.defined() ? mask.to(kDouble) : mask, causal, grad.to(kDouble));
  const Tensors got =
      attended_and_grads(gpu, mask.defined() ? mask.cuda() : mask, causal, grad.cuda());
  const double unit = unit_of(dtype);
  // A gradient of a score is a difference, which may be small beside what was rounded. That
  // averages out over many keys.
  const double roundings = seen < 8 ? 9 : 3;
  // With one key the difference is 0, and what is left is the rounding of the two sums.
  const double least = seen == 1 ? 0.1 * grad.to(kDouble).norm().item<double>() : 1e-3;
  const char* const names[] = {"out", "grad of q", "grad of k", "grad of v"};
  for (size_t i = 0; i < 4; ++i) {
    const double error = (got[i] - expected[i]).norm().item<double>();
    // Weights and their gradients are rounded once each, and so are the results.
    EXPECT_LE(error, roundings * unit * (expected[i].norm().item<double>() + least))
        << names[i] << " of " << batch << " x " << heads << " x " << queries << " x " << keys
        << " x " << width << " x " << values << (causal ? " causal" : "")
        << (masked ? " masked" : "") << (padded ? " padded" : "") << (strided ? " strided" : "")
        << ", " << sharing << " heads share, " << dtype;
  }
}

void expect_attention_of_shapes(ScalarType dtype) {
  expect_attention({1, 1, 64, 64, 64, 64}, dtype);
  expect_attention({1, 2, 70, 70, 32, 32, true, false, true}, dtype);
  expect_attention({1, 1, 33, 70, 32, 64, false, true}, dtype);
  expect_attention({1, 1, 5, 3, 7, 9}, dtype);
  expect_attention({1, 2, 20, 30, 80, 128, false, false, true}, dtype);
  expect_attention({1, 1, 20, 30, 136, 24}, dtype);  // wider than the tiles
  // Many queries: more rows to a warp.
  expect_attention({1, 1, dtype == kFloat ? 1030 : 2053, 40, 8, 16, true}, dtype);
}

TEST_F(TensorAttentionTest, IsThatOfFloat64) {
  for (const ScalarType dtype : {kBFloat16, kHalf, kFloat}) expect_attention_of_shapes(dtype);
}

TEST_F(TensorAttentionTest, IsThatOfFloat64InTF32) {
  set_float32_matmul_precision("high");
  expect_attention_of_shapes(kFloat);
}

// A query for each head, as a model that generates asks: keys in one part and in several, and
// widths that fill the lanes of a key or do not.
TEST_F(TensorAttentionTest, TakesOneQuery) {
  for (const ScalarType dtype : {kBFloat16, kHalf, kFloat}) {
    expect_attention({2, 3, 1, 130, 64, 64, false, true, true}, dtype);
    expect_attention({1, 2, 1, 700, 128, 64}, dtype);
    expect_attention({1, 1, 1, 1500, 40, 104}, dtype);
    expect_attention({1, 2, 1, 33, 8, 16, false, true}, dtype);
    expect_attention({2, 1, 1, 2, 64, 64}, dtype);
    expect_attention({1, 1, 1, 20, 9, 12}, dtype);  // rows that are not aligned
  }
}

// Heads of queries that share those of keys and values, by each of the kernels.
TEST_F(TensorAttentionTest, SharesHeads) {
  for (const ScalarType dtype : {kBFloat16, kHalf, kFloat, kDouble}) {
    const auto expect_shared = [&](AttentionCase shape, int64_t sharing) {
      shape.sharing = sharing;
      expect_attention(shape, dtype);
    };
    expect_shared({2, 1, 70, 90, 64, 64}, 3);
    expect_shared({1, 2, 130, 130, 64, 64, true, false, true}, 2);
    expect_shared({1, 1, 65, 65, 128, 128, true}, 2);
    expect_shared({2, 2, 33, 70, 32, 64, false, false, false, true}, 2);
    expect_shared({2, 1, 20, 30, 12, 9, false, true}, 2);
    expect_shared({1, 2, 20, 30, 136, 24}, 2);
    expect_shared({2, 3, 1, 130, 64, 64, false, true, true}, 4);
    expect_shared({1, 2, 1, 700, 128, 64}, 2);
  }
}

// A query for each of the heads that share keys: as many as a block takes, more, and parts of them.
TEST_F(TensorAttentionTest, TakesOneQueryOfSharedHeads) {
  for (const ScalarType dtype : {kBFloat16, kHalf})
    for (const int64_t width : {64, 128})
      for (const int64_t sharing : {2, 7, 8, 12}) {
        AttentionCase shape{
            sharing == 8 ? 2 : 1, sharing == 12 ? 2 : 1, 1, pick(1, 160), width, width};
        shape.sharing = sharing;
        shape.masked = sharing == 7, shape.padded = sharing == 8, shape.strided = sharing == 12;
        if (sharing == 2) shape.keys = pick(500, 700);  // several blocks
        expect_attention(shape, dtype);
      }
}

// One query is the first one: of a causal mask it sees the first key.
TEST_F(TensorAttentionTest, OneCausalQuerySeesOneKey) {
  for (const ScalarType dtype : {kBFloat16, kHalf, kFloat}) {
    const auto made = [&](int64_t rows) {
      return random_memory(dtype, 2 * rows * 64).view({1, 2, rows, 64}).cuda();
    };
    const Tensor v = made(300);
    EXPECT_TRUE(scaled_dot_product_attention(made(1), made(300), v, {}, 0.0, true)
                    .equal(v.narrow(2, 0, 1)));
  }
}

// Places of a cache that no token has reached may hold anything.
TEST_F(TensorAttentionTest, DoesNotReadHiddenKeysOfOneQuery) {
  for (const ScalarType dtype : {kBFloat16, kFloat})
    for (const int64_t heads : {1, 4}) {
      const Tensor q = random_memory(dtype, heads * 64, {-1, 1}).view({1, heads, 1, 64}),
                   kv = random_memory(dtype, 400 * 64, {-1, 1}).view({1, 1, 400, 64});
      const Tensor filled = kv.narrow(2, 0, 290), cache = kv.clone();
      cache.narrow(2, 290, 110).fill_(std::nan(""));
      Tensor mask = zeros({1, 400}, dtype);
      mask.narrow(1, 290, 110).fill_(-std::numeric_limits<double>::infinity());
      const Tensor got = scaled_dot_product_attention(q.cuda(), cache.cuda(), cache.cuda(),
                                                      mask.cuda(), 0.0, false, std::nullopt, true);
      const Tensor wide = filled.to(kDouble);
      const Tensor expected = scaled_dot_product_attention(q.to(kDouble), wide, wide, {}, 0.0,
                                                           false, std::nullopt, true);
      const double error = (got.to(kCPU).to(kDouble) - expected).norm().item<double>();
      EXPECT_LE(error, 3 * unit_of(dtype) * expected.norm().item<double>()) << dtype << heads;
    }
}

TEST_F(TensorAttentionTest, TakesMasksOfKeys) {
  const int64_t many = kSimulated ? 90 : 400;
  for (const ScalarType dtype : {kBFloat16, kHalf, kFloat})
    for (const int64_t width : {64, 128})
      expect_attention({.batch = 3,
                        .heads = 2,
                        .queries = pick(2, many),
                        .keys = pick(2, many),
                        .width = width,
                        .values = width,
                        .strided = width == 64,
                        .padded = true},
                       dtype);
}

// Scores up to a few hundred, which grow from tile to tile: results are scaled again.
TEST_F(TensorAttentionTest, TakesScoresThatGrow) {
  for (const ScalarType dtype : {kBFloat16, kFloat}) {
    const Tensor q = ones({1, 1, 3, 16}).to(dtype);
    const Tensor k =
        (arange(200, kDouble) / 8).view({1, 1, 200, 1}).expand({1, 1, 200, 16}).to(dtype);
    const Tensor v = random_memory(dtype, 200 * 16, {-1, 1}).view({1, 1, 200, 16});
    const Tensor got = scaled_dot_product_attention(q.cuda(), k.cuda(), v.cuda());
    const Tensor expected =
        scaled_dot_product_attention(q.to(kDouble), k.to(kDouble), v.to(kDouble));
    const double error = (got.to(kCPU).to(kDouble) - expected).norm().item<double>();
    // A float rounds a score of 100 by up to 100 * 2^-24, and its weight by that share.
    const double unit = std::max(unit_of(dtype), 100 * 0x1p-24);
    EXPECT_LE(error, 3 * unit * expected.norm().item<double>()) << dtype;
  }
}

TEST_F(TensorAttentionTest, KeepsNaN) {
  for (const char* precision : {"highest", "high"})
    for (const ScalarType dtype : {kHalf, kFloat}) {
      set_float32_matmul_precision(precision);
      const Tensor k = ones({1, 1, 5, 8}).to(dtype), q = k.clone();
      q[0][0][4].fill_(std::bit_cast<float>(0x7fffffff));  // what tensor cores give
      const Tensor got = scaled_dot_product_attention(q.cuda(), k.cuda(), k.cuda());
      EXPECT_EQ(got.isnan().sum().item<int64_t>(), 8) << dtype << " " << precision;
    }
}

// A scale that is not positive is no factor of the largest score.
TEST_F(TensorAttentionTest, TakesAnyScale) {
  const Tensor q = random_memory(kFloat, 20 * 8).view({1, 1, 20, 8});
  for (const double scale : {-0.5, 0.0}) {
    const auto run = [&](const Tensor& x) {
      return scaled_dot_product_attention(x, x, x, {}, 0.0, true, scale);
    };
    const Tensor expected = run(q.to(kDouble));
    const double error = (run(q.cuda()).to(kCPU).to(kDouble) - expected).norm().item<double>();
    EXPECT_LE(error, 1e-6 * expected.norm().item<double>()) << scale;
  }
}

TEST_F(TensorAttentionTest, TakesRandomShapes) {
  for (int i = 0; i < 4; ++i) {
    AttentionCase shape{pick(1, 2), pick(1, 2), pick(1, 80), pick(1, 80), pick(1, 64), pick(1, 64)};
    const int64_t kind = pick(0, 2);
    shape.causal = kind == 1, shape.masked = kind == 2, shape.strided = pick(0, 1) == 1;
    shape.sharing = pick(1, 3);
    if (shape.causal) shape.keys = shape.queries;
    const ScalarType types[] = {kHalf, kBFloat16, kFloat};
    expect_attention(shape, types[pick(0, 2)]);
  }
}

TEST_F(TensorAttentionTest, TakesOneKey) {
  for (const ScalarType dtype : {kBFloat16, kHalf, kFloat})
    for (const char* precision : {"highest", "high"}) {
      set_float32_matmul_precision(precision);
      expect_attention({2, 2, 36, 1, 104, 112}, dtype);
      expect_attention({2, 2, 1, 36, 104, 112, true}, dtype);
    }
}

// Rows that the tensor memory accelerator takes, of several tiles.
TEST_F(TensorAttentionTest, TakesRandomShapesOfAlignedRows) {
  const int64_t most = kSimulated ? 90 : 700;
  for (int i = 0; i < (kSimulated ? 2 : 60); ++i) {
    AttentionCase shape{pick(1, 3),    pick(1, 3),      pick(1, most),
                        pick(1, most), 8 * pick(1, 16), 8 * pick(1, 16)};
    shape.causal = pick(0, 1) == 1, shape.strided = pick(0, 1) == 1;
    shape.sharing = pick(1, 3);
    const ScalarType types[] = {kHalf, kBFloat16, kFloat};
    set_float32_matmul_precision(pick(0, 1) == 1 ? "highest" : "high");
    expect_attention(shape, types[pick(0, 2)]);
  }
}

TEST_F(TensorAttentionTest, GivesTheSameBitsEachTime) {
  const AttentionCase shape{2, 3, 300, 300, 64, 64, true};
  Tensors qkv;
  for (int i = 0; i < 3; ++i) qkv.push_back(random_heads(shape, 300, 64, kBFloat16).cuda());
  const Tensors first = attended_and_grads(qkv, {}, true, qkv[0]);
  for (int run = 0; run < (kSimulated ? 1 : 5); ++run) {
    const Tensors again = attended_and_grads(qkv, {}, true, qkv[0]);
    for (size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(equal(first[i], again[i])) << i;
  }
}

// The same weights are dropped as in float32.
TEST_F(TensorAttentionTest, DropsTheWeightsOfItsState) {
  const auto run = [](ScalarType dtype) {
    manual_seed(3);
    const Tensor q = randn({1, 2, 33, 16}).to(kHalf).cuda().to(dtype);
    const Tensor leaf = q.detach().set_requires_grad(true);
    const Tensor out = scaled_dot_product_attention(leaf, leaf, leaf, {}, 0.4);
    return std::pair(out.detach().to(kFloat),
                     autograd::grad({out}, {leaf}, {out.detach()})[0].to(kFloat));
  };
  const auto [out, grad] = run(kFloat);
  const auto [half_out, half_grad] = run(kHalf);
  EXPECT_LE((out - half_out).norm().item<float>(), 2e-3f * out.norm().item<float>());
  EXPECT_LE((grad - half_grad).norm().item<float>(), 4e-3f * grad.norm().item<float>());
}

// The layout of most models: q, k and v are parts of one tensor's rows, and the heads of the result
// are those of the next layer's rows. Neither they nor the gradients are put together by copies.
TEST_F(TensorAttentionTest, TakesPartsOfOneTensorAndGivesThem) {
  constexpr int64_t kBatch = 2, kTokens = 20, kHeads = 2, kWidth = 16;
  for (const bool tokens_first : {false, true})
    for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble}) {
      const int64_t outer = tokens_first ? kTokens : kBatch,
                    inner = tokens_first ? kBatch : kTokens;
      const Tensor qkv = randn({outer, inner, 3 * kHeads * kWidth}).to(dtype);
      const Tensor grad = randn({outer, inner, kHeads * kWidth}).to(dtype);
      const auto run = [&](const Tensor& leaf, const Tensor& of_result) {
        const Tensor all = leaf.detach().set_requires_grad(true) * 1;
        Tensor whole, part;
        const auto split = [&](const Tensor& x) {
          const Tensor heads = x.view({outer, inner, kHeads, kWidth});
          return tokens_first ? heads.permute({1, 2, 0, 3}) : heads.transpose(1, 2);
        };
        const Tensors parts = all.chunk(3, -1);
        all.register_hook([&](const Tensor& g) { whole = g; });
        parts[0].register_hook([&](const Tensor& g) { part = g; });
        const Tensor seen = scaled_dot_product_attention(split(parts[0]), split(parts[1]),
                                                         split(parts[2]), {}, 0.0, true);
        const Tensor rows = tokens_first ? seen.permute({2, 0, 1, 3}) : seen.transpose(1, 2);
        EXPECT_EQ(rows.is_contiguous(), leaf.is_cuda());
        rows.reshape({outer, inner, kHeads * kWidth}).backward(of_result);
        EXPECT_EQ(whole.data_ptr() == part.data_ptr(), leaf.is_cuda());
        return std::pair(rows.detach().to(kCPU, kDouble), whole.to(kCPU, kDouble));
      };
      const auto expected = run(qkv.to(kDouble), grad.to(kDouble));
      const auto got = run(qkv.cuda(), grad.cuda());
      const double unit = dtype == kDouble ? 1e-14 : unit_of(dtype);
      EXPECT_LE((got.first - expected.first).norm().item<double>(),
                3 * unit * expected.first.norm().item<double>());
      EXPECT_LE((got.second - expected.second).norm().item<double>(),
                3 * unit * expected.second.norm().item<double>());
    }
}

TEST_F(TensorAttentionTest, HasASecondDerivative) {
  const Tensor q = randn({1, 1, 4, 8}).to(kBFloat16).cuda().set_requires_grad(true);
  const Tensor out = scaled_dot_product_attention(q, q, q);
  const Tensor first = autograd::grad({out.sum()}, {q}, {}, true, true)[0];
  EXPECT_EQ(autograd::grad({first.sum()}, {q})[0].dtype(), kBFloat16);
}

}  // namespace
}  // namespace gradus
