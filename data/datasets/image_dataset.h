// Sets of labelled images, read whole into memory.
#pragma once

#include <string>

#include "gradus/tensor/tensor.h"

namespace gradus::data {

struct ImageDataset {
  Tensor images;        // float32 (N, height, width), in color (N, 3, height, width), in [0, 1]
  Tensor targets;       // int64 (N), in [0, classes)
  int64_t classes = 0;  // largest label + 1
  std::string name;     // "fashion-mnist"
  std::string source;   // the folder it was read from

  int64_t size() const { return targets.size(0); }
};

// Reads `train-images-idx3-ubyte` and `train-labels-idx1-ubyte` of a folder, or `t10k-...` where
// train is false; each may end in `.gz` and may be spelled `train-images.idx3-ubyte`.
// Errors: those of read_idx; Error where a file is missing; ValueError where images and labels do
// not belong together, or there are none.
ImageDataset load_idx_folder(const std::string& folder, bool train = true);

namespace detail {
// The same for another public function, which messages name.
ImageDataset load_idx_folder(const std::string& operation, const std::string& folder, bool train);
}  // namespace detail

}  // namespace gradus::data
