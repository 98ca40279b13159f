// MNIST from the files of a folder.
#include "gradus/data/datasets/mnist.h"

#include "gradus/data/datasets/image_dataset.h"

namespace gradus::data::datasets {

namespace {

TensorPairDataset with_channel(const ImageDataset& set) {
  return {set.images.unsqueeze(1), set.targets};
}

}  // namespace

MNIST::MNIST(const std::string& root, Mode mode)
    : rows_(with_channel(data::detail::load_idx_folder("MNIST", root, mode == Mode::kTrain))),
      is_train_(mode == Mode::kTrain) {}

Example<> MNIST::get(size_t index) { return rows_.get(index); }
std::optional<size_t> MNIST::size() const { return rows_.size(); }
Example<> MNIST::get_stacked(ArrayRef<size_t> indices) { return rows_.get_stacked(indices); }
const Tensor& MNIST::images() const { return rows_.data; }
const Tensor& MNIST::targets() const { return rows_.target; }

}  // namespace gradus::data::datasets
