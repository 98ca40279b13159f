// A GPT that generates token by token, with its keys and values in a cache. Written as gpt.h.
#pragma once

#include "bench/models/gpt.h"

namespace bench {

struct Generation {
  // The cache holds `length` tokens of `batch` sequences.
  Generation(std::shared_ptr<GPT> of, int64_t batch, int64_t length) : model(std::move(of)) {
    const library::Tensor& weight = model->token->weight;
    width = weight.size(1);
    tokens = library::zeros({batch, 1}, weight.options().dtype(library::kLong));
    place = library::zeros({1}, tokens.options());
    // Row i hides what comes behind token i.
    hidden = library::full({length, length}, -INFINITY, weight.options()).triu(1);
    for (size_t i = 0; i < model->blocks->size(); ++i)
      caches.push_back(library::zeros({batch, length, 2 * width}, weight.options()));
  }

  // Reads the next token of each sequence and chooses those behind them. Returns all scores.
  library::Tensor step() {
    library::Tensor x = model->token->forward(tokens) + model->place->forward(place);
    const library::Tensor mask = hidden.index_select(0, place);
    for (size_t i = 0; i < caches.size(); ++i)
      x = through(*model->blocks[i]->as<GPTBlock>(), x, caches[i], mask);
    const library::Tensor scores = model->head->forward(model->norm->forward(x));
    tokens.copy_(scores.argmax(-1));
    place.add_(1);
    return scores;
  }

  library::Tensor through(GPTBlock& block, const library::Tensor& x, const library::Tensor& cache,
                          const library::Tensor& mask) const {
    const auto heads = [&](const library::Tensor& part) {
      return part.view({part.size(0), part.size(1), block.heads, width / block.heads})
          .transpose(1, 2);
    };
    const library::Tensor qkv = block.qkv->forward(block.norm1->forward(x));
    cache.index_copy_(1, place, qkv.narrow(-1, width, 2 * width));
    const library::Tensor seen = library::scaled_dot_product_attention(
        heads(qkv.narrow(-1, 0, width)), heads(cache.narrow(-1, 0, width)),
        heads(cache.narrow(-1, width, width)), mask);
    const library::Tensor y =
        x + block.proj->forward(seen.transpose(1, 2).reshape({x.size(0), 1, width}));
    return y + block.down->forward(library::gelu(block.up->forward(block.norm2->forward(y))));
  }

  std::shared_ptr<GPT> model;
  int64_t width;
  library::Tensor tokens, place, hidden;
  std::vector<library::Tensor> caches;
};

}  // namespace bench
