// Trains one linear layer to tell images apart, on the CPU and then, from the same seed and in the
// same order, on the GPU; and compares speed, accuracy and weights.
#include <chrono>

#include "training.h"

double accuracy(const gradus::nn::Linear& model, const Tensor& images, const Tensor& labels) {
  gradus::NoGradGuard no_grad;
  return model->forward(images).argmax(1).eq(labels).to(gradus::kDouble).mean().item<double>();
}

Result train(Device device, const Data& data, const Settings& settings) {
  gradus::manual_seed(settings.seed);
  gradus::nn::Linear model(data.train.images.size(1), data.classes);
  model->to(device);
  gradus::nn::MSELoss loss_of;
  gradus::optim::SGD optimizer(model->parameters(),
                               gradus::optim::SGDOptions(settings.lr).momentum(settings.momentum));

  // The data move to the device once.
  const Tensor images = data.train.images.to(device);
  const Tensor targets =
      gradus::one_hot(data.train.labels, data.classes).to(device, gradus::kFloat);
  const Tensor test_images = data.test.images.to(device);
  const Tensor test_labels = data.test.labels.to(device);
  const int64_t count = images.size(0);
  const int64_t batches = (count + settings.batch_size - 1) / settings.batch_size;

  Result result{device.str(), {}, {}};
  Progress progress(result.device, settings.epochs * batches);
  for (int64_t epoch = 1; epoch <= settings.epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    // Shuffled once an epoch, on the device, in an order drawn on the CPU; batches are views.
    const Tensor order = gradus::randperm(count).to(device);
    const Tensor x = rows(images, order), y = rows(targets, order);
    Tensor loss_sum = gradus::zeros({}, device);
    for (int64_t first = 0; first < count; first += settings.batch_size) {
      const int64_t size = std::min(settings.batch_size, count - first);
      optimizer.zero_grad();
      const Tensor output = model->forward(x.narrow(0, first, size));
      const Tensor loss = loss_of(output, y.narrow(0, first, size));
      loss.backward();
      optimizer.step();
      loss_sum.add_(loss.detach(), size);  // stays on the device: no step waits for the GPU
      progress.step();
    }
    const double loss = loss_sum.item<double>() / static_cast<double>(count);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    note_epoch(result, {time.count(), loss, accuracy(model, test_images, test_labels)}, settings,
               progress);
  }
  for (const Tensor& parameter : model->parameters())
    result.weights.push_back(parameter.detach().to(gradus::kCPU));
  return result;
}

void run(const Settings& settings) {
  const fs::path csv = fs::path(settings.out) / "train_linear.csv";
  const fs::path svg = fs::path(settings.out) / "train_linear.svg";
  check_writable(csv), check_writable(svg);
  const std::vector<Device> devices = chosen_devices(settings.device);
  const Data data = load(settings);
  const int64_t samples = data.train.images.size(0);
  print_data(data);
  std::vector<Result> results;
  for (const Device& device : devices) results.push_back(train(device, data, settings));
  std::cout << "\n" << compared(results, samples) << "\n";
  save({{csv, as_csv(results)},
        {svg, as_svg(results, "A linear layer on " + data.name, "mean squared error")}});
  std::cout << "The curves: " << csv.string() << " and " << svg.string() << "\n";
}

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app(R"(Trains one linear layer, pixels to classes, with the mean squared error to one-hot
targets and stochastic gradient descent: on the CPU, then from the same seed and in
the same order on the GPU. Ends with a table that compares them, and writes the curve
of loss and test accuracy as train_linear.csv and train_linear.svg.)");
  add_options(app, settings);
  app.footer(R"(Examples:
  train_linear                             every device, Fashion-MNIST, 10 epochs
  train_linear --device cpu --epochs 3     a quick look
  train_linear --data ~/mnist --out runs   another data set, results in runs/

)" + std::string(kExitCodes));
  return run_program(app, argc, argv, [&] { run(settings); });
}
