// MNIST, and sets in its format such as Fashion-MNIST, as libtorch's class.
#pragma once

#include <string>

#include "gradus/data/datasets/tensor.h"

namespace gradus::data::datasets {

class MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };

  // Reads the files of a folder, as load_idx_folder does. Errors: those.
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);

  // An image, float32 (1, height, width) in [0, 1], and its class, int64 ().
  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
  // The images and classes under the indices as one tensor each.
  Example<> get_stacked(ArrayRef<size_t> indices);

  bool is_train() const noexcept { return is_train_; }
  // All images, float32 (N, 1, height, width), and all classes, int64 (N).
  const Tensor& images() const;
  const Tensor& targets() const;

 private:
  TensorPairDataset rows_;
  bool is_train_;
};

}  // namespace gradus::data::datasets
