// Files of torch.save: PyTorch's .pt and .pth.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "gradus/serialize/safetensors.h"

namespace gradus::serialize {

// Reads a state dict, or dicts and lists of tensors, numbers and texts. Names of nested ones are
// joined by dots: {"model": {"fc.weight": w}, "epoch": 3} gives the tensor "model.fc.weight" and
// the metadata epoch = "3". Items of a list are named 0, 1, ..., and so is a tensor that is all of
// the file. Numbers, None, True and False become the text that Python prints. Tensors keep their
// strides; those that shared a storage share it here. requires_grad is not read. Nothing of the
// file is run.
// Errors: Error where the file cannot be read; ValueError for a damaged one and two values of one
// name; NotImplementedError for a whole module, other objects and dtypes that gradus lacks.
SafetensorsContents load_pt(const std::string& path, Device device = kCPU);
// The same from memory; `name` stands for the file in messages.
SafetensorsContents parse_pt(ArrayRef<uint8_t> file, std::string_view name, Device device = kCPU);

namespace detail {
// load_pt for another public function, which messages name.
SafetensorsContents load_pt(const std::string& operation, const std::string& path, Device device);
}  // namespace detail

}  // namespace gradus::serialize
