// Trains a generator of images and a discriminator against each other on Fashion-MNIST: Radford et
// al., "Unsupervised representation learning with deep convolutional generative adversarial
// networks" (2016).
#include <gradus/gradus.h>
#include <CLI/CLI.hpp>

#include <iostream>

using namespace gradus;

// Both networks as one module, so that one checkpoint holds them. Codes (N, codes, 1, 1) become
// images (N, 1, 28, 28) in [-1, 1], and images become scores: above 0 for real ones.
struct GANImpl : nn::Module {
  GANImpl(int64_t codes, int64_t width) {
    const auto up = [](int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding) {
      return nn::ConvTranspose2d(
          nn::ConvTranspose2dOptions(in, out, kernel).stride(stride).padding(padding).bias(false));
    };
    const auto down = [](int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding) {
      return nn::Conv2d(
          nn::Conv2dOptions(in, out, kernel).stride(stride).padding(padding).bias(false));
    };
    generator = register_module(
        "generator",
        nn::Sequential(up(codes, 4 * width, 7, 1, 0), nn::BatchNorm2d(4 * width), nn::ReLU(),
                       up(4 * width, 2 * width, 4, 2, 1), nn::BatchNorm2d(2 * width), nn::ReLU(),
                       up(2 * width, 1, 4, 2, 1), nn::Tanh()));
    discriminator = register_module(
        "discriminator",
        nn::Sequential(down(1, 2 * width, 4, 2, 1), nn::LeakyReLU(0.2),
                       down(2 * width, 4 * width, 4, 2, 1), nn::BatchNorm2d(4 * width),
                       nn::LeakyReLU(0.2), down(4 * width, 1, 7, 1, 0), nn::Flatten(0)));
    for (auto& item : named_parameters())
      if (item.value().dim() == 4) nn::init::normal_(item.value(), 0, 0.02);
  }

  nn::Sequential generator{nullptr}, discriminator{nullptr};
};
GRADUS_MODULE(GAN);

// How far the scores are from saying that all images are real, or that none is.
Tensor loss_of(const Tensor& scores, bool real) {
  return nn::functional::binary_cross_entropy_with_logits(scores,
                                                          full_like(scores, real ? 1.0 : 0.0));
}

int main(int argc, char** argv) try {
  std::string folder = "/usr/share/datasets/fashion-mnist", out = "runs/dcgan", device = "cpu";
  int64_t epochs = 5, batch_size = 128, images = 60000, codes = 64, width = 16;
  double lr = 2e-4;
  uint64_t seed = 1;
  bool resume = false;
  CLI::App app("Trains a deep convolutional generative adversarial network.");
  app.option_defaults()->always_capture_default();
  app.add_option("--data", folder,
                 "The four files of MNIST or Fashion-MNIST; Debian's package\n"
                 "dataset-fashion-mnist has them");
  app.add_option("--images", images, "How many of them are used at most")
      ->check(CLI::PositiveNumber);
  app.add_option("--epochs", epochs, "Passes over the images")->check(CLI::PositiveNumber);
  app.add_option("--batch-size", batch_size, "Images in a step")->check(CLI::PositiveNumber);
  app.add_option("--codes", codes, "Random numbers of which an image is made")
      ->check(CLI::PositiveNumber);
  app.add_option("--width", width, "A half of the features of the discriminator's first layer")
      ->check(CLI::PositiveNumber);
  app.add_option("--lr", lr, "Learning rate of both networks");
  app.add_option("--seed", seed, "Of the weights, the order and the codes");
  app.add_option("--device", device, "cpu, cuda or cuda:N");
  app.add_option("--out", out, "Folder for checkpoints and the picture");
  app.add_flag("--resume", resume, "Goes on from the newest checkpoint in the folder");
  CLI11_PARSE(app, argc, argv);

  using namespace data::transforms;
  const data::ImageDataset all = data::load_idx_folder(folder);
  const Tensor used = all.images.narrow(0, 0, std::min(images, all.size())).unsqueeze(1);
  auto pictures = data::TensorPairDataset(used, all.targets.narrow(0, 0, used.size(0)));
  data::DataLoader train(
      pictures.map(Resize<>(28)).map(Normalize<>(0.5, 0.5)),
      data::DataLoaderOptions(batch_size).shuffle(true).drop_last(true).workers(1).device(device));

  manual_seed(seed);
  GAN gan(codes, width);
  gan->to(device);
  const Tensor fixed_codes = randn({32, codes, 1, 1}, Device(device));
  const auto options = optim::AdamOptions(lr).betas({0.5, 0.999});
  optim::Adam of_generator(gan->generator->parameters(), options);
  optim::Adam of_discriminator(gan->discriminator->parameters(), options);
  watch::History history;
  serialize::Checkpoints checkpoints(out, *gan, of_generator);
  checkpoints.add("discriminator_optimizer", of_discriminator);
  checkpoints.add("loader", train).add("history", history);

  for (int64_t epoch = resume ? checkpoints.load() : 0; epoch < epochs;) {
    watch::ProgressBar bar(static_cast<int64_t>(train.size()),
                           watch::ProgressBarOptions().desc("epoch " + std::to_string(epoch + 1)));
    metrics::MeanMetric generator_loss, discriminator_loss;
    gan->train();
    for (auto& batch : train) {
      // The discriminator learns to tell real images from made-up ones ...
      const Tensor made_up =
          gan->generator->forward(randn({batch.data.size(0), codes, 1, 1}, batch.data.options()));
      of_discriminator.zero_grad();
      const Tensor found = loss_of(gan->discriminator->forward(batch.data), true) +
                           loss_of(gan->discriminator->forward(made_up.detach()), false);
      found.backward();
      of_discriminator.step();

      // ... and the generator to make images that it takes for real.
      of_generator.zero_grad();
      const Tensor fooled = loss_of(gan->discriminator->forward(made_up), true);
      fooled.backward();
      of_generator.step();
      discriminator_loss.update(found.detach());
      generator_loss.update(fooled.detach());
      bar.update();
    }
    history.log(
        {{"generator", generator_loss.compute()}, {"discriminator", discriminator_loss.compute()}});
    bar.set_postfix({{"generator", history.column("generator").back()},
                     {"discriminator", history.column("discriminator").back()}});
    checkpoints.save(++epoch);
  }

  const NoGradGuard no_grad;
  gan->eval();
  const Tensor made_up = ((gan->generator->forward(fixed_codes) + 1) / 2).cpu();
  std::vector<watch::CaptionedImage> shown;
  for (int64_t i = 0; i < made_up.size(0); ++i) shown.push_back({made_up[i], ""});
  watch::save_svg(watch::plot_images("Images that the generator made up", shown),
                  out + "/images.svg");
  watch::save_svg(
      watch::plot_curves("Two networks against each other", "epoch",
                         {{"loss", {history.curve("generator"), history.curve("discriminator")}}}),
      out + "/curves.svg");
  std::cout << "pictures: " << out << "/images.svg and curves.svg\n";
} catch (const std::exception& error) {
  std::cerr << "dcgan: " << error.what() << '\n';
  return 1;
}
