// ImageFolder: pictures of a folder that has a folder for each class, as torchvision's.
#pragma once

#include <string>
#include <vector>

#include "gradus/data/datasets/base.h"
#include "gradus/data/readers/image.h"

namespace gradus::data {
namespace datasets {

// root/cat/1.png, root/dog/a.jpg, ...: classes and files are sorted by name; files of other kinds,
// and those whose names begin with a dot, are left out. Pictures are read when they are asked for,
// by the workers of a loader where it has some. Resize makes them of one size.
class ImageFolder : public Dataset<ImageFolder> {
 public:
  // skip_corrupt: reads every picture once, by all threads. Damaged ones, and those of another
  // kind, are left out with a warning. Errors: Error for a root that is no folder, holds no
  // folders, or has a class without a picture.
  explicit ImageFolder(const std::string& root, ImageMode mode = ImageMode::kRgb,
                       bool skip_corrupt = false);

  // A picture, float32 (channels, height, width) in [0, 1], and its class, int64 (). Errors: as
  // read_image.
  Example<> get(size_t index) override;
  std::optional<size_t> size() const override { return files_.size(); }

  // The names of the classes; a target is a place in it.
  const std::vector<std::string>& classes() const { return classes_; }
  const std::string& path(size_t index) const { return files_.at(index).path; }
  // The files that skip_corrupt left out.
  const std::vector<std::string>& skipped() const { return skipped_; }
  // The class of each picture, int64 (N), without reading the pictures.
  Tensor targets() const;

 private:
  struct File {
    std::string path;
    int64_t target;
  };
  std::vector<std::string> classes_;
  void leave_out_corrupt(const std::string& root);

  std::vector<File> files_;
  std::vector<std::string> skipped_;
  ImageMode mode_;
};

}  // namespace datasets

using datasets::ImageFolder;

}  // namespace gradus::data
