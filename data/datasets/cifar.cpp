// Reading the records of CIFAR: one or two classes, then the pixels of three planes.
#include "gradus/data/datasets/cifar.h"

#include <algorithm>
#include <filesystem>

#include "gradus/data/readers/byte_reader.h"
#include "gradus/tensor/factories.h"

namespace gradus::data {

namespace {

constexpr int64_t kChannels = 3, kSide = 32;
constexpr size_t kPixels = kChannels * kSide * kSide;

struct CifarFormat {
  size_t labels, label;  // how many stand before the pixels, and which one is taken
  int64_t classes;
};

constexpr CifarFormat kCifar10{1, 0, 10};

constexpr CifarFormat cifar100(bool coarse) { return {2, coarse ? 0U : 1U, coarse ? 20 : 100}; }

// Errors: ValueError.
void check_records(const CifarFormat& format, ArrayRef<uint8_t> bytes, std::string_view name) {
  const size_t record = format.labels + kPixels;
  check(!bytes.empty() && bytes.size() % record == 0, name, ": ", bytes.size(),
        " bytes, expected records of ", record, " bytes; copy the file again");
  for (size_t begin = 0; begin < bytes.size(); begin += record) {
    const int64_t label = bytes[begin + format.label];
    check(label < format.classes, name, ": record ", begin / record, " has class ", label,
          ", expected 0 to ", format.classes - 1, "; copy the file again");
  }
}

// REQUIRES: checked records.
ImageDataset images_of(const CifarFormat& format, ArrayRef<uint8_t> bytes,
                       const std::string& source) {
  const size_t record = format.labels + kPixels, count = bytes.size() / record;
  ImageDataset out;
  out.images = empty({static_cast<int64_t>(count), kChannels, kSide, kSide}, kFloat);
  out.targets = empty({static_cast<int64_t>(count)}, kLong);
  float* pixels = out.images.data_ptr<float>();
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* const begin = bytes.data() + i * record;
    out.targets.data_ptr<int64_t>()[i] = begin[format.label];
    pixels = std::transform(begin + format.labels, begin + record, pixels,
                            [](uint8_t pixel) { return static_cast<float>(pixel) / 255; });
  }
  out.classes = format.classes;
  out.name = (std::filesystem::path(source) / "").parent_path().filename().string();
  out.source = source;
  return out;
}

ImageDataset read_records(const std::string& op, const CifarFormat& format,
                          const std::string& folder, const std::vector<std::string>& files) {
  std::vector<uint8_t> bytes;
  for (const auto& file : files) {
    const std::string path = (std::filesystem::path(folder) / file).string();
    const std::vector<uint8_t> part = read_file(op, path);
    check_records(format, part, op + ": " + path);
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return images_of(format, bytes, folder);
}

ImageDataset parse_records(const std::string& op, const CifarFormat& format, ArrayRef<uint8_t> file,
                           const std::string& name) {
  check_records(format, file, op + ": " + name);
  return images_of(format, file, name);
}

}  // namespace

ImageDataset load_cifar10(const std::string& folder, bool train) {
  std::vector<std::string> files = {"test_batch.bin"};
  if (train) {
    files.clear();
    for (int i = 1; i <= 5; ++i) files.push_back("data_batch_" + std::to_string(i) + ".bin");
  }
  return read_records("load_cifar10", kCifar10, folder, files);
}

ImageDataset load_cifar100(const std::string& folder, bool train, bool coarse) {
  return read_records("load_cifar100", cifar100(coarse), folder,
                      {train ? "train.bin" : "test.bin"});
}

ImageDataset parse_cifar10(ArrayRef<uint8_t> file, std::string_view name) {
  return parse_records("parse_cifar10", kCifar10, file, std::string(name));
}

ImageDataset parse_cifar100(ArrayRef<uint8_t> file, std::string_view name, bool coarse) {
  return parse_records("parse_cifar100", cifar100(coarse), file, std::string(name));
}

}  // namespace gradus::data
