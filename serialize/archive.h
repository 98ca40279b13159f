// Archives: what save() and load() fill and read, with libtorch's names. On disk an archive is a
// safetensors file, not PyTorch's zip file: neither reads the other's.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gradus/serialize/safetensors.h"

namespace gradus::serialize {

// Tensors and texts by name, and archives within archives, whose names are joined by dots.
class OutputArchive {
 public:
  OutputArchive() = default;
  OutputArchive(OutputArchive&&) = default;
  OutputArchive& operator=(OutputArchive&&) = default;

  // Keeps the handle: what counts is the value at save_to(). `is_buffer` is libtorch's, and without
  // effect. Errors: ValueError for an undefined tensor, and where the name is taken.
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
  // `write` returns how many of the bytes it took. Errors: Error where those are not all.
  void save_to(const std::function<size_t(const void* bytes, size_t count)>& write) const;

  const NamedTensors& tensors() const { return contents_.tensors; }

 private:
  SafetensorsContents contents_;
};

class InputArchive {
 public:
  InputArchive() = default;
  InputArchive(InputArchive&&) = default;
  InputArchive& operator=(InputArchive&&) = default;

  // The tensors are read at once, to the CPU unless a device is given.
  // Errors: as load_file; Error where the stream fails.
  void load_from(const std::string& path, std::optional<Device> device = std::nullopt);
  // To the end of the stream.
  void load_from(std::istream& stream, std::optional<Device> device = std::nullopt);
  void load_from(const char* data, size_t size, std::optional<Device> device = std::nullopt);
  // `read` returns how many bytes it brought. Errors: Error where those are not all.
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
  // All tensors of this level and those within, by their full names from here.
  NamedTensors tensors() const;

  // The archive of that name, which is empty where nothing has such a name.
  InputArchive nested(const std::string& key) const;
  // As read, for a value of the tensor's shape and dtype, which comes to the tensor's device.
  // Errors: ValueError also where it has another shape or dtype.
  void read_into(const std::string& key, const Tensor& tensor);

  // Runs load(). Where that throws, tensors that were read into get back what they had.
  template <class F>
  void all_or_nothing(F load) {
    if (replaced_) return load();
    replaced_ = std::make_shared<std::vector<Replaced>>();
    try {
      load();
    } catch (...) {
      put_back();
      throw;
    }
    replaced_.reset();
  }

 private:
  struct Replaced {
    Tensor tensor, old;
  };
  void replace(const Tensor& tensor, const Tensor& value);
  void put_back();

  std::shared_ptr<const SafetensorsContents> contents_ = std::make_shared<SafetensorsContents>();
  std::string prefix_;  // of the names of this level
  std::shared_ptr<std::vector<Replaced>> replaced_;
};

}  // namespace gradus::serialize
