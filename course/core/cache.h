// A simulated cache, and pointers that count its misses (task 1.6).
#pragma once

#include <list>
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
  // The most different elements of an array that were read one after the other, with no access to another array.
  long longest_run(int array) const { return longest_[array]; }

 private:
  void follow(int array, long element);

  std::list<long> lines_;                          // the last used first
  std::vector<std::list<long>::iterator> places_;  // of each line of memory in lines_
  long misses_[3] = {}, accesses_[3] = {}, longest_[3] = {};
  // The run of accesses to one array: which it is, its number, its elements, and in which run each element was used last.
  long array_ = -1, run_ = 0, length_ = 0;
  std::vector<long> used_;
};

// Element i of array number 0, 1 or 2, by way of the cache. The arrays lie where only these two find them.
// Errors: std::out_of_range at an access outside of the array.
float load_cached(int array, long i);
void store_cached(int array, long i, float value);

// Acts as a T*, T being float or const float: p[i] and p + i. Each access is one of the simulated cache.
template <class T>
class Cached {
 public:
  explicit Cached(int array) : array_(array) {}

  class Element {
   public:
    operator float() const { return load_cached(array_, i_); }
    float operator=(float value) const { return store_cached(array_, i_, value), value; }
    float operator=(const Element& other) const { return *this = static_cast<float>(other); }
    float operator+=(float value) const { return *this = *this + value; }

   private:
    friend class Cached;
    Element(int array, long i) : array_(array), i_(i) {}
    int array_;
    long i_;
  };

  // A float where T is const; else what can be assigned to as well.
  std::conditional_t<std::is_const_v<T>, float, Element> operator[](long i) const { return Element(array_, start_ + i); }
  Cached operator+(long i) const {
    Cached out = *this;
    out.start_ += i;
    return out;
  }

 private:
  int array_;
  long start_ = 0;
};

// The arrays of load_cached and store_cached: the judge's own.
struct CachedArray {
  const char* name = "";
  float* data = nullptr;
  long size = 0;
  bool is_const = false;
};
void use_cache(Cache& cache, const CachedArray (&arrays)[3]);

}  // namespace course
