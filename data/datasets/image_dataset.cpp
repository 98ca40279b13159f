// Finding and reading the files of a set of labelled images.
#include "gradus/data/datasets/image_dataset.h"

#include <algorithm>
#include <filesystem>

#include "gradus/data/datasets/idx.h"
#include "gradus/tensor/factories.h"

namespace gradus::data {
namespace {

namespace fs = std::filesystem;

// kind: "images" or "labels"; rank: the digit in the name.
std::string find_file(const std::string& op, const std::string& folder, bool train,
                      const std::string& kind, char rank) {
  const std::string stem = (train ? "train-" : "t10k-") + kind;
  const std::string type = std::string("idx") + rank + "-ubyte";
  std::error_code error;
  for (const char separator : {'-', '.'})
    for (const char* ending : {"", ".gz"}) {
      const fs::path path = fs::path(folder) / (stem + separator + type + ending);
      if (fs::exists(path, error)) return path.string();
    }
  check<Error>(fs::is_directory(folder, error), op, ": ", folder,
               ": there is no such folder; check the path");
  fail<Error>(op, ": ", folder, ": holds no ", stem, "-", type, " or ", stem, "-", type,
              ".gz, expected the four files of MNIST; put them there");
}

}  // namespace

ImageDataset load_idx_folder(const std::string& folder, bool train) {
  return detail::load_idx_folder("load_idx_folder", folder, train);
}

ImageDataset detail::load_idx_folder(const std::string& op, const std::string& folder, bool train) {
  const std::string image_path = find_file(op, folder, train, "images", '3');
  const std::string label_path = find_file(op, folder, train, "labels", '1');
  const IdxArray pixels = read_idx(op, image_path);
  check(pixels.sizes.size() == 3, op, ": ", image_path, ": sizes ", IntArrayRef(pixels.sizes),
        ", expected three: count, height, width; put the file of images there");
  check(!pixels.bytes.empty(), op, ": ", image_path, ": sizes ", IntArrayRef(pixels.sizes),
        ", expected at least one image of at least one pixel; copy the file again");
  const IdxArray labels = read_idx(op, label_path);
  check(labels.sizes.size() == 1, op, ": ", label_path, ": sizes ", IntArrayRef(labels.sizes),
        ", expected one: count; put the file of labels there");
  check(labels.sizes[0] == pixels.sizes[0], op, ": ", label_path, ": holds ", labels.sizes[0],
        " labels, and ", image_path, " ", pixels.sizes[0],
        " images, expected as many; take both from one data set");

  ImageDataset out;
  out.images = empty(pixels.sizes, kFloat);
  std::transform(pixels.bytes.begin(), pixels.bytes.end(), out.images.data_ptr<float>(),
                 [](uint8_t pixel) { return static_cast<float>(pixel) / 255; });
  out.targets = empty(labels.sizes, kLong);
  std::copy(labels.bytes.begin(), labels.bytes.end(), out.targets.data_ptr<int64_t>());
  out.classes = *std::max_element(labels.bytes.begin(), labels.bytes.end()) + 1;
  const fs::path path = fs::path(folder) / "";  // so that "mnist" and "mnist/" are named alike
  out.name = path.parent_path().filename().string();
  out.source = folder;
  return out;
}

}  // namespace gradus::data
