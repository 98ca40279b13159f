// Trains LeNet-5 (LeCun et al. 1998, with ReLU and max pools) to tell images apart, on the CPU and
// then, from the same seed and in the same order, on the GPU; compares them, and shows what it
// makes of some test images.
#include <chrono>

#include "picture.h"
#include "training.h"

namespace nn = gradus::nn;

// Images (N, 1, 28, 28) to scores (N, classes).
struct LeNetImpl : nn::Module {
  explicit LeNetImpl(int64_t classes)
      : conv1(register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 6, 5).padding(2)))),
        conv2(register_module("conv2", nn::Conv2d(6, 16, 5))),
        fc1(register_module("fc1", nn::Linear(16 * 5 * 5, 120))),
        fc2(register_module("fc2", nn::Linear(120, 84))),
        fc3(register_module("fc3", nn::Linear(84, classes))) {}

  Tensor forward(const Tensor& images) {
    Tensor x = gradus::max_pool2d(gradus::relu(conv1(images)), 2);  // 28 -> 14
    x = gradus::max_pool2d(gradus::relu(conv2(x)), 2);              // 14 -> 10 -> 5
    x = gradus::relu(fc1(x.flatten(1)));
    return fc3(gradus::relu(fc2(x)));
  }

  nn::Conv2d conv1, conv2;
  nn::Linear fc1, fc2, fc3;
};
GRADUS_MODULE(LeNet);

// Rows of pixels as images of 28 x 28, smaller ones with a border of zeros.
Tensor as_images(const Tensor& rows) {
  constexpr int64_t kSide = 28;
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(rows.size(1))));
  gradus::check(side * side == rows.size(1) && side <= kSide, "images of ", rows.size(1),
                " pixels; LeNet-5 takes square ones of up to 28 x 28");
  const int64_t before = (kSide - side) / 2, after = kSide - side - before;
  return gradus::constant_pad_nd(rows.view({-1, 1, side, side}), {before, after, before, after});
}

constexpr int64_t kTestBatch = 1000;

// The class of each image that the model thinks most likely.
Tensor predicted(LeNet& model, const Tensor& images) {
  gradus::NoGradGuard no_grad;
  std::vector<Tensor> parts;
  for (const Tensor& batch : images.split(kTestBatch)) parts.push_back(model(batch).argmax(1));
  return gradus::cat(parts);
}

Result train(Device device, const Data& data, const Settings& settings, LeNet& model) {
  gradus::optim::SGD optimizer(model->parameters(),
                               gradus::optim::SGDOptions(settings.lr).momentum(settings.momentum));
  nn::CrossEntropyLoss loss_of;

  // The data move to the device once.
  const Tensor images = data.train.images.to(device), labels = data.train.labels.to(device);
  const Tensor test_images = as_images(data.test.images.to(device));
  const Tensor test_labels = data.test.labels.to(device);
  const int64_t count = images.size(0);
  const int64_t batches = (count + settings.batch_size - 1) / settings.batch_size;

  Result result{device.str(), {}, {}};
  Progress progress(result.device, settings.epochs * batches);
  for (int64_t epoch = 1; epoch <= settings.epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    // Smaller steps towards the end.
    const double done = static_cast<double>(epoch - 1) / static_cast<double>(settings.epochs);
    for (auto& group : optimizer.param_groups())
      group.options().set_lr(settings.lr * (1 + std::cos(M_PI * done)) / 2);
    // Shuffled once an epoch, on the device, in an order drawn on the CPU; batches are views.
    const Tensor order = gradus::randperm(count).to(device);
    const Tensor x = as_images(rows(images, order)), y = labels.gather(0, order);
    Tensor loss_sum = gradus::zeros({}, device);
    for (int64_t first = 0; first < count; first += settings.batch_size) {
      const int64_t size = std::min(settings.batch_size, count - first);
      optimizer.zero_grad();
      const Tensor loss = loss_of(model(x.narrow(0, first, size)), y.narrow(0, first, size));
      loss.backward();
      optimizer.step();
      loss_sum.add_(loss.detach(), size);  // stays on the device: no step waits for the GPU
      progress.step();
    }
    const double loss = loss_sum.item<double>() / static_cast<double>(count);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    const Tensor right = predicted(model, test_images).eq(test_labels);
    note_epoch(result, {time.count(), loss, right.to(gradus::kDouble).mean().item<double>()},
               settings, progress);
  }
  for (const Tensor& parameter : model->parameters())
    result.weights.push_back(parameter.detach().to(gradus::kCPU));
  return result;
}

// The first test images, with what the model takes them for; a wrong answer names the right one.
std::string as_picture(LeNet& model, const Data& data, Device device) {
  constexpr int64_t kShown = 40;
  const int64_t count = std::min(kShown, data.test.images.size(0));
  const Tensor images = as_images(data.test.images.narrow(0, 0, count));
  const Tensor answers = predicted(model, images.to(device)).to(gradus::kCPU);
  std::vector<picture::Captioned> shown;
  for (int64_t i = 0; i < count; ++i) {
    const auto answer = answers[i].item<int64_t>(), truth = data.test.labels[i].item<int64_t>();
    const auto name = [&](int64_t c) { return class_name(data, c); };
    shown.push_back({images[i][0],
                     answer == truth ? name(answer) : name(answer) + ", not " + name(truth),
                     answer == truth});
  }
  return picture::svg("What LeNet-5 takes the first test images for", shown, 8);
}

void run(const Settings& settings) {
  const fs::path out(settings.out);
  const fs::path csv = out / "train_cnn.csv", svg = out / "train_cnn.svg",
                 images = out / "train_cnn_images.svg";
  check_writable(csv), check_writable(svg), check_writable(images);
  const std::vector<Device> devices = chosen_devices(settings.device);
  const Data data = load(settings);
  print_data(data);
  std::vector<Result> results;
  std::string shown;
  for (const Device& device : devices) {
    gradus::manual_seed(settings.seed);
    LeNet model(data.classes);
    model->to(device);
    results.push_back(train(device, data, settings, model));
    shown = as_picture(model, data, device);
  }
  std::cout << "\n" << compared(results, data.train.images.size(0)) << "\n";
  save({{csv, as_csv(results)},
        {svg, as_svg(results, "LeNet-5 on " + data.name, "cross entropy")},
        {images, shown}});
  std::cout << "The curves: " << csv.string() << " and " << svg.string() << "\n"
            << "Some test images: " << images.string() << "\n";
}

int main(int argc, char** argv) {
  Settings settings;
  settings.lr = 0.05;
  CLI::App app(
      R"(Trains LeNet-5, a small convolutional network, with the cross entropy and stochastic
gradient descent: on the CPU, then from the same seed and in the same order on the GPU.
Ends with a table that compares them, and writes the curve of loss and test accuracy as
train_cnn.csv and train_cnn.svg, and some test images with the answers as
train_cnn_images.svg.)");
  add_options(app, settings);
  app.footer(R"(Examples:
  train_cnn                             every device, Fashion-MNIST, 10 epochs
  train_cnn --device cpu --epochs 2     a quick look
  train_cnn --data ~/mnist --out runs   another data set, results in runs/

)" + std::string(kExitCodes));
  return run_program(app, argc, argv, [&] { run(settings); });
}
