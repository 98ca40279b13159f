// The values that a kernel is launched with.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace gradus::codegen {

// Values for parameters of a kernel, in order.
class KernelArguments {
 public:
  void add(const void* value, size_t bytes) {
    starts_.push_back(words_.size());
    words_.resize(words_.size() + (bytes + 7) / 8);
    std::memcpy(words_.data() + starts_.back(), value, bytes);
  }
  template <class T>
  void add(const T& value) {
    add(&value, sizeof value);
  }
  void add(const std::vector<char>& bytes) { add(bytes.data(), bytes.size()); }
  void add(const KernelArguments& more) {
    for (const size_t start : more.starts_) starts_.push_back(words_.size() + start);
    words_.insert(words_.end(), more.words_.begin(), more.words_.end());
  }

  // A launch takes these addresses. They hold until the next value is added.
  std::vector<void*> pointers() {
    std::vector<void*> out;
    for (const size_t start : starts_) out.push_back(words_.data() + start);
    return out;
  }

 private:
  std::vector<int64_t> words_;
  std::vector<size_t> starts_;
};

}  // namespace gradus::codegen
