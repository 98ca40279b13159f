// Epochs of a data::DataLoader with four workers: PNG files of a folder, and tensors in memory.
//   bench_loader FOLDER    makes the files in the folder where it is empty
#include <filesystem>

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

}  // namespace

int main(int argc, char** argv) {
  check(argc == 2, "give the folder of the pictures");
  make_pictures(argv[1]);
  time("PNG files, 3 x 128 x 128", data::datasets::ImageFolder(argv[1]), 32);
  time("tensors, 1 x 28 x 28",
       data::TensorPairDataset(rand({60000, 1, 28, 28}), randint(10, {60000}, kLong)), 64);
}
