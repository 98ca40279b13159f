// Copies of batches to a GPU, on a stream of their own, beside the work on those before.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "gradus/cuda/runtime/event.h"
#include "gradus/tensor/tensor.h"

namespace gradus::data::detail {

class DeviceCopies {
 public:
  // Nothing is copied for the CPU, and where there is no device. Errors: ValueError for meta, Error
  // where the device does not exist.
  explicit DeviceCopies(std::optional<Device> device);
  DeviceCopies(DeviceCopies&&) noexcept;
  DeviceCopies& operator=(DeviceCopies&&) noexcept;
  ~DeviceCopies();

  bool is_needed() const { return stream_.has_value(); }
  // Begins to copy the tensors of a batch, and puts the copies into their places. Does not wait for
  // pinned memory.
  void copy(const std::vector<Tensor*>& tensors);
  // Makes the current stream wait for the earliest copy that nobody has waited
  // for.
  void wait_for_first();
  // Forgets copies that nobody waits for.
  void clear();

 private:
  struct Batch {
    std::vector<Tensor> tensors;
    cuda::Event copied;
  };
  std::optional<cuda::Stream> stream_;
  std::deque<Batch> begun_;
};

}  // namespace gradus::data::detail
