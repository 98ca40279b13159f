// CIFAR-10 and CIFAR-100, from their binary files.
#pragma once

#include <string>
#include <string_view>

#include "gradus/data/datasets/image_dataset.h"

namespace gradus::data {

// Reads data_batch_1.bin to data_batch_5.bin of a folder, or test_batch.bin where train is false.
// Images are (N, 3, 32, 32). Errors: Error where a file is missing or cannot be read; ValueError
// where it does not hold whole records, or a class above 9.
ImageDataset load_cifar10(const std::string& folder, bool train = true);

// Reads train.bin, or test.bin where train is false. Targets are the 100 fine classes, or with
// `coarse` the 20 groups of them. Errors: as above.
ImageDataset load_cifar100(const std::string& folder, bool train = true, bool coarse = false);

// One of these files from memory; `name` stands for it in messages. Errors: ValueError as above.
ImageDataset parse_cifar10(ArrayRef<uint8_t> file, std::string_view name);
ImageDataset parse_cifar100(ArrayRef<uint8_t> file, std::string_view name, bool coarse = false);

}  // namespace gradus::data
