// Trains a linear layer or LeNet-5 to tell images apart: on the CPU and then, from the same seed
// and in the same order, on the GPU. Compares speed, accuracy and weights. scripts/train runs it;
// train_linear.cpp and train_cnn.cpp show such a training alone.
#include <chrono>
#include <memory>

#include "training.h"

namespace nn = gradus::nn;

// A model takes inputs and targets that are made of rows of pixels and of classes.
struct Model : nn::Module {
  virtual Tensor inputs(const Tensor& rows) const = 0;
  virtual Tensor targets(const Tensor& labels) const = 0;
  virtual Tensor forward(const Tensor& inputs) = 0;
  virtual Tensor loss(const Tensor& outputs, const Tensor& targets) const = 0;
  // The learning rate, given the first one and the part of the epochs that is done.
  virtual double rate(double first, double /*done*/) const { return first; }
};

struct LinearModel final : Model {
  LinearModel(int64_t pixels, int64_t classes)
      : fc(register_module("fc", nn::Linear(pixels, classes))) {}

  Tensor inputs(const Tensor& rows) const override { return rows; }
  Tensor targets(const Tensor& labels) const override {
    return gradus::one_hot(labels, fc->weight.size(0)).to(gradus::kFloat);
  }
  Tensor forward(const Tensor& inputs) override { return fc(inputs); }
  Tensor loss(const Tensor& outputs, const Tensor& targets) const override {
    return gradus::mse_loss(outputs, targets);
  }

  nn::Linear fc;
};

// LeCun et al. 1998, with ReLU and max pools. Smaller images get a border of zeros.
struct LeNet final : Model {
  explicit LeNet(int64_t classes)
      : conv1(register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 6, 5).padding(2)))),
        conv2(register_module("conv2", nn::Conv2d(6, 16, 5))),
        fc1(register_module("fc1", nn::Linear(16 * 5 * 5, 120))),
        fc2(register_module("fc2", nn::Linear(120, 84))),
        fc3(register_module("fc3", nn::Linear(84, classes))) {}

  Tensor inputs(const Tensor& rows) const override {
    constexpr int64_t kSide = 28;
    const auto side = static_cast<int64_t>(std::lround(std::sqrt(rows.size(1))));
    gradus::check(side * side == rows.size(1) && side <= kSide, "images of ", rows.size(1),
                  " pixels; LeNet-5 takes square ones of up to 28 x 28");
    const int64_t before = (kSide - side) / 2, after = kSide - side - before;
    return gradus::constant_pad_nd(rows.view({-1, 1, side, side}), {before, after, before, after});
  }
  Tensor targets(const Tensor& labels) const override { return labels; }
  Tensor forward(const Tensor& inputs) override {
    Tensor x = gradus::max_pool2d(gradus::relu(conv1(inputs)), 2);  // 28 -> 14
    x = gradus::max_pool2d(gradus::relu(conv2(x)), 2);              // 14 -> 10 -> 5
    x = gradus::relu(fc1(x.flatten(1)));
    return fc3(gradus::relu(fc2(x)));
  }
  Tensor loss(const Tensor& outputs, const Tensor& targets) const override {
    return gradus::cross_entropy_loss(outputs, targets);
  }
  double rate(double first, double done) const override {
    return first * (1 + std::cos(M_PI * done)) / 2;
  }

  nn::Conv2d conv1, conv2;
  nn::Linear fc1, fc2, fc3;
};

// The class of each image that the model thinks most likely.
Tensor predicted(Model& model, const Tensor& inputs) {
  constexpr int64_t kTestBatch = 1000;
  const gradus::NoGradGuard no_grad;
  std::vector<Tensor> parts;
  for (const Tensor& batch : inputs.split(kTestBatch))
    parts.push_back(model.forward(batch).argmax(1));
  return gradus::cat(parts);
}

