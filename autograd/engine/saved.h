// Tensors that are kept for the backward pass.
#pragma once

#include <optional>
#include <string_view>

#include "gradus/tensor/tensor.h"

namespace gradus {

// Keeps tensors in place of Saved, which then holds a ticket. checkpoint() is such a store: it
// computes the tensors again instead of keeping them.
class SavedStore : public std::enable_shared_from_this<SavedStore> {
 public:
  virtual ~SavedStore() = default;
  // The number of a ticket.
  virtual size_t put(const Tensor& tensor) = 0;
  virtual Tensor get(size_t number) = 0;
  // Nobody has the ticket any more.
  virtual void drop(size_t /*number*/) {}
};

// While it lives, tensors that this thread saves go to a store.
class SavedStoreGuard {
 public:
  explicit SavedStoreGuard(SavedStore& store);
  ~SavedStoreGuard();
  SavedStoreGuard(const SavedStoreGuard&) = delete;
  SavedStoreGuard& operator=(const SavedStoreGuard&) = delete;

 private:
  SavedStore* before_;
};

// A tensor kept for the backward pass. Unpacking it checks that it was not changed in place since.
class Saved {
 public:
  Saved() = default;
  // output_nr: which output of the owning node the tensor is, if it is one. Such a tensor is kept
  // without its history, which would own the node that owns the tensor. Errors: Error for an
  // inference tensor.
  Saved(const Tensor& tensor, std::optional<uint32_t> output_nr);
  // owner: null where no node owns it. Errors: Error where the tensor was changed since.
  Tensor unpack(const std::shared_ptr<Node>& owner) const;

 private:
  struct Ticket;

  Tensor tensor_;
  uint32_t version_ = 0;
  std::optional<uint32_t> output_nr_;
  std::shared_ptr<const Ticket> ticket_;  // in the place of tensor_; rare
};

// Throws the Error of a tensor that was changed since `keeper` saved it at this version. maker: the
// node that computed x as output output_nr, or null.
[[noreturn]] void fail_changed(const Tensor& x, uint32_t version, const Node* maker,
                               uint32_t output_nr, std::string_view keeper);

}  // namespace gradus
