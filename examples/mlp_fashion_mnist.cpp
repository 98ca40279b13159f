// Trains two hidden layers on Fashion-MNIST, and draws which classes they take for each other.
#include <gradus/gradus.h>
#include <CLI/CLI.hpp>

#include <iostream>

using namespace gradus;

int main(int argc, char** argv) try {
  std::string folder = "/usr/share/datasets/fashion-mnist", out = "runs/mlp_fashion_mnist";
  std::string device = "cpu";
  int64_t epochs = 10, batch_size = 128, hidden = 256;
  double lr = 2e-3;
  uint64_t seed = 1;
  bool resume = false;
  CLI::App app("Trains a multilayer perceptron on Fashion-MNIST.");
  app.option_defaults()->always_capture_default();
  app.add_option("--data", folder,
                 "The four files of MNIST or Fashion-MNIST; Debian's package\n"
                 "dataset-fashion-mnist has them");
  app.add_option("--epochs", epochs, "Passes over the training images")->check(CLI::PositiveNumber);
  app.add_option("--batch-size", batch_size, "Images in a step")->check(CLI::PositiveNumber);
  app.add_option("--hidden", hidden, "Width of the hidden layers")->check(CLI::PositiveNumber);
  app.add_option("--lr", lr, "First learning rate");
  app.add_option("--seed", seed, "Of the weights and the order");
  app.add_option("--device", device, "cpu, cuda or cuda:N");
  app.add_option("--out", out, "Folder for checkpoints and pictures");
  app.add_flag("--resume", resume, "Goes on from the newest checkpoint in the folder");
  CLI11_PARSE(app, argc, argv);

  const data::ImageDataset images = data::load_idx_folder(folder, /*train=*/true);
  const data::ImageDataset unseen = data::load_idx_folder(folder, /*train=*/false);
  const auto options = data::DataLoaderOptions(batch_size).device(device);
  data::DataLoader train(data::TensorPairDataset(images.images, images.targets),
                         data::DataLoaderOptions(options).shuffle(true));
  data::DataLoader test(data::TensorPairDataset(unseen.images, unseen.targets), options);

  manual_seed(seed);
  const int64_t pixels = images.images[0].numel();
  nn::Sequential model(nn::Flatten(), nn::Linear(pixels, hidden), nn::ReLU(), nn::Dropout(0.2),
                       nn::Linear(hidden, hidden), nn::ReLU(), nn::Dropout(0.2),
                       nn::Linear(hidden, images.classes));
  model->to(device);
  nn::CrossEntropyLoss loss_of;
  optim::Adam adam(model->parameters(), lr);
  optim::CosineAnnealingLR schedule(adam, epochs);
  watch::History history;
  serialize::Checkpoints checkpoints(out, *model, adam);
  checkpoints.add("schedule", schedule).add("loader", train).add("history", history);

  for (int64_t epoch = resume ? checkpoints.load() : 0; epoch < epochs;) {
    watch::ProgressBar bar(static_cast<int64_t>(train.size()),
                           watch::ProgressBarOptions().desc("epoch " + std::to_string(epoch + 1)));
    metrics::MeanMetric loss_mean;
    metrics::Accuracy train_accuracy, test_accuracy;
    model->train();
    for (auto& [x, y] : train) {
      adam.zero_grad();
      const Tensor scores = model->forward(x), loss = loss_of(scores, y);
      loss.backward();
      adam.step();
      loss_mean.update(loss.detach(), static_cast<double>(x.size(0)));
      train_accuracy.update(scores, y);
      bar.update();
    }
    schedule.step();

    const NoGradGuard no_grad;
    model->eval();
    for (auto& [x, y] : test) test_accuracy.update(model->forward(x), y);
    history.log({{"loss", loss_mean.compute()},
                 {"training", 100 * train_accuracy.compute().item<double>()},
                 {"test", 100 * test_accuracy.compute().item<double>()}});
    bar.set_postfix({{"loss", history.column("loss").back()},
                     {"test accuracy", history.column("test").back()}});
    checkpoints.save(++epoch);
  }

  const NoGradGuard no_grad;
  model->eval();
  metrics::ConfusionMatrix confusion(images.classes);
  for (auto& [x, y] : test) confusion.update(model->forward(x), y);
  std::vector<std::string> names;
  if (images.name == "fashion-mnist")
    names = {"T-shirt", "trouser", "pullover", "dress", "coat",
             "sandal",  "shirt",   "sneaker",  "bag",   "boot"};
  watch::save_svg(watch::plot_confusion_matrix("What the network takes the test images for",
                                               confusion.compute(), names),
                  out + "/confusion.svg");
  watch::save_svg(
      watch::plot_curves("A multilayer perceptron on " + images.name, "epoch",
                         {{"training loss", {history.curve("loss")}},
                          {"accuracy in %", {history.curve("training"), history.curve("test")}}}),
      out + "/curves.svg");
  std::cout << "test accuracy " << history.column("test").back() << "%; pictures: " << out
            << "/confusion.svg and curves.svg\n";
} catch (const std::exception& error) {
  std::cerr << "mlp_fashion_mnist: " << error.what() << '\n';
  return 1;
}
