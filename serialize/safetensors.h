// Tensors by name in a safetensors file, a format that Python programs read too. The file holds
// numbers and text, and no code.
#pragma once

#include <functional>
#include <string>

#include "gradus/serialize/safetensors_header.h"
#include "gradus/tensor/base/ordered_dict.h"
#include "gradus/tensor/tensor.h"

namespace gradus::serialize {

using NamedTensors = OrderedDict<std::string, Tensor>;

struct SafetensorsContents {
  NamedTensors tensors;  // in the order of the file's header
  Metadata metadata;
};

// Tensors of any layout and device. Each is written whole, also where several share memory. The
// file appears under its name when it is complete, and not otherwise (serialize/atomic_file.h).
// Errors: Error where the file cannot be written; ValueError for an undefined tensor, for a name or
// metadata that are not UTF-8, and for the name __metadata__.
void save_file(const NamedTensors& tensors, const std::string& path, const Metadata& metadata = {});

// The header is checked against the size of the file before memory is allocated. Errors: Error
// where the file cannot be read; ValueError that names the file and what is wrong in it;
// NotImplementedError for a dtype that gradus lacks.
// `mmap` makes tensors of the CPU pages of the file. The system reads them when they are used, and
// processes that load the same file share them. A write to a tensor copies its page and leaves the
// file as it is. Tensors survive a file that is replaced, as save_file does, but not one that is
// shortened or written in place. Tensors that are not aligned in the file are copied.
SafetensorsContents load_file(const std::string& path, Device device = kCPU, bool mmap = false);

namespace detail {
// The same for another public function, which messages name.
SafetensorsContents load_file(const std::string& operation, const std::string& path,
                              Device device = kCPU, bool mmap = false);
void save_file(const std::string& operation, const NamedTensors& tensors, const std::string& path,
               const Metadata& metadata);
}  // namespace detail

// The same for other places than files. `write` takes all of the bytes, or throws. Messages begin
// with `name`.
using WriteBytes = std::function<void(const void* bytes, size_t count)>;
void write_safetensors(const WriteBytes& write, const NamedTensors& tensors,
                       const Metadata& metadata = {},
                       const std::string& name = "write_safetensors");
// `read` reads `count` bytes from byte `position` on, or throws. Messages call the file `name`.
using ReadBytes = std::function<void(uint64_t position, void* bytes, size_t count)>;
SafetensorsContents read_safetensors(const ReadBytes& read, uint64_t size, const std::string& name,
                                     Device device = kCPU);

}  // namespace gradus::serialize
