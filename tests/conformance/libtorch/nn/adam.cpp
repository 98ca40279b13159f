// Adam and AdamW: their options, groups of parameters, and steps of a small regression.
#include <torch/torch.h>

#include <cstdio>

namespace {

// y = x1 - 2 x2 + 0.5 from 16 points.
template <class Optimizer>
void fit(const char* name, torch::nn::Linear layer, Optimizer& optimizer) {
  const auto x = torch::stack({torch::linspace(-1, 1, 16), torch::linspace(2, -1, 16).square()}, 1);
  const auto y = x.matmul(torch::tensor({{1.0f}, {-2.0f}})) + 0.5;
  for (int step = 1; step <= 60; ++step) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(layer->forward(x), y);
    loss.backward();
    optimizer.step();
    if (step % 20 == 0) std::printf("%s %d loss %.4f\n", name, step, loss.template item<double>());
  }
  const auto w = layer->weight.detach();
  std::printf("%s %.4f %.4f %.4f\n", name, w[0][0].item<double>(), w[0][1].item<double>(),
              layer->bias.detach()[0].item<double>());
}

torch::nn::Linear layer_of_zeros() {
  torch::nn::Linear layer(2, 1);
  torch::NoGradGuard guard;
  for (auto& p : layer->parameters()) p.zero_();
  return layer;
}

}  // namespace

int main() {
  using torch::optim::AdamOptions;
  using torch::optim::AdamWOptions;
  {
    auto layer = layer_of_zeros();
    torch::optim::Adam adam(layer->parameters(), AdamOptions(0.1).betas({0.8, 0.95}));
    fit("adam", layer, adam);
    auto& options = static_cast<AdamOptions&>(adam.param_groups()[0].options());
    std::printf("lr %g betas %g %g eps %g decay %g amsgrad %d\n", options.lr(),
                std::get<0>(options.betas()), std::get<1>(options.betas()), options.eps(),
                options.weight_decay(), int(options.amsgrad()));
    options.lr(0.01);
    std::printf("%g\n", adam.param_groups()[0].options().get_lr());
    adam.param_groups()[0].options().set_lr(0.02);
    std::printf("%g\n", options.lr());
  }
  {
    auto layer = layer_of_zeros();
    torch::optim::Adam adam(layer->parameters(),
                            AdamOptions(0.2).amsgrad(true).weight_decay(0.05).eps(1e-6));
    fit("amsgrad", layer, adam);
  }
  {
    auto layer = layer_of_zeros();
    torch::optim::AdamW adamw(layer->parameters(), AdamWOptions(0.1).weight_decay(0.3));
    fit("adamw", layer, adamw);
    std::printf("%zu states\n", adamw.state().size());
  }
  {
    auto layer = layer_of_zeros();
    std::vector<torch::optim::OptimizerParamGroup> groups;
    groups.emplace_back(std::vector<torch::Tensor>{layer->weight});
    groups.emplace_back(std::vector<torch::Tensor>{layer->bias},
                        std::make_unique<AdamWOptions>(AdamWOptions(0.5).weight_decay(0)));
    torch::optim::AdamW adamw(groups, AdamWOptions(0.05));
    fit("groups", layer, adamw);
    for (auto& group : adamw.param_groups())
      std::printf("lr %g decay %g\n", group.options().get_lr(),
                  static_cast<AdamWOptions&>(group.options()).weight_decay());
  }
  auto p = torch::ones({1}, torch::requires_grad());
  for (const auto& options :
       {AdamOptions(-1), AdamOptions().betas({1.0, 0.9}), AdamOptions().eps(-1e-3)}) {
    try {
      torch::optim::Adam adam({p}, options);
      std::printf("accepted\n");
    } catch (const std::exception&) {
      std::printf("refused\n");
    }
  }
  torch::optim::Adam with_defaults({p});
  const auto& defaults = static_cast<const AdamOptions&>(with_defaults.defaults());
  std::printf("%g %g\n", defaults.lr(), AdamWOptions().weight_decay());
}
