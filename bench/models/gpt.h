// A GPT (Radford et al., "Language models are unsupervised multitask learners", 2019), written in
// names that Gradus and libtorch share. Before it is included, `library` stands for gradus or
// torch.
#pragma once

namespace bench {

struct GPTSizes {
  int64_t vocabulary, tokens, layers, heads, width;
};

struct GPTBlock : library::nn::Module {
  // sees_all: each token sees those behind it, too.
  GPTBlock(int64_t of_heads, int64_t width, bool sees_all = false)
      : heads(of_heads),
        causal(!sees_all),
        norm1(register_module("norm1", norm(width))),
        qkv(register_module("qkv", library::nn::Linear(width, 3 * width))),
        proj(register_module("proj", library::nn::Linear(width, width))),
        norm2(register_module("norm2", norm(width))),
        up(register_module("up", library::nn::Linear(width, 4 * width))),
        down(register_module("down", library::nn::Linear(4 * width, width))) {}

  static library::nn::LayerNorm norm(int64_t width) {
    return library::nn::LayerNorm(library::nn::LayerNormOptions({width}));
  }

  library::Tensor forward(const library::Tensor& x,
                          const std::optional<library::Tensor>& mask = {}) {
    const int64_t batch = x.size(0), tokens = x.size(1), width = x.size(2);
    const auto parts = qkv->forward(norm1->forward(x)).chunk(3, -1);
    const auto split = [&](const library::Tensor& part) {
      return part.view({batch, tokens, heads, width / heads}).transpose(1, 2);
    };
    const library::Tensor seen = library::scaled_dot_product_attention(
        split(parts[0]), split(parts[1]), split(parts[2]), mask, 0.0, causal);
    const library::Tensor y =
        x + proj->forward(seen.transpose(1, 2).reshape({batch, tokens, width}));
    return y + down->forward(library::gelu(up->forward(norm2->forward(y))));
  }

  int64_t heads;
  bool causal;
  library::nn::LayerNorm norm1;
  library::nn::Linear qkv, proj;
  library::nn::LayerNorm norm2;
  library::nn::Linear up, down;
};

// Tokens (N, T) to scores (N, T, vocabulary).
struct GPT : library::nn::Module {
  explicit GPT(const GPTSizes& sizes)
      : token(register_module("token", library::nn::Embedding(sizes.vocabulary, sizes.width))),
        place(register_module("place", library::nn::Embedding(sizes.tokens, sizes.width))),
        norm(register_module("norm", GPTBlock::norm(sizes.width))),
        head(register_module("head", library::nn::Linear(sizes.width, sizes.vocabulary))) {
    for (int64_t i = 0; i < sizes.layers; ++i)
      blocks->push_back(std::make_shared<GPTBlock>(sizes.heads, sizes.width));
    register_module("blocks", blocks);
  }
  library::Tensor forward(const library::Tensor& tokens) {
    const auto places = library::arange(tokens.size(1), tokens.options());
    library::Tensor x = token->forward(tokens) + place->forward(places);
    for (const auto& block : *blocks) x = block->as<GPTBlock>()->forward(x);
    return head->forward(norm->forward(x));
  }
  library::nn::Embedding token, place;
  library::nn::LayerNorm norm;
  library::nn::Linear head;
  library::nn::ModuleList blocks;
};

// The same with layers in which each token sees all others but for those that pad: tokens 0.
struct PaddedEncoder : GPT {
  explicit PaddedEncoder(const GPTSizes& sizes) : GPT(sizes) {
    for (const auto& block : *blocks) block->as<GPTBlock>()->causal = false;
  }
  library::Tensor forward(const library::Tensor& tokens) {
    const auto places = library::arange(tokens.size(1), tokens.options());
    const library::Tensor mask = (tokens != 0).view({tokens.size(0), 1, 1, tokens.size(1)});
    library::Tensor x = token->forward(tokens) + place->forward(places);
    for (const auto& block : *blocks) x = block->as<GPTBlock>()->forward(x, mask);
    return head->forward(norm->forward(x));
  }
};

}  // namespace bench
