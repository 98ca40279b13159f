// Iterator: goes through the batches of a loader once.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>

#include "gradus/tensor/base/error.h"

namespace gradus::data {

// Copies stand at one place. A batch is made when it is first asked for. Default: the end.
template <class Batch>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;

  Iterator() = default;
  // next() returns nothing at the end.
  explicit Iterator(std::function<std::optional<Batch>()> next)
      : state_(std::make_shared<State>(std::move(next))) {}

  // Errors: Error at the end; those of making a batch.
  Iterator& operator++() {
    check<Error>(state_ != nullptr,
                 "Incrementing the DataLoader's past-the-end iterator is not allowed; compare it "
                 "with end() first");
    check<Error>(state_->batch().has_value(),
                 "Attempted to increment iterator past the end; compare it with end() first");
    state_->advance();
    return *this;
  }
  void operator++(int) { ++*this; }
  Batch& operator*() const {
    check<Error>(state_ != nullptr,
                 "Dereferencing the DataLoader's past-the-end iterator is not allowed; compare it "
                 "with end() first");
    check<Error>(
        state_->batch().has_value(),
        "Attempted to dereference iterator that was past the end; compare it with end() first");
    return *state_->batch();
  }
  Batch* operator->() const { return &**this; }

  friend bool operator==(const Iterator& a, const Iterator& b) {
    if (a.state_ && b.state_) return a.state_ == b.state_;
    return a.at_end() && b.at_end();
  }

 private:
  class State {
   public:
    explicit State(std::function<std::optional<Batch>()> next) : next_(std::move(next)) {}
    std::optional<Batch>& batch() {
      if (!started_) advance();
      return batch_;
    }
    void advance() {
      batch_.reset();  // gives its memory back before the next batch takes some
      batch_ = next_();
      started_ = true;
    }

   private:
    std::function<std::optional<Batch>()> next_;
    std::optional<Batch> batch_;
    bool started_ = false;
  };

  bool at_end() const { return !state_ || !state_->batch(); }

  std::shared_ptr<State> state_;
};

}  // namespace gradus::data
