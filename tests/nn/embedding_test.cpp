// Embedding and EmbeddingBag: derivatives, options and errors. PyTorch's values: modules.def.
#include "gradus/autograd/tools/gradcheck.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace F = nn::functional;

TEST(Embedding, PassesGradientsToTheRowsThatWereLookedUp) {
  const Tensor weight = randn({4, 3}, kDouble).set_requires_grad(true);
  const Tensor indices = tensor({1, 3, 1, 0}).view({2, 2});
  const auto gradient = [&](const F::EmbeddingFuncOptions& options) {
    return autograd::grad({F::embedding(indices, weight, options).sum()}, {weight})[0].select(1, 0);
  };
  expect_values(gradient({}), {1, 2, 0, 1});
  expect_values(gradient(F::EmbeddingFuncOptions().padding_idx(3)), {1, 2, 0, 0});
  expect_values(gradient(F::EmbeddingFuncOptions().padding_idx(-3)), {1, 0, 0, 1});
  expect_values(gradient(F::EmbeddingFuncOptions().scale_grad_by_freq(true)), {1, 1, 0, 1});
  const auto f = [&](const Tensors& x) {
    return Tensors{F::embedding(indices, x[0], F::EmbeddingFuncOptions().padding_idx(0)).square()};
  };
  EXPECT_TRUE(autograd::gradgradcheck(f, {weight}));
}

TEST(Embedding, LimitsNormsInPlace) {
  const Tensor weight = tensor({3.0, 4.0, 0.3, 0.4}).view({2, 2});
  const Tensor out =
      F::embedding(tensor({0, 1, 0}), weight, F::EmbeddingFuncOptions().max_norm(1.0));
  expect_values(weight, {0.6, 0.8, 0.3, 0.4});
  expect_values(out[0], {0.6, 0.8});
}

TEST(Embedding, PretrainedTablesAreShared) {
  const Tensor table = tensor({1.0f, 2.0f, 3.0f, 4.0f}).view({2, 2});
  nn::Embedding frozen = nn::Embedding::from_pretrained(table);
  EXPECT_FALSE(frozen->weight.requires_grad());
  EXPECT_EQ(frozen->weight.data_ptr(), table.data_ptr());
  const auto copy = std::dynamic_pointer_cast<nn::EmbeddingImpl>(frozen->clone());
  EXPECT_NE(copy->weight.data_ptr(), table.data_ptr());
  EXPECT_EQ(frozen->weight.data_ptr(), table.data_ptr());
  expect_values(copy->forward(tensor({1})), {3, 4});
  nn::Embedding trained =
      nn::Embedding::from_pretrained(table, nn::EmbeddingFromPretrainedOptions().freeze(false));
  EXPECT_TRUE(trained->weight.requires_grad());
  nn::EmbeddingBag bag =
      nn::EmbeddingBag::from_pretrained(table, nn::EmbeddingBagFromPretrainedOptions().mode(kSum));
  expect_values(bag(tensor({0, 1}), tensor({0})), {4, 6});
}

TEST(Embedding, TheRowOfThePaddingIsZero) {
  nn::Embedding embedding(nn::EmbeddingOptions(4, 3).padding_idx(-1));
  EXPECT_EQ(embedding->options.padding_idx(), 3);
  expect_values(embedding->weight[3], {0, 0, 0});
  EXPECT_NE(embedding->weight[0].abs().sum().item<float>(), 0);
}

TEST(EmbeddingBag, HasDerivatives) {
  manual_seed(1);
  const Tensor weight = randn({5, 2}, kDouble).set_requires_grad(true);
  const Tensor scales = randn({5}, kDouble).set_requires_grad(true);
  const Tensor input = tensor({4, 0, 1, 1, 2}), offsets = tensor({0, 3, 3});
  for (const nn::EmbeddingBagMode& mode : std::vector<nn::EmbeddingBagMode>{kSum, kMean, kMax}) {
    const bool scaled = mode == nn::EmbeddingBagMode(kSum);
    const auto f = [&](const Tensors& x) {
      auto options = F::EmbeddingBagFuncOptions().offsets(offsets).mode(mode);
      if (scaled) options.per_sample_weights(x[1]);
      return Tensors{F::embedding_bag(input, x[0], options)};
    };
    const Tensors inputs = scaled ? Tensors{weight, scales} : Tensors{weight};
    EXPECT_TRUE(autograd::gradcheck(f, inputs));
    EXPECT_TRUE(autograd::gradgradcheck(f, inputs));
  }
}

TEST(Embedding, SaysWhatIsWrong) {
  const Tensor weight = ones({3, 2});
  expect_error<ValueError>([&] { F::embedding(tensor({0}), ones({3})); },
                           "embedding: 'weight' must be 2-D, but its shape is [3]");
  expect_error<TypeError>([&] { F::embedding(ones({1}), weight); },
                          "embedding: indices have dtype float32, expected int64 or int32");
  expect_error<IndexError>([&] { F::embedding(tensor({3}), weight); },
                           "index 3 is no row of weight, which has 3 rows");
  expect_error<ValueError>([] { nn::Embedding(nn::EmbeddingOptions(3, 2).padding_idx(3)); },
                           "Padding_idx must be within num_embeddings, but it is 3");
  expect_error<ValueError>(
      [&] { nn::Embedding(nn::EmbeddingOptions(4, 2)._weight(weight)); },
      "Shape of _weight does not match num_embeddings and embedding_dim: it is [3, 2]");
  expect_error<ValueError>([] { nn::Embedding(3, 2)(Tensor()); },
                           "Embedding: indices is undefined");
  expect_error<ValueError>([] { nn::Embedding::from_pretrained(ones({3})); },
                           "Embeddings parameter is expected to be 2-dimensional");
}

TEST(EmbeddingBag, SaysWhatIsWrong) {
  const Tensor weight = ones({3, 2}), flat = tensor({0, 1, 2});
  const auto bag = [&](const Tensor& input, const F::EmbeddingBagFuncOptions& options) {
    F::embedding_bag(input, weight, options);
  };
  const auto with = [](const Tensor& offsets) {
    return F::EmbeddingBagFuncOptions().offsets(offsets);
  };
  expect_error<ValueError>([&] { bag(flat, {}); }, "offsets has to be a 1D Tensor but got null");
  expect_error<ValueError>(
      [&] {
        bag(flat.view({1, 3}), with(tensor({0})));
      },
      "If input is 2D, then offsets has to be null");
  expect_error<ValueError>([&] { bag(flat, with(tensor({1}))); }, "offsets[0] has to be 0");
  expect_error<ValueError>(
      [&] {
        bag(flat.view({1, 1, 3}), {});
      },
      "input has to be 1D or 2D Tensor, but got Tensor of dimension 3");
  expect_error<ValueError>([&] { bag(flat, with(tensor({0})).per_sample_weights(ones({2}))); },
                           "If per_sample_weights ([2]) is not null");
  expect_error<ValueError>([&] { bag(flat, with(tensor({0})).per_sample_weights(ones({3}))); },
                           "per_sample_weights is only supported for mode='kSum'");
  expect_error<ValueError>(
      [&] { bag(flat, with(tensor({0})).mode(kMax).scale_grad_by_freq(true)); },
      "max mode does not support scaling the gradient by the frequency");
  expect_error<ValueError>([&] { bag(flat, with(tensor({0})).mode(kNone)); },
                           "mode has to be one of sum, mean or max");
}

}  // namespace
}  // namespace gradus
