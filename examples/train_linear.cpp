// Trains one linear layer to tell images apart, on the CPU and then, from the same seed and in the
// same order, on the GPU; and compares speed, accuracy and weights.
#include <gradus/data/datasets/image_dataset.h>
#include <gradus/gradus.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "plot.h"
#include "program.h"
#include "progress.h"
#include "save.h"
#include "table.h"

using gradus::Device, gradus::Tensor;
namespace fs = std::filesystem;

struct Settings {
  std::string data, device = "all", out = ".";
  int64_t epochs = 10, batch_size = 128;
  double lr = 0.02, momentum = 0.9;
  uint64_t seed = 1;
  bool synthetic = false;
};

struct Split {
  Tensor images;  // float32 (N, pixels)
  Tensor labels;  // int64 (N)
};
struct Data {
  std::string name, source;
  Split train, test;
  int64_t classes;
};

struct Epoch {
  double seconds, loss, accuracy;
};
struct Result {
  std::string device;
  std::vector<Epoch> epochs;
  std::vector<Tensor> weights;  // on the CPU
};

// The rows of x that `order` lists.
Tensor rows(const Tensor& x, const Tensor& order) {
  return x.gather(0, order.unsqueeze(1).expand({order.size(0), x.size(1)}));
}

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
    gradus::check<gradus::Error>(std::isfinite(loss), "the loss is ", loss, " after epoch ", epoch,
                                 " on ", device, "; try a smaller --lr");
    result.epochs.push_back({time.count(), loss, accuracy(model, test_images, test_labels)});
    progress.line(format("%-6s epoch %2d of %d: loss %.5f, test accuracy %.2f%%, %.3f s",
                         result.device.c_str(), static_cast<int>(epoch),
                         static_cast<int>(settings.epochs), loss,
                         100 * result.epochs.back().accuracy, time.count()));
  }
  for (const Tensor& parameter : model->parameters())
    result.weights.push_back(parameter.detach().to(gradus::kCPU));
  return result;
}

// Noisy copies of one random picture per class.
Data made_up(uint64_t seed) {
  constexpr int64_t kClasses = 10, kPixels = 784;
  gradus::manual_seed(seed);
  const Tensor pictures = gradus::rand({kClasses, kPixels});
  const auto split = [&](int64_t count) -> Split {
    const Tensor labels = gradus::randint(kClasses, {count});
    return {rows(pictures, labels) * 0.2 + gradus::rand({count, kPixels}) * 0.8, labels};
  };
  return {"made-up numbers", "--synthetic", split(6000), split(1000), kClasses};
}

// What --data names, else Fashion-MNIST where it is installed, else the digits of the repository.
Data load(const Settings& settings) {
  if (settings.synthetic) return made_up(settings.seed);
  std::string folder = settings.data;
  std::error_code ignored;
  for (const char* candidate : {"/usr/share/datasets/fashion-mnist", GRADUS_DATA_DIR "/digits"})
    if (folder.empty() && fs::exists(candidate, ignored)) folder = candidate;
  gradus::check<gradus::Error>(
      !folder.empty(),
      "no data set was found; install dataset-fashion-mnist, name a folder "
      "with --data, or ask for --synthetic");
  const gradus::data::ImageDataset train = gradus::data::load_idx_folder(folder, true);
  const gradus::data::ImageDataset test = gradus::data::load_idx_folder(folder, false);
  const auto flat = [](const gradus::data::ImageDataset& set) -> Split {
    return {set.images.flatten(1), set.targets};
  };
  Data data{train.name, folder, flat(train), flat(test), std::max(train.classes, test.classes)};
  gradus::check(data.train.images.size(1) == data.test.images.size(1), folder,
                ": training images have ", data.train.images.size(1), " pixels and test images ",
                data.test.images.size(1), "; expected as many");
  return data;
}

std::vector<Device> chosen_devices(const std::string& choice) {
  const std::string& reason = gradus::cuda::why_unavailable();
  if (choice == "cpu") return {gradus::kCPU};
  gradus::check<gradus::Error>(choice == "all" || reason.empty(), "--device cuda: ", reason);
  if (choice == "cuda") return {Device(gradus::kCUDA, 0)};
  if (reason.empty()) return {gradus::kCPU, Device(gradus::kCUDA, 0)};
  std::cout << "The CPU alone, as there is no GPU to compare it with: " << reason << "\n";
  return {gradus::kCPU};
}

double median_seconds(const Result& result) {
  std::vector<double> seconds;
  for (const Epoch& epoch : result.epochs) seconds.push_back(epoch.seconds);
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

double largest_difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, (a[i] - b[i]).abs().max().item<double>());
  return largest;
}

