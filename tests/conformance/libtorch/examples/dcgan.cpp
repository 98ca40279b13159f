// The DCGAN example, small: a generator and a discriminator, trained against each other, and saved.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <sstream>

struct DCGANGeneratorImpl : torch::nn::Module {
  explicit DCGANGeneratorImpl(int noise_size)
      : conv1(torch::nn::ConvTranspose2dOptions(noise_size, 16, 4).bias(false)),
        batch_norm1(16),
        conv2(torch::nn::ConvTranspose2dOptions(16, 8, 3).stride(2).padding(1).bias(false)),
        batch_norm2(8),
        conv3(torch::nn::ConvTranspose2dOptions(8, 1, 4).stride(2).padding(1).bias(false)) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv3", conv3);
    register_module("batch_norm1", batch_norm1);
    register_module("batch_norm2", batch_norm2);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(batch_norm1(conv1(x)));
    x = torch::relu(batch_norm2(conv2(x)));
    return torch::tanh(conv3(x));
  }

  torch::nn::ConvTranspose2d conv1;
  torch::nn::BatchNorm2d batch_norm1;
  torch::nn::ConvTranspose2d conv2;
  torch::nn::BatchNorm2d batch_norm2;
  torch::nn::ConvTranspose2d conv3;
};
TORCH_MODULE(DCGANGenerator);

static torch::nn::Sequential make_discriminator() {
  return torch::nn::Sequential(
      torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 8, 4).stride(2).padding(1).bias(false)),
      torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)),
      torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 16, 3).stride(2).padding(1).bias(false)),
      torch::nn::BatchNorm2d(16),
      torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)),
      torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 1, 4).stride(1).padding(0).bias(false)),
      torch::nn::Sigmoid());
}

// Bright squares on a dark ground, between -1 and 1.
static torch::Tensor pictures(int64_t count) {
  auto out = torch::full({count, 1, 14, 14}, -0.9);
  out.index_put_(
      {torch::indexing::Slice(), 0, torch::indexing::Slice(4, 10), torch::indexing::Slice(4, 10)},
      0.9);
  return out + 0.05 * torch::randn_like(out);
}

int main() {
  torch::manual_seed(1);
  const int kNoise = 8;
  const int64_t kBatch = 8;
  DCGANGenerator generator(kNoise);
  auto discriminator = make_discriminator();
  torch::optim::Adam generator_optimizer(
      generator->parameters(), torch::optim::AdamOptions(2e-3).betas(std::make_tuple(0.5, 0.5)));
  torch::optim::Adam discriminator_optimizer(
      discriminator->parameters(),
      torch::optim::AdamOptions(5e-4).betas(std::make_tuple(0.5, 0.5)));
  bool finite = true;
  for (int step = 0; step < 200; ++step) {
    discriminator->zero_grad();
    auto real_images = pictures(kBatch);
    auto real_labels = torch::empty({kBatch}).uniform_(0.8, 1.0);
    auto real_output = discriminator->forward(real_images).reshape(real_labels.sizes());
    auto d_loss_real = torch::binary_cross_entropy(real_output, real_labels);
    d_loss_real.backward();

    auto noise = torch::randn({kBatch, kNoise, 1, 1});
    auto fake_images = generator->forward(noise);
    auto fake_labels = torch::zeros(kBatch);
    auto fake_output = discriminator->forward(fake_images.detach()).reshape(fake_labels.sizes());
    auto d_loss_fake = torch::binary_cross_entropy(fake_output, fake_labels);
    d_loss_fake.backward();
    auto d_loss = d_loss_real + d_loss_fake;
    discriminator_optimizer.step();

    generator->zero_grad();
    fake_labels.fill_(1);
    fake_output = discriminator->forward(fake_images).reshape(fake_labels.sizes());
    auto g_loss = torch::binary_cross_entropy(fake_output, fake_labels);
    g_loss.backward();
    generator_optimizer.step();
    finite = finite && std::isfinite(d_loss.item<float>()) && std::isfinite(g_loss.item<float>());
  }
  std::cout << "finite: " << finite << "\n";

  // What is generated has a bright middle.
  generator->eval();
  auto noise = torch::randn({16, kNoise, 1, 1});
  auto images = generator->forward(noise).detach();
  std::cout << images.sizes() << " brighter inside: "
            << (images.narrow(2, 5, 4).narrow(3, 5, 4).mean() > images.select(2, 0).mean() + 0.1)
                   .item<bool>()
            << "\n";

  // Checkpoints, in streams.
  std::stringstream saved, saved_optimizer;
  torch::save(generator, saved);
  torch::save(generator_optimizer, saved_optimizer);
  DCGANGenerator again(kNoise);
  torch::load(again, saved);
  again->eval();
  torch::optim::Adam optimizer_again(again->parameters(), torch::optim::AdamOptions(2e-3));
  torch::load(optimizer_again, saved_optimizer);
  std::cout << "the same: " << torch::allclose(again->forward(noise), images) << "\n";
  for (const auto& pair : again->named_parameters())
    std::cout << pair.key() << " " << pair.value().sizes() << "\n";
}
