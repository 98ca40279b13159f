// Trains ResNet-20 on CIFAR-10: He et al., "Deep residual learning for image recognition" (2016),
// section 4.2. Without --data it makes up pictures, and says so.
#include <gradus/gradus.h>
#include <CLI/CLI.hpp>

#include <iostream>

using namespace gradus;

nn::Conv2d convolution(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

// relu(x + two convolutions of x); where the shape changes, x passes through a small convolution.
struct ResidualImpl : nn::Module {
  ResidualImpl(int64_t in, int64_t out, int64_t stride)
      : inner(register_module("inner",
                              nn::Sequential(convolution(in, out, 3, stride), nn::BatchNorm2d(out),
                                             nn::ReLU(), convolution(out, out, 3, 1)))),
        norm(register_module("norm", nn::BatchNorm2d(out))) {
    if (stride != 1 || in != out)
      shortcut = register_module(
          "shortcut", nn::Sequential(convolution(in, out, 1, stride), nn::BatchNorm2d(out)));
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = norm(inner->forward(x));
    return relu(y + (shortcut ? shortcut->forward(x) : x));
  }

  nn::Sequential inner;
  nn::BatchNorm2d norm;
  nn::Sequential shortcut{nullptr};
};
GRADUS_MODULE(Residual);

// Three groups of (depth - 2) / 6 blocks each, with `width`, 2 width and 4 width features.
nn::Sequential resnet(int64_t depth, int64_t width, int64_t classes) {
  nn::Sequential model(convolution(3, width, 3, 1), nn::BatchNorm2d(width), nn::ReLU());
  int64_t in = width;
  for (const int64_t out : {width, 2 * width, 4 * width})
    for (int64_t i = 0; i < (depth - 2) / 6; ++i, in = out)
      model->push_back(Residual(in, out, in != out ? 2 : 1));
  model->push_back(nn::AdaptiveAvgPool2d(1));
  model->push_back(nn::Flatten());
  model->push_back(nn::Linear(in, classes));
  return model;
}

// Noisy copies of one random picture of coarse squares for each class.
data::ImageDataset made_up(int64_t count, const Tensor& pictures) {
  data::ImageDataset out;
  out.classes = pictures.size(0);
  out.targets = randint(out.classes, {count});
  const auto larger = nn::UpsampleOptions().scale_factor(std::vector<double>{4, 4});
  const Tensor large = nn::Upsample(larger)->forward(pictures);
  out.images = 0.3 * large.index_select(0, out.targets) + 0.7 * rand({count, 3, 32, 32});
  return out;
}

int main(int argc, char** argv) try {
  std::string folder, out = "runs/resnet_cifar", device = "cpu";
  int64_t epochs = 10, batch_size = 128, workers = 2, depth = 20, width = 16, images = 2000;
  double lr = 0.1;
  uint64_t seed = 1;
  bool resume = false;
  CLI::App app("Trains a ResNet on CIFAR-10.");
  app.option_defaults()->always_capture_default();
  app.add_option("--data", folder, "The folder cifar-10-batches-bin");
  app.add_option("--images", images, "How many pictures are made up where there is no --data")
      ->check(CLI::PositiveNumber);
  app.add_option("--depth", depth, "Layers with weights: 8, 14, 20, 32, 44, 56, 110")
      ->check(CLI::IsMember({8, 14, 20, 32, 44, 56, 110}));
  app.add_option("--width", width, "Features of the first group")->check(CLI::PositiveNumber);
  app.add_option("--epochs", epochs, "Passes over the training pictures")
      ->check(CLI::PositiveNumber);
  app.add_option("--batch-size", batch_size, "Pictures in a step")->check(CLI::PositiveNumber);
  app.add_option("--lr", lr, "Highest learning rate");
  app.add_option("--workers", workers, "Threads that make batches ahead");
  app.add_option("--seed", seed, "Of the weights and the order");
  app.add_option("--device", device, "cpu, cuda or cuda:N");
  app.add_option("--out", out, "Folder for checkpoints and the picture");
  app.add_flag("--resume", resume, "Goes on from the newest checkpoint in the folder");
  CLI11_PARSE(app, argc, argv);
  manual_seed(seed);

  data::ImageDataset training, unseen;
  if (folder.empty()) {
    std::cout << "No --data, so these are made-up pictures, noise on a pattern for each class: the "
                 "accuracy says nothing about CIFAR-10\n";
    const Tensor patterns = rand({10, 3, 8, 8});
    training = made_up(images, patterns);
    unseen = made_up(std::max<int64_t>(images / 5, 1), patterns);
  } else {
    training = data::load_cifar10(folder);
    unseen = data::load_cifar10(folder, /*train=*/false);
  }
  using namespace data::transforms;
  const Normalize<> normalize(std::vector{0.4914, 0.4822, 0.4465},
                              std::vector{0.2470, 0.2435, 0.2616});
  const auto options = data::DataLoaderOptions(batch_size).workers(workers).device(device);
  data::DataLoader train(data::TensorPairDataset(training.images, training.targets)
                             .map(normalize)
                             .map(RandomCrop<>(32, {.padding = 4}))
                             .map(RandomHorizontalFlip<>(folder.empty() ? 0 : 0.5)),
                         data::DataLoaderOptions(options).shuffle(true));
  data::DataLoader test(data::TensorPairDataset(unseen.images, unseen.targets).map(normalize),
                        options);

  nn::Sequential model = resnet(depth, width, training.classes);
  model->to(device);
  nn::CrossEntropyLoss loss_of;
  optim::SGD sgd(model->parameters(),
                 optim::SGDOptions(lr).momentum(0.9).nesterov(true).weight_decay(5e-4));
  optim::OneCycleLR schedule(
      sgd, optim::OneCycleLROptions(lr, epochs * static_cast<int64_t>(train.size())));
  watch::History history;
  serialize::Checkpoints checkpoints(out, *model, sgd);
  checkpoints.add("schedule", schedule).add("loader", train).add("history", history);

  for (int64_t epoch = resume ? checkpoints.load() : 0; epoch < epochs;) {
    watch::ProgressBar bar(static_cast<int64_t>(train.size()),
                           watch::ProgressBarOptions().desc("epoch " + std::to_string(epoch + 1)));
    metrics::MeanMetric loss_mean;
    metrics::Accuracy accuracy;
    model->train();
    for (auto& [x, y] : train) {
      sgd.zero_grad();
      const Tensor loss = loss_of(model->forward(x), y);
      loss.backward();
      sgd.step();
      schedule.step();
      loss_mean.update(loss.detach(), static_cast<double>(x.size(0)));
      bar.update();
    }
    const NoGradGuard no_grad;
    model->eval();
    for (auto& [x, y] : test) accuracy.update(model->forward(x), y);
    history.log({{"training loss", loss_mean.compute()},
                 {"test accuracy", 100 * accuracy.compute().item<double>()}});
    bar.set_postfix({{"loss", history.column("training loss").back()},
                     {"test accuracy", history.column("test accuracy").back()}});
    checkpoints.save(++epoch);
  }

  const std::string picture = out + "/resnet_cifar.svg";
  watch::save_svg(watch::plot_curves("ResNet-" + std::to_string(depth) +
                                         (folder.empty() ? " on made-up pictures" : " on CIFAR-10"),
                                     "epoch",
                                     {{"training loss", {history.curve("training loss")}},
                                      {"test accuracy in %", {history.curve("test accuracy")}}}),
                  picture);
  std::cout << "test accuracy " << history.column("test accuracy").back()
            << "%; curves: " << picture << '\n';
} catch (const std::exception& error) {
  std::cerr << "resnet_cifar: " << error.what() << '\n';
  return 1;
}
