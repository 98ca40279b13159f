// Copies between devices whose order the caller sees to.
#pragma once

#include <vector>

#include "gradus/cuda/runtime/event.h"
#include "gradus/cuda/runtime/stream.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Lets `device` reach the memory of `peer` directly; false where the machine cannot, and CUDA then
// copies through the host. Errors: ValueError where there is no such device.
bool enable_peer_access(int device, int peer);

// Queues dst = src on `stream`, which belongs to dst's device, and on nothing else: the caller lets
// the stream wait for src, and keeps both alive until the stream has done it.
// REQUIRES: both are contiguous CUDA tensors of one size in bytes; or, where enable_peer_access
// says yes, matrices of one shape and dtype whose rows are contiguous.
void copy_async(const Tensor& dst, const Tensor& src, const Stream& stream);

// While it lives, what this thread copies from one GPU to others goes to all of them at once: the
// later work of a source waits for the copies when the scope ends, and not after each of them.
// REQUIRES: what is copied is not changed meanwhile. It is kept.
class CopiesAtOnce {
 public:
  CopiesAtOnce();
  ~CopiesAtOnce();
  CopiesAtOnce(const CopiesAtOnce&) = delete;
  CopiesAtOnce& operator=(const CopiesAtOnce&) = delete;

  // That of this thread; null outside of one.
  static CopiesAtOnce* current();
  // src is read until `done`, and its memory belongs to the work of `source`.
  void add(const Tensor& src, const Stream& source, Event done);

 private:
  struct Copy {
    Tensor src;
    Stream source;
    Event done;
  };
  [[maybe_unused]] CopiesAtOnce* outer_;  // unused in a build without CUDA
  std::vector<Copy> copies_;
};

}  // namespace gradus::cuda
