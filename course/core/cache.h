// A simulated cache, and pointers that count its misses (task 1.6).
#pragma once

#include <list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace course {

// 32 KiB in lines of 64 bytes, as the first cache of many CPUs. Memory comes in whole lines. A line that
// is missing takes the place of the one that nobody has used for the longest time.
class Cache {
 public:
  static constexpr long kBytes = 32 << 10, kLine = 64;

  // An access to a byte of array number 0, 1 or 2.
  void access(int array, long address);
  long misses(int array) const { return misses_[array]; }
  long accesses(int array) const { return accesses_[array]; }

 private:
  std::list<long> lines_;                          // the last used first
  std::vector<std::list<long>::iterator> places_;  // of each line of memory in lines_
  long misses_[3] = {}, accesses_[3] = {};
};

// Acts as a T*, T being float or const float: p[i] and p + i. Each access is one of a simulated cache.
// Errors: std::out_of_range at an access outside of the array.
template <class T>
class Cached {
 public:
  // Array number 0, 1 or 2: `size` elements, which begin at this address of the simulated memory.
  Cached(Cache& cache, int array, const char* name, T* data, long size, long address)
      : cache_(&cache), array_(array), name_(name), data_(data), size_(size), address_(address) {}

  class Element {
   public:
    operator float() const { return *at_->find(i_); }
    float operator=(float value) const { return *at_->find(i_) = value; }
    float operator=(const Element& other) const { return *this = static_cast<float>(other); }
    float operator+=(float value) const { return *this = *this + value; }

   private:
    friend class Cached;
    Element(const Cached* at, long i) : at_(at), i_(i) {}
    const Cached* at_;
    long i_;
  };

  // A float where T is const; else what can be assigned to as well.
  std::conditional_t<std::is_const_v<T>, float, Element> operator[](long i) const { return Element(this, i); }
  Cached operator+(long i) const {
    Cached out = *this;
    out.start_ += i;
    return out;
  }

 private:
  T* find(long i) const {
    i += start_;
    if (i < 0 || i >= size_)
      throw std::out_of_range(std::string(name_) + "[" + std::to_string(i) + "], which has " +
                              std::to_string(size_) + " elements");
    cache_->access(array_, address_ + i * static_cast<long>(sizeof(float)));
    return data_ + i;
  }

  Cache* cache_;
  int array_;
  const char* name_;
  T* data_;
  long size_, address_, start_ = 0;
};

}  // namespace course
