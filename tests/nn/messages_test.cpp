// Inputs of wrong shapes: what the error of each family of modules says, and that nothing changes.
#include "gradus/gradus.h"
#include "tests/support.h"

namespace gradus::test {
namespace {

namespace F = nn::functional;

Tensor numbers(std::vector<int64_t> values) { return tensor(values, kLong); }

template <class Call>
void refuses(const std::string& part, const Call& call) {
  expect_error<ValueError>(call, part);
}

TEST(Messages, OfEmbeddingsNameTheNumberAndTheRows) {
  const auto expect_row = [](auto call) {
    expect_error<IndexError>(
        call,
        "embedding: index 10 is no row of weight, which has 10 rows; expected 0 <= index < 10");
  };
  expect_row([] { nn::Embedding(10, 3)(numbers({1, 10})); });
  expect_row([] { nn::Embedding(nn::EmbeddingOptions(10, 3).max_norm(1))(numbers({10})); });
  expect_row([] { nn::EmbeddingBag(10, 3)(numbers({1, 10}), numbers({0})); });
  expect_error<IndexError>(
      [] {
        nn::Embedding(10, 3)(tensor({2, -1}, kInt));
      },
      "index -1 is no row");
  refuses("Embedding: num_embeddings and embedding_dim are -1 and 3; give numbers of 0 or more",
          [] { nn::Embedding(-1, 3); });
  refuses("padding_idx is", [] { gradus::embedding(ones({2, 2}), numbers({0}), 2); });
  refuses("but it is 10, and there are 10 rows; expected -10 <= padding_idx < 10",
          [] { nn::Embedding(nn::EmbeddingOptions(10, 3).padding_idx(10)); });
  refuses("offsets[-1] can not be greater than input's length 2 but got offsets[-1] of 3", [] {
    nn::EmbeddingBag(10, 3)(numbers({1, 2}), numbers({0, 3}));
  });
  refuses("null; give where each bag begins", [] { nn::EmbeddingBag(10, 3)(numbers({1, 2})); });
}

TEST(Messages, OfAnEmbeddingOnAGpuNameTheOperation) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  expect_error<IndexError>(
      [] {
        nn::Embedding table(10, 3);
        table->to(kCUDA);
        table(numbers({1, 10}).to(kCUDA)).sum().item<float>();
      },
      "embedding: index 10 is out of bounds for dimension 0 with size 10");
}

TEST(Messages, OfRecurrentLayersSayTheShapeAndAFix) {
  refuses(
      "LSTM: input.size(-1) must be equal to input_size. Expected 4, got 7; input has shape [3, 2, "
      "7], "
      "expected (length, batch, input_size), permute it or make the module with input_size = 7",
      [] {
        nn::LSTM(4, 5)(zeros({3, 2, 7}));
      });
  refuses("expected (batch, length, input_size)", [] {
    nn::GRU(nn::GRUOptions(4, 5).batch_first(true))(zeros({3, 2, 7}));
  });
  refuses("RNN: input must have 3 dimensions, or 2 without a batch, got 1; it has shape [4]",
          [] { nn::RNN(4, 5)(zeros({4})); });
  refuses("larger than 0 in RNN, but input has shape [0, 2, 4]; give one step or more", [] {
    nn::RNN(4, 5)(zeros({0, 2, 4}));
  });
  refuses(
      "Expected hidden size [1, 2, 5], got [1, 3, 5]; it is (layers * directions, batch, width)",
      [] {
        nn::GRU(4, 5)(zeros({3, 2, 4}), zeros({1, 3, 5}));
      });
  refuses("Expected hidden[1] size [1, 2, 5], got [1, 2, 6]", [] {
    nn::LSTM(4, 5)(zeros({3, 2, 4}), std::make_tuple(zeros({1, 2, 5}), zeros({1, 2, 6})));
  });
  refuses("GRUCell: input has inconsistent input_size: got 3 expected 4; input has shape [2, 3]",
          [] {
            nn::GRUCell(4, 5)(zeros({2, 3}));
          });
  refuses(
      "pad_sequence: sequences have shapes [2, 3] and [2, 4]; they may differ in dimension 0 alone",
      [] {
        nn::utils::rnn::pad_sequence({zeros({2, 3}), zeros({2, 4})});
      });
}

TEST(Messages, OfNormsNameTheModuleAndItsChannels) {
  refuses(
      "BatchNorm1d: expected input's size at dim=1 to match num_features (3), but got: 4; input "
      "has "
      "shape [2, 4], permute it or make the module with num_features = 4",
      [] {
        nn::BatchNorm1d(3)(zeros({2, 4}));
      });
  refuses("BatchNorm2d: expected 4D input (got 3D input); it has shape [3, 5, 6], use unsqueeze",
          [] {
            nn::BatchNorm2d(3)(zeros({3, 5, 6}));
          });
  refuses("InstanceNorm2d: expected input's size at dim=1 to match num_features (3), but got: 4",
          [] {
            nn::InstanceNorm2d(3)(zeros({2, 4, 5, 6}));
          });
  refuses("InstanceNorm2d: expected input's size at dim=0 to match num_features (3), but got: 4",
          [] {
            nn::InstanceNorm2d(3)(zeros({4, 5, 6}));
          });
  refuses("LayerNorm: normalized_shape is [-4], expected sizes of 0 or more",
          [] { nn::LayerNorm(std::vector<int64_t>{-4}); });
  refuses("input of size [2, 5]; permute the input or change normalized_shape", [] {
    nn::LayerNorm(std::vector<int64_t>{4})(zeros({2, 5}));
  });
  refuses("but got input of size [2, 5]; permute", [] {
    nn::RMSNorm(std::vector<int64_t>{4})(zeros({2, 5}));
  });
  refuses("and num_groups=2; give a divisor of 5", [] { nn::GroupNorm(2, 4)(zeros({2, 5, 3})); });
}

TEST(Messages, LeaveTheBatchesOfABatchNormUncounted) {
  const nn::BatchNorm1d norm(3);
  refuses("more than 1 value per channel", [&] { norm->forward(zeros({1, 3})); });
  EXPECT_EQ(norm->num_batches_tracked.item<int64_t>(), 0);
  norm->forward(zeros({2, 3}));
  EXPECT_EQ(norm->num_batches_tracked.item<int64_t>(), 1);
}

TEST(Messages, OfAttentionNameWidthsAndMasks) {
  refuses("but they are 10 and 3; give a num_heads that divides 10",
          [] { nn::MultiheadAttention(10, 3); });
  const nn::MultiheadAttention attention(8, 2);
  const auto attend = [&](const Tensor& q, const Tensor& k, const Tensor& v,
                          const Tensor& unseen = {}, const Tensor& mask = {}) {
    return [=] { attention->forward(q, k, v, unseen, true, mask); };
  };
  const Tensor three = zeros({3, 2, 8}), four = zeros({4, 2, 8}), wide = zeros({3, 2, 9});
  refuses("query has shape [3, 2, 9], expected embed_dim = 8 last; permute it",
          attend(wide, wide, wide));
  refuses(
      "key and value have shapes [3, 2, 9] and [3, 2, 8], expected embed_dim = 8 last; set kdim",
      attend(three, wide, three));
  refuses("unsqueeze(1) for a batch of 1", attend(zeros({3, 8}), zeros({3, 8}), zeros({3, 8})));
  refuses("key_padding_mask has shape [2, 3], expected [2, 4], (batch, sources)",
          attend(three, four, four, zeros({2, 3}, kBool)));
  refuses("attn_mask has shape [4, 3], expected [3, 4] or [4, 3, 4], (targets, sources)",
          attend(three, four, four, {}, zeros({4, 3}, kBool)));
  refuses("attn_mask has shape [3, 3], which does not broadcast to [2, 3, 5], (..., queries, keys)",
          [] {
            scaled_dot_product_attention(zeros({2, 3, 4}), zeros({2, 5, 4}), zeros({2, 5, 4}),
                                         zeros({3, 3}));
          });
}

TEST(Messages, OfWindowsNameTheOperationOfTheUser) {
  refuses(
      "lp_pool2d: Expected 3D or 4D (batch mode) tensor for input, but got: [8, 8]; use unsqueeze",
      [] {
        nn::LPPool2d(2, 3)(zeros({8, 8}));
      });
  refuses("ConvTranspose2d: output_size is [20], expected a size for each of 2 spatial dimensions",
          [] {
            nn::ConvTranspose2d(3, 4, 3)(zeros({2, 3, 8, 8}), std::vector<int64_t>{20});
          });
  const Tensor pooled = zeros({1, 1, 2, 2});
  refuses("max_unpool2d: kernel_size and stride must be 1 or more, but they are [0, 0] and [0, 0]",
          [&] {
            nn::MaxUnpool2d(0)(pooled, zeros({1, 1, 2, 2}, kLong));
          });
  expect_error<IndexError>(
      [&] {
        nn::MaxUnpool2d(2)(pooled, full({1, 1, 2, 2}, 99, kLong));
      },
      "max_unpool2d: Found an invalid max index: 99; the output of shape [1, 1, 4, 4]");
  expect_error<TypeError>([&] { nn::MaxUnpool2d(2)(pooled, pooled); },
                          "max_unpool2d: indices have dtype float32, expected int64");
  refuses("of shape Nx2x3 for size [1, 3, 5, 4]. Got [2, 2, 3]. Expand one to N = 1", [] {
    F::affine_grid(zeros({2, 2, 3}), {1, 3, 5, 4});
  });
  refuses("Expected non-zero, positive output size. Got [-1, 1, 2, 2]", [] {
    F::affine_grid(zeros({2, 2, 3}), {-1, 1, 2, 2});
  });
}

// Options that make no sense for any input are refused and not computed with.
TEST(Messages, OfOptionsThatNoInputFits) {
  const Tensor x = ones({2, 4, 6, 6}), rows = ones({2, 3});
  refuses("hardtanh: min_val is 1 and max_val -1; expected min_val <= max_val",
          [&] { nn::Hardtanh(nn::HardtanhOptions().min_val(1).max_val(-1))(x); });
  refuses("lp_pool2d: norm_type is 0", [&] { nn::LPPool2d(0, 2)(x); });
  refuses("batch_norm: eps is 0; expected more than 0 in training",
          [&] { nn::BatchNorm2d(nn::BatchNorm2dOptions(4).eps(0))(x); });
  refuses("GroupNorm: num_channels is 4 and num_groups 3; expected groups of equal size",
          [&] { nn::GroupNorm(3, 4); });
  refuses("GroupNorm: num_channels is 4 and num_groups 0", [&] { nn::GroupNorm(0, 4); });
  refuses("cosine_similarity: eps is -1; expected 0 or more",
          [&] { cosine_similarity(rows, rows, 1, -1); });
  for (const double margin : {0., -1.})
    refuses("triplet_margin_loss: margin is", [&] {
      nn::TripletMarginLoss(nn::TripletMarginLossOptions().margin(margin))(rows, rows, rows);
    });
  refuses("pad: mode \"replicate\" with -3 and -3 leaves nothing of dimension 3 of size 6",
          [&] { nn::ReplicationPad2d(-3)(x); });
  // The bounds themselves are taken.
  EXPECT_EQ(hardtanh(rows, 1, 1).sum().item<float>(), 6);
  EXPECT_EQ(nn::BatchNorm2d(nn::BatchNorm2dOptions(4).eps(1e-30))(x).sizes(), x.sizes());
}

TEST(Messages, OfLossesNameTheLoss) {
  const Tensor two = zeros({2}), three = zeros({3});
  const auto sizes = [](const char* op) {
    return std::string(op) + ": The size of tensor a (2) must match the size of tensor b (3)";
  };
  refuses(sizes("kl_div"), [&] { F::kl_div(two, three, F::KLDivFuncOptions(kSum)); });
  refuses(sizes("soft_margin_loss"), [&] { nn::SoftMarginLoss()(two, three); });
  refuses(sizes("hinge_embedding_loss"), [&] { nn::HingeEmbeddingLoss()(two, three); });
  refuses(sizes("poisson_nll_loss"), [&] { nn::PoissonNLLLoss()(two, three); });
  refuses(sizes("multilabel_soft_margin_loss"),
          [&] { nn::MultiLabelSoftMarginLoss()(two, three); });
  refuses(sizes("margin_ranking_loss"), [&] { nn::MarginRankingLoss()(two, three, two); });
  refuses(sizes("pairwise_distance"), [&] { nn::PairwiseDistance()(two, three); });
  refuses(sizes("triplet_margin_loss"), [&] { nn::TripletMarginLoss()(two, three, two); });
  refuses(sizes("cosine_embedding_loss"), [&] {
    nn::CosineEmbeddingLoss()(zeros({4, 2}), zeros({4, 3}), zeros({4}));
  });
  expect_error<TypeError>(
      [] {
        nn::CrossEntropyLoss()(zeros({2, 3}), zeros({2, 4}));
      },
      "expected class numbers of int64, or probabilities of input's shape [2, 3], and it has shape "
      "[2, 4]");
}

}  // namespace
}  // namespace gradus::test
