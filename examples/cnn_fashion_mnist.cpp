// Trains a convolutional network on Fashion-MNIST.
#include <gradus/gradus.h>
#include <CLI/CLI.hpp>

#include <iostream>

using namespace gradus;

// Images (N, 1, 28, 28) to scores (N, 10).
nn::Sequential make_model() {
  const auto convolution = [](int64_t in, int64_t out) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false));
  };
  return nn::Sequential(convolution(1, 32), nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2),
                        convolution(32, 64), nn::BatchNorm2d(64), nn::ReLU(), nn::MaxPool2d(2),
                        convolution(64, 128), nn::BatchNorm2d(128), nn::ReLU(), nn::Flatten(),
                        nn::Dropout(0.3), nn::Linear(128 * 7 * 7, 10));
}

int main(int argc, char** argv) try {
  std::string folder = "/usr/share/datasets/fashion-mnist", out = "runs/cnn_fashion_mnist";
  std::string device = "cpu";
  int64_t epochs = 6, batch_size = 128, workers = 1;
  double lr = 4e-3;
  uint64_t seed = 1;
  bool resume = false;
  CLI::App app("Trains a convolutional network on Fashion-MNIST.");
  app.option_defaults()->always_capture_default();
  app.add_option("--data", folder,
                 "The four files of MNIST or Fashion-MNIST; Debian's package\n"
                 "dataset-fashion-mnist has them");
  app.add_option("--epochs", epochs, "Passes over the training images")->check(CLI::PositiveNumber);
  app.add_option("--batch-size", batch_size, "Images in a step")->check(CLI::PositiveNumber);
  app.add_option("--lr", lr, "Highest learning rate");
  app.add_option("--workers", workers, "Threads that make batches ahead");
  app.add_option("--seed", seed, "Of the weights and the order");
  app.add_option("--device", device, "cpu, cuda or cuda:N");
  app.add_option("--out", out, "Folder for checkpoints and pictures");
  app.add_flag("--resume", resume, "Goes on from the newest checkpoint in the folder");
  CLI11_PARSE(app, argc, argv);

  // Batches are made ahead by threads, which also mirror every second training image.
  using namespace data::transforms;
  using data::datasets::MNIST;
  const Resize<> size(28);
  const Normalize<> normalize(0.286, 0.353);
  const auto options = data::DataLoaderOptions(batch_size).workers(workers).device(device);
  data::DataLoader train(MNIST(folder).map(size).map(normalize).map(RandomHorizontalFlip<>()),
                         data::DataLoaderOptions(options).shuffle(true));
  data::DataLoader test(MNIST(folder, MNIST::Mode::kTest).map(size).map(normalize), options);

  manual_seed(seed);
  nn::Sequential model = make_model();
  std::cout << watch::summary(model, zeros({1, 1, 28, 28})) << '\n';
  model->to(device);
  nn::CrossEntropyLoss loss_of;
  optim::AdamW adamw(model->parameters(), optim::AdamWOptions(lr));
  const auto steps = epochs * static_cast<int64_t>(train.size());
  optim::OneCycleLR schedule(adamw, optim::OneCycleLROptions(lr, steps));
  watch::History history;
  serialize::Checkpoints checkpoints(out, *model, adamw);
  checkpoints.add("schedule", schedule).add("loader", train).add("history", history);

  for (int64_t epoch = resume ? checkpoints.load() : 0; epoch < epochs;) {
    watch::ProgressBar bar(static_cast<int64_t>(train.size()),
                           watch::ProgressBarOptions().desc("epoch " + std::to_string(epoch + 1)));
    metrics::MeanMetric loss_mean;
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
    metrics::Accuracy accuracy;
    for (auto& [x, y] : test) accuracy.update(model->forward(x), y);
    history.log({{"training loss", loss_mean.compute()},
                 {"test accuracy", 100 * accuracy.compute().item<double>()}});
    bar.set_postfix({{"loss", history.column("training loss").back()},
                     {"test accuracy", history.column("test accuracy").back()}});
    checkpoints.save(++epoch);
  }

  const std::string picture = out + "/cnn_fashion_mnist.svg";
  watch::save_svg(watch::plot_curves("A convolutional network on Fashion-MNIST", "epoch",
                                     {{"training loss", {history.curve("training loss")}},
                                      {"test accuracy in %", {history.curve("test accuracy")}}}),
                  picture);
  std::cout << "test accuracy " << history.column("test accuracy").back()
            << "%; curves: " << picture << '\n';
} catch (const std::exception& error) {
  std::cerr << "cnn_fashion_mnist: " << error.what() << '\n';
  return 1;
}
