// Reading the records of CIFAR: one or two classes, then the pixels of three planes.
#include "gradus/data/datasets/cifar.h"

#include <algorithm>
#include <filesystem>

#include "gradus/data/datasets/byte_reader.h"
#include "gradus/tensor/factories.h"

namespace gradus::data {

namespace {

constexpr int64_t kChannels = 3, kSide = 32;
constexpr size_t kPixels = kChannels * kSide * kSide;

struct CifarFormat {
  const char* op;
  size_t labels, label;  // how many stand before the pixels, and which one is taken
  int64_t classes;
};

ImageDataset read_records(const CifarFormat& format, const std::string& folder,
                          const std::vector<std::string>& files) {
  const size_t record = format.labels + kPixels;
  std::vector<uint8_t> bytes;
  for (const auto& file : files) {
    const std::string path = (std::filesystem::path(folder) / file).string();
    const std::vector<uint8_t> part = read_file(format.op, path);
    check(!part.empty() && part.size() % record == 0, format.op, ": ", path, ": ", part.size(),
          " bytes, expected records of ", record, " bytes; copy the file again");
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  const size_t count = bytes.size() / record;
  ImageDataset out;
  out.images = empty({static_cast<int64_t>(count), kChannels, kSide, kSide}, kFloat);
  out.targets = empty({static_cast<int64_t>(count)}, kLong);
  float* pixels = out.images.data_ptr<float>();
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* const begin = bytes.data() + i * record;
    const int64_t label = begin[format.label];
    check(label < format.classes, format.op, ": record ", i, " of ", folder, " has class ", label,
          ", expected 0 to ", format.classes - 1, "; copy the files again");
    out.targets.data_ptr<int64_t>()[i] = label;
    pixels = std::transform(begin + format.labels, begin + record, pixels,
                            [](uint8_t pixel) { return static_cast<float>(pixel) / 255; });
  }
  out.classes = format.classes;
  out.name = (std::filesystem::path(folder) / "").parent_path().filename().string();
  out.source = folder;
  return out;
}

}  // namespace

ImageDataset load_cifar10(const std::string& folder, bool train) {
  std::vector<std::string> files = {"test_batch.bin"};
  if (train) {
    files.clear();
    for (int i = 1; i <= 5; ++i) files.push_back("data_batch_" + std::to_string(i) + ".bin");
  }
  return read_records({"load_cifar10", 1, 0, 10}, folder, files);
}

ImageDataset load_cifar100(const std::string& folder, bool train, bool coarse) {
  const int64_t classes = coarse ? 20 : 100;
  return read_records({"load_cifar100", 2, coarse ? 0U : 1U, classes}, folder,
                      {train ? "train.bin" : "test.bin"});
}

}  // namespace gradus::data
