// Trains a linear model with the library's code, and again with a student's in its place; compares
// accuracy and speed, and prints how many calls ran on whose code.
#include <gradus/data/datasets/image_dataset.h>
#include <gradus/gradus.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "plug/backend.h"
#include "plug/ring.h"

using gradus::Device, gradus::Tensor;

namespace {

struct Settings {
  std::string data = GRADUS_DATA_DIR "/digits", device = "all";
  int64_t epochs = 5, batch = 64, ranks = 0;
  double lr = 0.05, momentum = 0.9;
};

struct Result {
  double loss = 0, accuracy = 0, seconds = 0;
};

struct Split {
  Tensor images, targets, labels;  // (n, pixels), one-hot (n, classes), (n)
};

Split split_of(const std::string& folder, bool train, Device device) {
  const auto set = gradus::data::load_idx_folder(folder, train);
  return {set.images.flatten(1).to(device),
          gradus::one_hot(set.targets, set.classes).to(device, gradus::kFloat),
          set.targets.to(device)};
}

double accuracy(const gradus::nn::Linear& model, const Split& test) {
  gradus::NoGradGuard no_grad;
  return model->forward(test.images)
      .argmax(1)
      .eq(test.labels)
      .to(gradus::kDouble)
      .mean()
      .item<double>();
}

// `student` is told to count from the first step to the last.
Result train(Device device, const Settings& settings, course::plug::StudentBackend* student) {
  const Split data = split_of(settings.data, true, device),
              test = split_of(settings.data, false, device);
  gradus::manual_seed(1);
  gradus::nn::Linear model(data.images.size(1), data.targets.size(1));
  model->to(device);
  gradus::nn::MSELoss loss_of;
  gradus::optim::SGD sgd(model->parameters(),
                         gradus::optim::SGDOptions(settings.lr).momentum(settings.momentum));
  const int64_t rows = data.images.size(0);
  if (student != nullptr) {
    student->forget();
    gradus::exchange_backend(device.type(), student);
  }
  const auto start = std::chrono::steady_clock::now();
  Tensor loss;
  for (int64_t epoch = 0; epoch < settings.epochs; ++epoch) {
    for (int64_t first = 0; first < rows; first += settings.batch) {
      const int64_t size = std::min(settings.batch, rows - first);
      sgd.zero_grad();
      loss = loss_of(model->forward(data.images.narrow(0, first, size)),
                     data.targets.narrow(0, first, size));
      loss.backward();
      sgd.step();
    }
  }
  const double last = loss.item<double>();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (student != nullptr) gradus::exchange_backend(device.type(), nullptr);
  return {last, 100 * accuracy(model, test), time.count()};
}

void print_calls(const course::plug::StudentBackend& student) {
  std::printf("  calls in the steps     student  library\n");
  for (const auto& [name, calls] : student.calls())
    std::printf("  %-20s %9lld %8lld\n", name.c_str(), static_cast<long long>(calls.student),
                static_cast<long long>(calls.library));
  std::printf("  by task:");
  for (const auto& [task, calls] : student.tasks())
    std::printf(" %s: %lld", task.c_str(), static_cast<long long>(calls));
  std::printf("\n");
  const bool all = std::none_of(student.calls().begin(), student.calls().end(),
                                [](const auto& each) { return each.second.library > 0; });
  if (all) std::printf("  all computing calls ran on the student's code\n");
}

// Whether the student's code reaches the library's accuracy within 0.2 points.
bool compare(Device device, const Settings& settings) {
  gradus::Backend& library = device.is_cpu() ? gradus::cpu_backend() : gradus::cuda_backend();
#ifdef COURSE_HAS_CUDA
  const course::plug::Code& code =
      device.is_cpu() ? course::plug::cpu_code() : course::plug::gpu_code();
#else
  const course::plug::Code& code = course::plug::cpu_code();
#endif
  course::plug::StudentBackend student(library, code);
  const Result theirs = train(device, settings, nullptr), ours = train(device, settings, &student);
  std::printf("%s: %lld epochs of %s\n", device.str().c_str(),
              static_cast<long long>(settings.epochs), settings.data.c_str());
  for (const auto& [name, result] : {std::pair("library", theirs), {"student", ours}})
    std::printf("  %s: last loss %.6f, test accuracy %.2f%%, %.2f s\n", name, result.loss,
                result.accuracy, result.seconds);
  print_calls(student);
  return std::abs(theirs.accuracy - ours.accuracy) <= 0.2;
}

// The weights after some steps of `ranks` replicas, each on its share of the batches; with the
// student's ring or the library's.
std::vector<Tensor> train_ranks(int ranks, const Settings& settings, bool student, int64_t& sums) {
  namespace distributed = gradus::distributed;
  const Split data = split_of(settings.data, true, gradus::kCPU);
  const auto mailboxes = std::make_shared<course::plug::Mailboxes>(ranks);
  std::vector<Tensor> weights;
  gradus::manual_seed(1);  // here, for the ranks share one generator
  const gradus::nn::Linear start(data.images.size(1), data.targets.size(1));
  distributed::spawn_threads(ranks, [&](int rank) {
    gradus::nn::Linear model(std::dynamic_pointer_cast<gradus::nn::LinearImpl>(start->clone()));
    distributed::Group group = distributed::new_group();
    std::shared_ptr<course::plug::StudentRing> ring;
    if (student)
      group = ring = distributed::share_group<course::plug::StudentRing>(group, mailboxes);
    distributed::DistributedDataParallel replica(
        model, distributed::DistributedDataParallelOptions().process_group(group));
    gradus::nn::MSELoss loss_of;
    gradus::optim::SGD sgd(replica->parameters(),
                           gradus::optim::SGDOptions(settings.lr).momentum(settings.momentum));
    const int64_t share = settings.batch / ranks;
    for (int64_t step = 0; step < 20; ++step) {
      const int64_t first = (step * settings.batch + rank * share) % (data.images.size(0) - share);
      sgd.zero_grad();
      loss_of(replica(data.images.narrow(0, first, share)), data.targets.narrow(0, first, share))
          .backward();
      sgd.step();
    }
    if (rank != 0) return;
    for (const Tensor& parameter : model->parameters())
      weights.push_back(parameter.detach().clone());
    sums = ring ? ring->sums() : 0;
  });
  return weights;
}

// Whether replicas with the student's ring get the bits of the library's.
bool compare_rings(int ranks, const Settings& settings) {
  int64_t sums = 0, none = 0;
  const std::vector<Tensor> theirs = train_ranks(ranks, settings, false, none),
                            ours = train_ranks(ranks, settings, true, sums);
  bool same = theirs.size() == ours.size();
  for (size_t i = 0; i < theirs.size() && same; ++i) same = theirs[i].equal(ours[i]);
  std::printf("%d replicas, 20 steps: %lld sums by the student's ring; the weights have %s bits\n",
              ranks, static_cast<long long>(sums), same ? "the library's" : "other");
  return same;
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help") {
      std::printf(
          "usage: course/train [--core DIR] [--device cpu|cuda|all] [--data FOLDER] [--epochs N] "
          "[--batch N]\n"
          "                    [--lr X] [--momentum X] [--ranks N]\n"
          "Trains a linear model with the code in DIR/core (default: the course's solutions).\n"
          "With --ranks N replicas are trained by N threads, which add gradients by the student's "
          "ring.\n");
      std::exit(0);
    }
    if (i + 1 >= argc) gradus::fail<gradus::ValueError>(name, " lacks a value; see --help");
    const std::string value = argv[++i];
    const auto number = [&] {
      char* end = nullptr;
      const double out = std::strtod(value.c_str(), &end);
      gradus::check(!value.empty() && *end == '\0', name, " is '", value, "'; expected a number");
      return out;
    };
    const auto whole = [&] { return static_cast<int64_t>(number()); };
    if (name == "--data")
      settings.data = value;
    else if (name == "--device")
      settings.device = value;
    else if (name == "--epochs")
      settings.epochs = whole();
    else if (name == "--batch")
      settings.batch = whole();
    else if (name == "--lr")
      settings.lr = number();
    else if (name == "--ranks")
      settings.ranks = whole();
    else if (name == "--momentum")
      settings.momentum = number();
    else
      gradus::fail<gradus::ValueError>("there is no option ", name, "; see --help");
  }
  gradus::check(settings.epochs > 0 && settings.batch > 0,
                "--epochs and --batch must be 1 or more");
  return settings;
}

}  // namespace

int main(int argc, char** argv) try {
  const Settings settings = parse(argc, argv);
  if (settings.ranks > 0) return compare_rings(static_cast<int>(settings.ranks), settings) ? 0 : 1;
  bool good = true;
  if (settings.device != "cuda") good = compare(gradus::kCPU, settings) && good;
  if (settings.device != "cpu") {
    if (gradus::cuda::is_available())
      good = compare(Device(gradus::kCUDA, 0), settings) && good;
    else if (settings.device == "cuda")
      gradus::fail<gradus::Error>("--device cuda: ", gradus::cuda::why_unavailable());
    else
      std::printf("no GPU: %s\n", gradus::cuda::why_unavailable().c_str());
  }
  if (!good) std::printf("the student's accuracy differs by more than 0.2 points\n");
  return good ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "train: " << error.what() << '\n';
  return 1;
}
