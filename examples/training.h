// The frame of train.cpp: options, data, and the results as table and curves.
#pragma once

#include <gradus/gradus.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "program.h"
#include "save.h"
#include "table.h"

using gradus::Device, gradus::Tensor;
namespace fs = std::filesystem;

struct Settings {
  std::string model = "linear", data, device = "all", out = ".";
  int64_t epochs = 10, batch_size = 128;
  double lr = 0, momentum = 0.9;  // lr 0: that of the model
  uint64_t seed = 1;
  bool synthetic = false;
  int dashboard_port = -1;  // -1: no dashboard
  std::shared_ptr<gradus::watch::Dashboard> dashboard;
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

// Noisy copies of one random picture per class.
inline Data made_up(uint64_t seed) {
  constexpr int64_t kClasses = 10, kPixels = 784;
  gradus::manual_seed(seed);
  const Tensor pictures = gradus::rand({kClasses, kPixels});
  const auto split = [&](int64_t count) -> Split {
    const Tensor labels = gradus::randint(kClasses, {count});
    return {pictures.index_select(0, labels) * 0.2 + gradus::rand({count, kPixels}) * 0.8, labels};
  };
  return {"made-up numbers", "--synthetic", split(6000), split(1000), kClasses};
}

// The data that --data names, else Fashion-MNIST where it is installed, else the digits of the
// repository.
inline Data load(const Settings& settings) {
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

inline std::vector<Device> chosen_devices(const std::string& choice) {
  const std::string& reason = gradus::cuda::why_unavailable();
  if (choice == "cpu") return {gradus::kCPU};
  gradus::check<gradus::Error>(choice == "all" || reason.empty(), "--device cuda: ", reason);
  if (choice == "cuda") return {Device(gradus::kCUDA, 0)};
  if (reason.empty()) return {gradus::kCPU, Device(gradus::kCUDA, 0)};
  std::cout << "The CPU alone, as there is no GPU to compare it with: " << reason << "\n";
  return {gradus::kCPU};
}

inline double median_seconds(const Result& result) {
  std::vector<double> seconds;
  for (const Epoch& epoch : result.epochs) seconds.push_back(epoch.seconds);
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

inline double largest_difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, (a[i] - b[i]).abs().max().item<double>());
  return largest;
}

inline Table compared(const std::vector<Result>& results, int64_t samples) {
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

inline std::string as_csv(const std::vector<Result>& results) {
  std::string out = "device,epoch,seconds,loss,test_accuracy\n";
  for (const Result& result : results)
    for (size_t i = 0; i < result.epochs.size(); ++i)
      out += format("%s,%zu,%.6f,%.9g,%.6f\n", result.device.c_str(), i + 1,
                    result.epochs[i].seconds, result.epochs[i].loss, result.epochs[i].accuracy);
  return out;
}

inline std::string as_svg(const std::vector<Result>& results, const std::string& title,
                          const std::string& loss_name) {
  gradus::watch::Panel loss{"training loss (" + loss_name + ")", {}},
      accuracy{"test accuracy in %", {}};
  for (const Result& result : results) {
    gradus::watch::Curve losses{result.device, {}}, accuracies{result.device, {}};
    for (const Epoch& epoch : result.epochs) {
      losses.y.push_back(epoch.loss);
      accuracies.y.push_back(100 * epoch.accuracy);
    }
    loss.curves.push_back(losses);
    accuracy.curves.push_back(accuracies);
  }
  return gradus::watch::plot_curves(title, "epoch", {loss, accuracy});
}

// The name of a class of Fashion-MNIST, else its number.
inline std::string class_name(const Data& data, int64_t number) {
  static const char* const kNames[] = {"T-shirt", "trouser", "pullover", "dress", "coat",
                                       "sandal",  "shirt",   "sneaker",  "bag",   "ankle boot"};
  const bool fashion = data.name.find("fashion") != std::string::npos && data.classes == 10;
  return fashion ? kNames[number] : std::to_string(number);
}

// A bar on a terminal; a pipe gets a line at the end.
inline gradus::watch::ProgressBar progress_bar(const std::string& device, int64_t steps) {
  using namespace gradus::watch;
  Screen screen = Screen::standard_error();
  screen.out = &std::cout;
  if (isatty(STDOUT_FILENO) != 1) screen.columns = [] { return 0; };
  return ProgressBar(steps, ProgressBarOptions().desc(device).line_interval(INFINITY).leave(false),
                     screen);
}

// Notes an epoch that is over, and prints a line about it.
// Errors: Error where the loss is not finite.
inline void note_epoch(Result& result, const Epoch& epoch, const Settings& settings,
                       gradus::watch::ProgressBar& progress) {
  result.epochs.push_back(epoch);
  const int count = static_cast<int>(result.epochs.size());
  gradus::check<gradus::Error>(std::isfinite(epoch.loss), "the loss is ", epoch.loss,
                               " after epoch ", count, " on ", result.device,
                               "; try a smaller --lr");
  progress.write(format("%-6s epoch %2d of %d: loss %.5f, test accuracy %.2f%%, %.3f s",
                        result.device.c_str(), count, static_cast<int>(settings.epochs), epoch.loss,
                        100 * epoch.accuracy, epoch.seconds));
  if (settings.dashboard)
    settings.dashboard->log({{"loss/" + result.device, epoch.loss},
                             {"accuracy/" + result.device, epoch.accuracy},
                             {"seconds of an epoch/" + result.device, epoch.seconds}},
                            count);
}

// Tells which data the program has.
// How the library was built, and the data.
inline void print_data(const Data& data) {
  const std::string config = gradus::show_config();
  std::cout << config.substr(0, config.find('\n')) << '\n';
  std::cout << "Data: " << data.name << " (" << data.source << "), " << data.train.images.size(0)
            << " training and " << data.test.images.size(0) << " test images of "
            << data.train.images.size(1) << " pixels, " << data.classes << " classes\n";
}

inline void add_options(CLI::App& app, Settings& settings) {
  app.add_option("model", settings.model, "What to train: linear or cnn")
      ->check(CLI::IsMember({"linear", "cnn"}))
      ->capture_default_str();
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
  app.add_option("--lr", settings.lr, R"(Learning rate, 0.02 for linear and 0.05 for cnn; too large
a one makes the loss grow)")
      ->check(positive_number())
      ->type_name("X");
  app.add_option("--momentum", settings.momentum, "Share of a step that the next one keeps")
      ->check(number_in(0, 1))
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--seed", settings.seed, "Of the first weights and the order of the images")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--dashboard", settings.dashboard_port,
                 R"(Show curves and GPUs on a page for a browser of this
machine; 0 is any port that is free)")
      ->expected(0, 1)
      ->default_str("6007")
      ->check(CLI::Range(0, 65535))
      ->type_name("[PORT]");
  app.add_option("--out", settings.out, "Folder for the curve; made where it is missing")
      ->type_name("DIR")
      ->capture_default_str();
}
