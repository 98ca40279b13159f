// Data that is still being written to some memory, by another device or another rank.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace gradus {

// nn/parallel and distributed/ddp hand it to StorageImpl::expect, whose data() waits for it.
class Arrival {
 public:
  virtual ~Arrival() = default;
  // Makes the caller's later work wait for the data: on this thread, and on the current stream of
  // the memory's device. Returns whether all data has arrived, so that no later call is needed.
  virtual bool await() = 0;
  // Data may arrive in parts. The memory is rows of `row_bytes` bytes, and a part holds the bytes
  // of every row up to `end`, which is not included. Parts arrive in their order.
  struct Part {
    size_t end;
    std::shared_ptr<Arrival> arrival;
  };
  struct Parts {
    size_t row_bytes;
    std::vector<Part> all;
  };
  // Null where the data arrives as a whole.
  virtual const Parts* parts() const { return nullptr; }
};

// Data that arrives in parts.
class PartsArrival final : public Arrival {
 public:
  // REQUIRES: there is a part; the memory holds whole rows; the last part ends where a row ends.
  explicit PartsArrival(Parts parts) : parts_(std::move(parts)) {}
  bool await() override { return parts_.all.back().arrival->await(); }
  const Parts* parts() const override { return &parts_; }

 private:
  Parts parts_;
};

}  // namespace gradus
