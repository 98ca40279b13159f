// Archives: what save() fills and load() reads, with libtorch's names. An archive on disk is a
// safetensors file. load_from(path) reads PyTorch's .pt files, too (serialize/pt.h).
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gradus/serialize/safetensors.h"

namespace gradus::serialize {

// Tensors and texts by name. Archives may contain archives; their names are joined by dots.
class OutputArchive {
 public:
  OutputArchive() = default;
  // Messages name this operation instead of a function of the archive.
  explicit OutputArchive(std::string operation) : operation_(std::move(operation)) {}
  OutputArchive(OutputArchive&&) = default;
  OutputArchive& operator=(OutputArchive&&) = default;

  // Keeps the handle, so that save_to() writes the value of that moment. `is_buffer` has no effect.
  // Errors: ValueError for an undefined tensor, and where the name is taken.
  void write(const std::string& key, const Tensor& tensor, bool is_buffer = false);
  void write(const std::string& key, const std::string& text);
  void write(const std::string& key, OutputArchive& nested);
  template <class... Args>
  void operator()(Args&&... args) {
    write(std::forward<Args>(args)...);
  }

  // Errors: as save_file; Error where the stream fails.
  void save_to(const std::string& path) const;
  void save_to(std::ostream& stream) const;
  // `write` returns the number of bytes that it wrote. Errors: Error where that is not `count`.
  void save_to(const std::function<size_t(const void* bytes, size_t count)>& write) const;

  const NamedTensors& tensors() const { return contents_.tensors; }

 private:
  std::string called(const char* own) const { return operation_.empty() ? own : operation_; }

  SafetensorsContents contents_;
  std::string operation_;
};

class InputArchive {
 public:
  InputArchive() = default;
  // Messages name this operation instead of a function of the archive.
  explicit InputArchive(std::string operation) : operation_(std::move(operation)) {}
  InputArchive(InputArchive&&) = default;
  InputArchive& operator=(InputArchive&&) = default;

  // The tensors are read at once, to the CPU unless a device is given.
  // Errors: as load_file and load_pt; Error where the stream fails.
  void load_from(const std::string& path, std::optional<Device> device = std::nullopt);
  // Reads to the end of the stream.
  void load_from(std::istream& stream, std::optional<Device> device = std::nullopt);
  void load_from(const char* data, size_t size, std::optional<Device> device = std::nullopt);
  // `read` returns the number of bytes that it read. Errors: Error where that is not `count`.
  void load_from(const std::function<size_t(uint64_t position, void* bytes, size_t count)>& read,
                 const std::function<size_t()>& size, std::optional<Device> device = std::nullopt);

  // A defined tensor keeps its handle and requires_grad, and takes the memory, shape, dtype and
  // device of what is read. try_read: false where there is nothing of that name.
  // Errors: ValueError that names the key.
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  bool try_read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  void read(const std::string& key, std::string& text);
  bool try_read(const std::string& key, std::string& text);
  void read(const std::string& key, InputArchive& nested);
  bool try_read(const std::string& key, InputArchive& nested);
  template <class... Args>
  void operator()(Args&&... args) {
    read(std::forward<Args>(args)...);
  }

  // The names at this level, in the order of the file.
  std::vector<std::string> keys() const;
  // The origin of the archive, for messages.
  const std::string& source() const { return source_; }
  // The beginning of messages about its values: its operation or `own`, and the source.
  std::string place(const char* own) const { return called(own) + ": " + source_; }
  // All tensors of this level and of the archives within it, by their names from here.
  NamedTensors tensors() const;

  // The archive of that name, which is empty where nothing has such a name.
  InputArchive nested(const std::string& key) const;
  // Gives the tensor the value of that name, which is brought to the tensor's device. A value that
  // is missing, or has another shape or dtype, is noted for load_all.
  // REQUIRES: load_all is running.
  void read_into(const std::string& key, const Tensor& tensor);
  // Runs load(), which reads the state of a `kind` from this archive. Where it fails, every tensor
  // gets back what it had. Errors: what load() throws; ValueError that lists what read_into noted
  // and the names that were not read.
  void load_all(const std::string& kind, const std::function<void()>& load);

 private:
  struct Replaced {
    Tensor tensor, old;
  };
  // The work that a load_all has done so far.
  struct Loading {
    std::vector<Replaced> replaced;
    std::set<std::string> read;
    std::string misfits;
  };
  std::string called(const char* own) const { return operation_.empty() ? own : operation_; }
  void replace(const Tensor& tensor, const Tensor& value);
  const Tensor* find(const std::string& key);

  std::shared_ptr<const SafetensorsContents> contents_ = std::make_shared<SafetensorsContents>();
  std::string operation_;
  std::string source_ = "the archive";
  std::string prefix_;  // of the names of this level
  std::shared_ptr<Loading> loading_;
};

}  // namespace gradus::serialize