Result train(Device device, const Data& data, const Settings& settings, Model& model) {
  gradus::optim::SGD optimizer(model.parameters(),
                               gradus::optim::SGDOptions(settings.lr).momentum(settings.momentum));

  // The data move to the device once.
  const Tensor images = data.train.images.to(device);
  const Tensor targets = model.targets(data.train.labels.to(device));
  const Tensor test_inputs = model.inputs(data.test.images.to(device));
  const Tensor test_labels = data.test.labels.to(device);
  const int64_t count = images.size(0);
  const int64_t batches = (count + settings.batch_size - 1) / settings.batch_size;

  Result result{device.str(), {}, {}};
  gradus::watch::ProgressBar progress = progress_bar(result.device, settings.epochs * batches);
  for (int64_t epoch = 1; epoch <= settings.epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    const double done = static_cast<double>(epoch - 1) / static_cast<double>(settings.epochs);
    for (auto& group : optimizer.param_groups())
      group.options().set_lr(model.rate(settings.lr, done));
    // Shuffled once an epoch, on the device, in an order drawn on the CPU; batches are views.
    const Tensor order = gradus::randperm(count).to(device);
    const Tensor x = model.inputs(images.index_select(0, order));
    const Tensor y = targets.index_select(0, order);
    Tensor loss_sum = gradus::zeros({}, device);
    for (int64_t first = 0; first < count; first += settings.batch_size) {
      const int64_t size = std::min(settings.batch_size, count - first);
      optimizer.zero_grad();
      const Tensor output = model.forward(x.narrow(0, first, size));
      const Tensor loss = model.loss(output, y.narrow(0, first, size));
      loss.backward();
      optimizer.step();
      loss_sum.add_(loss.detach(), size);  // stays on the device: no step waits for the GPU
      progress.update();
    }
    const double loss = loss_sum.item<double>() / static_cast<double>(count);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    const Tensor right = predicted(model, test_inputs).eq(test_labels);
    note_epoch(result, {time.count(), loss, right.to(gradus::kDouble).mean().item<double>()},
               settings, progress);
  }
  for (const Tensor& parameter : model.parameters())
    result.weights.push_back(parameter.detach().to(gradus::kCPU));
  return result;
}

// The first test images, with what the model takes them for; a wrong answer names the right one.
std::string as_picture(Model& model, const Data& data, Device device) {
  constexpr int64_t kShown = 40;
  const int64_t count = std::min(kShown, data.test.images.size(0));
  const Tensor images = model.inputs(data.test.images.narrow(0, 0, count));
  const Tensor answers = predicted(model, images.to(device)).to(gradus::kCPU);
  std::vector<gradus::watch::CaptionedImage> shown;
  for (int64_t i = 0; i < count; ++i) {
    const auto answer = answers[i].item<int64_t>(), truth = data.test.labels[i].item<int64_t>();
    const auto name = [&](int64_t c) { return class_name(data, c); };
    shown.push_back({images[i][0],
                     answer == truth ? name(answer) : name(answer) + ", not " + name(truth),
                     answer == truth});
  }
  return gradus::watch::plot_images("What LeNet-5 takes the first test images for", shown);
}

void run(Settings settings) {
  const bool is_cnn = settings.model == "cnn";
  if (settings.lr == 0) settings.lr = is_cnn ? 0.05 : 0.02;
  const auto path = [&](const char* end) {
    return fs::path(settings.out) / ("train_" + settings.model + end);
  };
  const fs::path csv = path(".csv"), svg = path(".svg"), images = path("_images.svg");
  check_writable(csv), check_writable(svg);
  if (is_cnn) check_writable(images);
  const std::vector<Device> devices = chosen_devices(settings.device);
  const Data data = load(settings);
  print_data(data);
  if (settings.dashboard_port >= 0) {
    settings.dashboard = std::make_shared<gradus::watch::Dashboard>(
        settings.dashboard_port, settings.model + " on " + data.name);
    std::cout << "Live curves: " << settings.dashboard->url() << std::endl;
  }

  std::vector<Result> results;
  std::string shown;
  for (const Device& device : devices) {
    gradus::manual_seed(settings.seed);
    std::shared_ptr<Model> model;
    if (is_cnn)
      model = std::make_shared<LeNet>(data.classes);
    else
      model = std::make_shared<LinearModel>(data.train.images.size(1), data.classes);
    model->to(device);
    results.push_back(train(device, data, settings, *model));
    if (is_cnn) shown = as_picture(*model, data, device);
  }
  std::cout << "\n" << compared(results, data.train.images.size(0)) << "\n";
  std::vector<ResultFile> files{
      {csv, as_csv(results)},
      {svg, is_cnn ? as_svg(results, "LeNet-5 on " + data.name, "cross entropy")
                   : as_svg(results, "A linear layer on " + data.name, "mean squared error")}};
  if (is_cnn) files.push_back({images, shown});
  save(files);
  std::cout << "The curves: " << csv.string() << " and " << svg.string() << "\n";
  if (is_cnn) std::cout << "Some test images: " << images.string() << "\n";
}

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app(
      R"(Trains a linear layer with the mean squared error to one-hot targets, or LeNet-5, a small
convolutional network, with the cross entropy. Stochastic gradient descent runs on the
CPU, then from the same seed and in the same order on the GPU. Ends with a table that
compares them, and writes the curve of loss and test accuracy as train_MODEL.csv and
train_MODEL.svg, and for cnn some test images with the answers as train_cnn_images.svg.)");
  add_options(app, settings);
  app.footer(R"(Examples:
  train                                    every device, Fashion-MNIST, 10 epochs
  train cnn --device cpu --epochs 2        a quick look
  train --data ~/mnist --out runs          another data set, results in runs/

)" + std::string(kExitCodes));
  return run_program(app, argc, argv, [&] { run(settings); });
}
