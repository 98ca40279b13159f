// Epochs of a data::DataLoader with four workers: PNG files of a folder, tensors in memory, and,
// where DEVICE is cuda, training steps beside those of data that lie there.
//   bench_loader FOLDER [DEVICE]    makes the files in the folder where it is empty
#include <filesystem>
#include <optional>

#include "bench/timer.h"

using namespace gradus;

namespace {

constexpr int kPictures = 512, kClasses = 4, kRounds = 5;

// Waves with some noise, as pictures of a camera compress.
void make_pictures(const std::string& root) {
  if (std::filesystem::exists(root)) return;
  manual_seed(1);
  const Tensor at = arange(128.0) / 20;
  for (int i = 0; i < kPictures; ++i) {
    const std::string folder = root + "/class" + std::to_string(i % kClasses);
    std::filesystem::create_directories(folder);
    const Tensor wave = (at.unsqueeze(0) + at.unsqueeze(1) * (0.1 * i)).sin() * 0.4 + 0.5;
    watch::save_image((wave + 0.02 * randn({3, 128, 128})).clamp(0, 1),
                      folder + "/" + std::to_string(i) + ".png");
  }
}

template <class Set>
void time(const char* name, const Set& set, int64_t batch_size) {
  data::DataLoader loader(set, data::DataLoaderOptions(batch_size).shuffle(true).workers(4));
  const auto epoch = [&] {
    int64_t seen = 0;
    for (auto& [x, y] : loader) seen += x.size(0);
    check(seen == static_cast<int64_t>(*set.size()), name, ": ", seen, " examples");
  };
  bench::report(name, "gradus", bench::host_seconds(epoch, kRounds, 1),
                static_cast<double>(*set.size()), "image");
}

// The network and transforms of examples/cnn_fashion_mnist.
class Training {
 public:
  Training() {
    const auto convolution = [](int64_t in, int64_t out) {
      return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false));
    };
    model = nn::Sequential(convolution(1, 32), nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2),
                           convolution(32, 64), nn::BatchNorm2d(64), nn::ReLU(), nn::MaxPool2d(2),
                           convolution(64, 128), nn::BatchNorm2d(128), nn::ReLU(), nn::Flatten(),
                           nn::Dropout(0.3), nn::Linear(128 * 7 * 7, 10));
    model->to(kCUDA);
    optimizer.emplace(model->parameters(), optim::AdamWOptions(1e-3));
  }

  void step(const Tensor& x, const Tensor& y) {
    optimizer->zero_grad();
    loss(model->forward(x), y).backward();
    optimizer->step();
  }

 private:
  nn::Sequential model;
  nn::CrossEntropyLoss loss;
  std::optional<optim::AdamW> optimizer;
};

void time_training() {
  constexpr int64_t kImages = 60000, kBatch = 128;
  const double mean = 0.286, deviation = 0.353;
  const Tensor images = rand({kImages, 1, 28, 28}), labels = randint(10, {kImages}, kLong);
  Training training;
  const auto report = [&](const char* name, const auto& epoch) {
    bench::report(name, "gradus",
                  bench::host_seconds(epoch, kRounds, 1, [] { cuda::synchronize(); }), kImages,
                  "image");
  };
  using namespace data::transforms;
  const auto set = data::TensorPairDataset(images, labels)
                       .map(Normalize<>(mean, deviation))
                       .map(RandomHorizontalFlip<>());
  data::DataLoader loader(set,
                          data::DataLoaderOptions(kBatch).shuffle(true).workers(4).device(kCUDA));
  report("a CNN's training steps, loader", [&] {
    for (auto& [x, y] : loader) training.step(x, y);
  });
  const Tensor there = (images.to(kCUDA) - mean) / deviation, labels_there = labels.to(kCUDA);
  report("a CNN's training steps, data on the GPU", [&] {
    const Tensor order = randperm(kImages, TensorOptions(kLong).device(kCUDA));
    for (int64_t first = 0; first < kImages; first += kBatch) {
      const Tensor at = order.narrow(0, first, std::min(kBatch, kImages - first));
      const Tensor x = there.index_select(0, at);
      const Tensor turned = rand({at.size(0), 1, 1, 1}, kCUDA) < 0.5;
      training.step(where(turned, x.flip({3}), x), labels_there.index_select(0, at));
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  check(argc == 2 || argc == 3, "give the folder of the pictures, and a device");
  make_pictures(argv[1]);
  time("PNG files, 3 x 128 x 128", data::datasets::ImageFolder(argv[1]), 32);
  time("tensors, 1 x 28 x 28",
       data::TensorPairDataset(rand({60000, 1, 28, 28}), randint(10, {60000}, kLong)), 64);
  if (argc == 3 && Device(argv[2]).is_cuda()) time_training();
}
