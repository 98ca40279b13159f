// Which Python object shows a tensor: a hash table from TensorImpl to PyObject, under the GIL.
#pragma once

#include <Python.h>

#include <cstdint>
#include <vector>

#include "gradus/tensor/tensor_impl.h"

namespace gradus::python {

// Open addressing with linear probing. At most half of the places are taken.
class ShownObjects {
 public:
  // Null where there is none.
  PyObject* find(const TensorImpl* tensor) const {
    const Entry& entry = entries_[place_of(tensor)];
    return entry.tensor ? entry.object : nullptr;
  }
  // Sets or replaces the object of a tensor.
  void set(const TensorImpl* tensor, PyObject* object) {
    Entry& entry = entries_[place_of(tensor)];
    if (!entry.tensor && ++count_ * 2 > entries_.size()) {
      grow();
      entries_[place_of(tensor)] = {tensor, object};
      return;
    }
    entry = {tensor, object};
  }
  // Removes it, unless another object shows the tensor by now.
  void remove(const TensorImpl* tensor, const PyObject* object) {
    size_t hole = place_of(tensor);
    if (!entries_[hole].tensor || entries_[hole].object != object) return;
    --count_;
    // Entries that were put behind this one because it was taken move up.
    for (size_t i = next(hole); entries_[i].tensor; i = next(i)) {
      const size_t wanted = start_of(entries_[i].tensor);
      if (((i - wanted) & mask()) >= ((i - hole) & mask())) {
        entries_[hole] = entries_[i];
        hole = i;
      }
    }
    entries_[hole] = {};
  }

 private:
  struct Entry {
    const TensorImpl* tensor = nullptr;
    PyObject* object = nullptr;
  };
  size_t mask() const { return entries_.size() - 1; }
  size_t next(size_t i) const { return (i + 1) & mask(); }
  size_t start_of(const TensorImpl* tensor) const {
    const auto address = reinterpret_cast<uintptr_t>(tensor);
    return static_cast<size_t>((address >> 4) * 0x9E3779B97F4A7C15u >> 20) & mask();
  }
  // The place of a tensor, or the empty one where it would be put.
  size_t place_of(const TensorImpl* tensor) const {
    size_t i = start_of(tensor);
    while (entries_[i].tensor && entries_[i].tensor != tensor) i = next(i);
    return i;
  }
  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old)
      if (entry.tensor) entries_[place_of(entry.tensor)] = entry;
  }

  std::vector<Entry> entries_ = std::vector<Entry>(1024);
  size_t count_ = 0;
};

inline ShownObjects* const every_shown = new ShownObjects;  // tensors may go after main() ends
inline ShownObjects& shown_objects() { return *every_shown; }

}  // namespace gradus::python