Table compared(const std::vector<Result>& results, int64_t samples) {
  Table table({"device", "s/epoch (median)", "samples/s", "loss", "test accuracy", "speed-up",
               "largest weight difference"});
  for (const Result& result : results) {
    const double seconds = median_seconds(result);
    const bool first = &result == &results[0];
    table.add(
        {result.device, format("%.4f", seconds),
         format("%.0f", static_cast<double>(samples) / seconds),
         format("%.5f", result.epochs.back().loss),
         format("%.2f%%", 100 * result.epochs.back().accuracy),
         first ? "1" : format("%.1f", median_seconds(results[0]) / seconds),
         first ? "-" : format("%.1e", largest_difference(results[0].weights, result.weights))});
  }
  return table;
}

std::string as_csv(const std::vector<Result>& results) {
  std::string out = "device,epoch,seconds,loss,test_accuracy\n";
  for (const Result& result : results)
    for (size_t i = 0; i < result.epochs.size(); ++i)
      out += format("%s,%zu,%.6f,%.9g,%.6f\n", result.device.c_str(), i + 1,
                    result.epochs[i].seconds, result.epochs[i].loss, result.epochs[i].accuracy);
  return out;
}

std::string as_svg(const std::vector<Result>& results, const std::string& title) {
  plot::Panel loss{"training loss (mean squared error)", {}}, accuracy{"test accuracy in %", {}};
  for (const Result& result : results) {
    plot::Curve losses{result.device, {}}, accuracies{result.device, {}};
    for (const Epoch& epoch : result.epochs) {
      losses.y.push_back(epoch.loss);
      accuracies.y.push_back(100 * epoch.accuracy);
    }
    loss.curves.push_back(losses);
    accuracy.curves.push_back(accuracies);
  }
  return plot::svg(title, "epoch", {loss, accuracy});
}

void run(const Settings& settings) {
  const fs::path csv = fs::path(settings.out) / "train_linear.csv";
  const fs::path svg = fs::path(settings.out) / "train_linear.svg";
  check_writable(csv), check_writable(svg);
  const std::vector<Device> devices = chosen_devices(settings.device);
  const Data data = load(settings);
  const int64_t samples = data.train.images.size(0);
  std::cout << "Data: " << data.name << " (" << data.source << "), " << samples << " training and "
            << data.test.images.size(0) << " test images of " << data.train.images.size(1)
            << " pixels, " << data.classes << " classes\n";
  std::vector<Result> results;
  for (const Device& device : devices) results.push_back(train(device, data, settings));
  std::cout << "\n" << compared(results, samples) << "\n";
  save({{csv, as_csv(results)}, {svg, as_svg(results, "A linear layer on " + data.name)}});
  std::cout << "The curves: " << csv.string() << " and " << svg.string() << "\n";
}

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app(R"(Trains one linear layer, pixels to classes, with the mean squared error to one-hot
targets and stochastic gradient descent: on the CPU, then from the same seed and in
the same order on the GPU. Ends with a table that compares them, and writes the curve
of loss and test accuracy as train_linear.csv and train_linear.svg.)");
  app.add_option("--data", settings.data, R"(Folder with the four IDX files of MNIST, plain or .gz.
Without it: Fashion-MNIST where the Debian package
dataset-fashion-mnist is installed, else the 1,797 digits
of the repository)")
      ->type_name("DIR");
  app.add_flag("--synthetic", settings.synthetic, "Train on made-up numbers, to try the program")
      ->excludes("--data");
  app.add_option("--device", settings.device, "Where to train; all: every kind that is there")
      ->check(CLI::IsMember({"all", "cpu", "cuda"}))
      ->capture_default_str();
  app.add_option("--epochs", settings.epochs, "Passes over the training images")
      ->check(CLI::Range(1, 100000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--batch-size", settings.batch_size, "Images in a step")
      ->check(CLI::Range(1, 1000000000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--lr", settings.lr, "Learning rate; too large a one makes the loss grow")
      ->check(positive_number())
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--momentum", settings.momentum, "Share of a step that the next one keeps")
      ->check(number_in(0, 1))
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--seed", settings.seed, "Of the first weights and the order of the images")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--out", settings.out, "Folder for the curve; made where it is missing")
      ->type_name("DIR")
      ->capture_default_str();
  app.footer(R"(Examples:
  train_linear                             every device, Fashion-MNIST, 10 epochs
  train_linear --device cpu --epochs 3     a quick look
  train_linear --data ~/mnist --out runs   another data set, results in runs/

)" + std::string(kExitCodes));
  return run_program(app, argc, argv, [&] { run(settings); });
}
