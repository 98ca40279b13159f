// A language model of a transformer encoder: it learns to go on with a text of a few letters.
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

struct PositionalEncodingImpl : torch::nn::Module {
  PositionalEncodingImpl(int64_t d_model, double p, int64_t max_len = 64)
      : dropout(torch::nn::DropoutOptions(p)) {
    register_module("dropout", dropout);
    auto position = torch::arange(max_len, torch::kFloat).unsqueeze(1);
    auto div = torch::exp(torch::arange(0, d_model, 2, torch::kFloat) *
                          (-std::log(10000.0) / static_cast<double>(d_model)));
    auto table = torch::zeros({max_len, d_model});
    using torch::indexing::None;
    using torch::indexing::Slice;
    table.index_put_({Slice(), Slice(0, None, 2)}, torch::sin(position * div));
    table.index_put_({Slice(), Slice(1, None, 2)}, torch::cos(position * div));
    pe = register_buffer("pe", table.unsqueeze(1));
  }
  torch::Tensor forward(torch::Tensor x) { return dropout(x + pe.slice(0, 0, x.size(0))); }

  torch::nn::Dropout dropout;
  torch::Tensor pe;
};
TORCH_MODULE(PositionalEncoding);

struct TransformerModelImpl : torch::nn::Module {
  TransformerModelImpl(int64_t tokens, int64_t d_model, int64_t heads, int64_t hidden,
                       int64_t layers)
      : width(d_model) {
    embedding = register_module("embedding", torch::nn::Embedding(tokens, d_model));
    position = register_module("position", PositionalEncoding(d_model, 0.0));
    auto layer =
        torch::nn::TransformerEncoderLayer(torch::nn::TransformerEncoderLayerOptions(d_model, heads)
                                               .dim_feedforward(hidden)
                                               .dropout(0.0));
    encoder = register_module("encoder", torch::nn::TransformerEncoder(
                                             torch::nn::TransformerEncoderOptions(layer, layers)));
    decoder = register_module("decoder", torch::nn::Linear(d_model, tokens));
    for (auto& p : encoder->parameters())
      if (p.dim() > 1) torch::nn::init::xavier_uniform_(p);
  }
  // src: (length, batch)
  torch::Tensor forward(const torch::Tensor& src) {
    auto mask = torch::full({src.size(0), src.size(0)}, -INFINITY).triu(1);
    auto x = position(embedding(src) * std::sqrt(static_cast<double>(width)));
    return decoder(encoder(x, mask));
  }

  int64_t width;
  torch::nn::Embedding embedding{nullptr};
  PositionalEncoding position{nullptr};
  torch::nn::TransformerEncoder encoder{nullptr};
  torch::nn::Linear decoder{nullptr};
};
TORCH_MODULE(TransformerModel);

int main() {
  torch::manual_seed(1);
  const std::string text = "abcdefgh";
  const int64_t tokens = static_cast<int64_t>(text.size()), length = 8, batch = 8;
  TransformerModel model(tokens, 16, 2, 32, 2);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-2));
  double first = 0, last = 0;
  for (int step = 0; step < 80; ++step) {
    // Each sequence goes through the letters from a place of its own, in steps of 1 or 2.
    auto begin = torch::randint(tokens, {1, batch});
    auto stride = torch::randint(1, 3, {1, batch});
    auto all = (begin + stride * torch::arange(length + 1).unsqueeze(1)).remainder(tokens);
    auto source = all.slice(0, 0, length), target = all.slice(0, 1);
    model->train();
    optimizer.zero_grad();
    auto output = model->forward(source);
    auto loss =
        torch::nn::functional::cross_entropy(output.view({-1, tokens}), target.reshape({-1}));
    loss.backward();
    torch::nn::utils::clip_grad_norm_(model->parameters(), 0.5);
    optimizer.step();
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  std::cout << "loss falls to half: " << (2 * last < first) << "\n";

  // Goes on with "abc" and with "bdf".
  model->eval();
  torch::NoGradGuard guard;
  for (std::vector<int64_t> start :
       {std::vector<int64_t>{0, 1, 2}, std::vector<int64_t>{1, 3, 5}}) {
    auto sequence = torch::tensor(start).unsqueeze(1);
    for (int i = 0; i < 4; ++i) {
      auto next = model->forward(sequence)[-1].argmax(-1, /*keepdim=*/true);
      sequence = torch::cat({sequence, next.view({1, 1})});
    }
    for (int64_t i = 0; i < sequence.size(0); ++i)
      std::cout << text[static_cast<size_t>(sequence[i][0].item<int64_t>())];
    std::cout << "\n";
  }
  std::cout << model->parameters().size() << " " << model->buffers().size() << "\n";
}
