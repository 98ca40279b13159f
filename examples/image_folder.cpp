// Trains a convolutional network on pictures that lie in a folder for each class:
//
//   image_folder --data pictures      pictures/cat/1.png, pictures/dog/a.jpg, ...
//
// Without --data it writes the digits of the repository into such a folder first.
#include <gradus/gradus.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>

using namespace gradus;
namespace fs = std::filesystem;

// 0/0001.png, ...: the images of a set in the format of MNIST.
void write_pictures(const std::string& idx_folder, const fs::path& to) {
  const data::ImageDataset digits = data::load_idx_folder(idx_folder);
  for (int64_t i = 0; i < digits.size(); ++i) {
    const fs::path folder = to / std::to_string(digits.targets[i].item<int64_t>());
    fs::create_directories(folder);
    watch::save_image(digits.images[i], (folder / (std::to_string(i) + ".png")).string());
  }
}

int main(int argc, char** argv) try {
  std::string folder, digits = "data/digits", out = "runs/image_folder", device = "cpu";
  int64_t epochs = 12, batch_size = 32, workers = 2, side = 32;
  double lr = 3e-3;
  uint64_t seed = 1;
  bool resume = false;
  CLI::App app("Trains a convolutional network on a folder of pictures.");
  app.option_defaults()->always_capture_default();
  app.add_option("--data", folder, "Holds a folder of PNG and JPEG files for each class");
  app.add_option("--digits", digits, "What is written as pictures where there is no --data");
  app.add_option("--side", side, "Pictures become squares of so many pixels")
      ->check(CLI::Range(8, 512));
  app.add_option("--epochs", epochs, "Passes over the training pictures")
      ->check(CLI::PositiveNumber);
  app.add_option("--batch-size", batch_size, "Pictures in a step")->check(CLI::PositiveNumber);
  app.add_option("--lr", lr, "Highest learning rate");
  app.add_option("--workers", workers, "Threads that read pictures ahead");
  app.add_option("--seed", seed, "Of the weights, the order, and the pictures that are held back");
  app.add_option("--device", device, "cpu, cuda or cuda:N");
  app.add_option("--out", out, "Folder for checkpoints and the picture");
  app.add_flag("--resume", resume, "Goes on from the newest checkpoint in the folder");
  CLI11_PARSE(app, argc, argv);
  if (folder.empty()) {
    folder = out + "/pictures";
    // A program that is stopped meanwhile leaves no half of a data set.
    const std::string partial = folder + ".partial";
    fs::remove_all(partial);
    if (!fs::exists(folder)) write_pictures(digits, partial), fs::rename(partial, folder);
    std::cout << "No --data, so these are the digits of " << digits << ", as PNG files in "
              << folder << '\n';
  }
  manual_seed(seed);

  // A fifth is held back. Only training pictures are moved and turned a little.
  using namespace data::transforms;
  const data::ImageFolder pictures(folder);
  const std::vector<std::string>& classes = pictures.classes();
  const auto parts = data::random_split(pictures, {0.8, 0.2});
  const Resize<> size(side);
  const Normalize<> normalize(0.5, 0.5);
  const RandomAffine<> moved({.degrees = 10, .shift_x = 0.1, .shift_y = 0.1});
  const auto options = data::DataLoaderOptions(batch_size).workers(workers).device(device);
  auto training = parts[0];
  auto held_back = parts[1];
  data::DataLoader train(training.map(size).map(normalize).map(moved),
                         data::DataLoaderOptions(options).shuffle(true));
  data::DataLoader test(held_back.map(size).map(normalize), options);
  std::cout << *pictures.size() << " pictures of " << classes.size() << " classes\n";

  const auto convolution = [](int64_t in, int64_t features) {
    return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(in, features, 3).padding(1).bias(false)),
                          nn::BatchNorm2d(features), nn::ReLU(), nn::MaxPool2d(2));
  };
  nn::Sequential model(convolution(3, 16), convolution(16, 32), convolution(32, 64),
                       nn::AdaptiveAvgPool2d(1), nn::Flatten(),
                       nn::Linear(64, static_cast<int64_t>(classes.size())));
  model->to(device);
  nn::CrossEntropyLoss loss_of;
  optim::AdamW adamw(model->parameters(), optim::AdamWOptions(lr));
  optim::OneCycleLR schedule(
      adamw, optim::OneCycleLROptions(lr, epochs * static_cast<int64_t>(train.size())));
  watch::History history;
  serialize::Checkpoints checkpoints(out, *model, adamw);
  checkpoints.add("schedule", schedule).add("loader", train).add("history", history);

  for (int64_t epoch = resume ? checkpoints.load() : 0; epoch < epochs;) {
    watch::ProgressBar bar(static_cast<int64_t>(train.size()),
                           watch::ProgressBarOptions().desc("epoch " + std::to_string(epoch + 1)));
    metrics::MeanMetric loss_mean;
    metrics::Accuracy accuracy;
    model->train();
    for (auto& [x, y] : train) {
      adamw.zero_grad();
      const Tensor loss = loss_of(model->forward(x), y);
      loss.backward();
      adamw.step();
      schedule.step();
      loss_mean.update(loss.detach(), static_cast<double>(x.size(0)));
      bar.update();
    }
    const NoGradGuard no_grad;
    model->eval();
    for (auto& [x, y] : test) accuracy.update(model->forward(x), y);
    history.log({{"training loss", loss_mean.compute()},
                 {"accuracy", 100 * accuracy.compute().item<double>()}});
    bar.set_postfix({{"loss", history.column("training loss").back()},
                     {"accuracy", history.column("accuracy").back()}});
    checkpoints.save(++epoch);
  }

  // The first pictures that were held back, each with the answer.
  const NoGradGuard no_grad;
  model->eval();
  const auto& [inputs, targets] = *test.begin();
  const Tensor answers = model->forward(inputs).argmax(1);
  std::vector<watch::CaptionedImage> shown;
  for (int64_t i = 0; i < std::min<int64_t>(16, inputs.size(0)); ++i) {
    const auto answer = answers[i].item<int64_t>();
    shown.push_back({(inputs[i].cpu() + 1) / 2, classes[static_cast<size_t>(answer)],
                     answer == targets[i].item<int64_t>()});
  }
  const std::string picture = out + "/image_folder.svg";
  watch::save_svg(watch::plot_images("What the network takes new pictures for", shown), picture);
  std::cout << "accuracy on the pictures held back: " << history.column("accuracy").back()
            << "%; picture: " << picture << '\n';
} catch (const std::exception& error) {
  std::cerr << "image_folder: " << error.what() << '\n';
  return 1;
}
