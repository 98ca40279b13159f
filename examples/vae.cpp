// Trains a variational autoencoder on Fashion-MNIST, and draws images that it makes up: Kingma and
// Welling, "Auto-encoding variational Bayes" (2014).
#include <gradus/gradus.h>
#include <CLI/CLI.hpp>

#include <iostream>

using namespace gradus;

// Images as rows of pixels in [0, 1] to a normal distribution of codes, and a code to an image.
struct VAEImpl : nn::Module {
  VAEImpl(int64_t pixels, int64_t hidden, int64_t codes)
      : encoder(register_module("encoder", nn::Linear(pixels, hidden))),
        mean(register_module("mean", nn::Linear(hidden, codes))),
        log_variance(register_module("log_variance", nn::Linear(hidden, codes))),
        decoder(register_module("decoder", nn::Sequential(nn::Linear(codes, hidden), nn::ReLU(),
                                                          nn::Linear(hidden, pixels)))) {}

  // Means and logarithms of variances.
  std::pair<Tensor, Tensor> encode(const Tensor& images) {
    const Tensor h = encoder(images).relu();
    return {mean(h), log_variance(h)};
  }
  // Of each pixel the number whose sigmoid is its brightness.
  Tensor decode(const Tensor& codes) { return decoder->forward(codes); }

  nn::Linear encoder, mean, log_variance;
  nn::Sequential decoder;
};
GRADUS_MODULE(VAE);

// The negative lower bound of the log-likelihood, a mean over the images: how badly a code drawn
// from the distribution gives the image again, and how far the distribution is from a standard one.
Tensor loss_of(VAE& model, const Tensor& images) {
  const auto [mu, log_variance] = model->encode(images);
  const Tensor codes = mu + (log_variance / 2).exp() * randn_like(mu);
  const Tensor pixels = nn::functional::binary_cross_entropy_with_logits(
      model->decode(codes), images,
      nn::functional::BinaryCrossEntropyWithLogitsFuncOptions().reduction(kSum));
  const Tensor distance = -0.5 * (1 + log_variance - mu.pow(2) - log_variance.exp()).sum();
  return (pixels + distance) / images.size(0);
}

int main(int argc, char** argv) try {
  std::string folder = "/usr/share/datasets/fashion-mnist", out = "runs/vae", device = "cpu";
  int64_t epochs = 10, batch_size = 128, hidden = 400, codes = 20;
  double lr = 1e-3;
  uint64_t seed = 1;
  bool resume = false;
  CLI::App app("Trains a variational autoencoder.");
  app.option_defaults()->always_capture_default();
  app.add_option("--data", folder,
                 "The four files of MNIST or Fashion-MNIST; Debian's package\n"
                 "dataset-fashion-mnist has them");
  app.add_option("--epochs", epochs, "Passes over the training images")->check(CLI::PositiveNumber);
  app.add_option("--batch-size", batch_size, "Images in a step")->check(CLI::PositiveNumber);
  app.add_option("--hidden", hidden, "Width of the hidden layers")->check(CLI::PositiveNumber);
  app.add_option("--codes", codes, "Numbers of a code")->check(CLI::PositiveNumber);
  app.add_option("--lr", lr, "Learning rate");
  app.add_option("--seed", seed, "Of the weights, the order and the codes");
  app.add_option("--device", device, "cpu, cuda or cuda:N");
  app.add_option("--out", out, "Folder for checkpoints and the picture");
  app.add_flag("--resume", resume, "Goes on from the newest checkpoint in the folder");
  CLI11_PARSE(app, argc, argv);

  const data::ImageDataset images = data::load_idx_folder(folder, /*train=*/true);
  const data::ImageDataset unseen = data::load_idx_folder(folder, /*train=*/false);
  const int64_t height = images.images.size(1), width = images.images.size(2);
  const auto options = data::DataLoaderOptions(batch_size).device(device);
  data::DataLoader train(data::TensorDataset(images.images.flatten(1)),
                         data::DataLoaderOptions(options).shuffle(true));
  data::DataLoader test(data::TensorDataset(unseen.images.flatten(1)), options);

  manual_seed(seed);
  VAE model(height * width, hidden, codes);
  model->to(device);
  optim::Adam adam(model->parameters(), lr);
  watch::History history;
  serialize::Checkpoints checkpoints(out, *model, adam);
  checkpoints.add("loader", train).add("history", history);

  for (int64_t epoch = resume ? checkpoints.load() : 0; epoch < epochs;) {
    watch::ProgressBar bar(static_cast<int64_t>(train.size()),
                           watch::ProgressBarOptions().desc("epoch " + std::to_string(epoch + 1)));
    metrics::MeanMetric train_loss, test_loss;
    for (auto& batch : train) {
      adam.zero_grad();
      const Tensor loss = loss_of(model, batch.data);
      loss.backward();
      adam.step();
      train_loss.update(loss.detach(), static_cast<double>(batch.data.size(0)));
      bar.update();
    }
    const NoGradGuard no_grad;
    for (auto& batch : test)
      test_loss.update(loss_of(model, batch.data), static_cast<double>(batch.data.size(0)));
    history.log({{"training", train_loss.compute()}, {"test", test_loss.compute()}});
    bar.set_postfix({{"loss", history.column("training").back()},
                     {"test loss", history.column("test").back()}});
    checkpoints.save(++epoch);
  }

  // Test images, what is left of each behind its code, and images of random codes.
  const NoGradGuard no_grad;
  manual_seed(seed);
  const int64_t across = 8;
  const Tensor originals = unseen.images.narrow(0, 0, across);
  const auto picture_of = [&](const Tensor& code) {
    return model->decode(code).sigmoid().view({-1, height, width}).cpu();
  };
  const Tensor again = picture_of(model->encode(originals.flatten(1).to(device)).first);
  const Tensor made_up = picture_of(randn({2 * across, codes}, Device(device)));
  std::vector<watch::CaptionedImage> shown;
  for (int64_t i = 0; i < across; ++i) shown.push_back({originals[i], "test image"});
  for (int64_t i = 0; i < across; ++i) shown.push_back({again[i], "from its code"});
  for (int64_t i = 0; i < 2 * across; ++i) shown.push_back({made_up[i], "made up"});
  watch::save_svg(watch::plot_images("A variational autoencoder", shown, across),
                  out + "/images.svg");
  watch::save_svg(watch::plot_curves("A variational autoencoder on " + images.name, "epoch",
                                     {{"negative lower bound of an image",
                                       {history.curve("training"), history.curve("test")}}}),
                  out + "/curves.svg");
  std::cout << "test loss " << history.column("test").back() << "; pictures: " << out
            << "/images.svg and curves.svg\n";
} catch (const std::exception& error) {
  std::cerr << "vae: " << error.what() << '\n';
  return 1;
}
