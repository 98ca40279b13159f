// A language model of two layers of LSTM (Zaremba et al., 2014), written as gpt.h.
#pragma once

namespace bench {

// Tokens (N, T) to scores (N, T, vocabulary).
struct LSTMModel : library::nn::Module {
  LSTMModel(int64_t vocabulary, int64_t width)
      : token(register_module("token", library::nn::Embedding(vocabulary, width))),
        lstm(register_module("lstm",
                             library::nn::LSTM(library::nn::LSTMOptions(width, width)
                                                   .num_layers(2)
                                                   .batch_first(true)))),
        head(register_module("head", library::nn::Linear(width, vocabulary))) {}
  library::Tensor forward(const library::Tensor& tokens) {
    return head->forward(std::get<0>(lstm->forward(token->forward(tokens))));
  }
  library::nn::Embedding token;
  library::nn::LSTM lstm;
  library::nn::Linear head;
};

}  // namespace bench
