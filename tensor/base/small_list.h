// A list whose first N elements need no memory of their own.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace gradus {

template <class T, size_t N>
class SmallList {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return i < N ? first_[i] : more_[i - N]; }
  const T& operator[](size_t i) const { return i < N ? first_[i] : more_[i - N]; }
  // Appends an element, for the caller to fill.
  T& add() { return ++size_ <= N ? first_[size_ - 1] : more_.emplace_back(); }
  void swap(SmallList& other) { std::swap(*this, other); }

 private:
  size_t size_ = 0;
  std::array<T, N> first_;  // each as its default constructor leaves it
  std::vector<T> more_;
};

}  // namespace gradus
