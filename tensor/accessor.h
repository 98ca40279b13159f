// Elements of a tensor by their indices, x[i][j], without a check or a tensor for each.
#pragma once

#include <cstdint>
#include <utility>

#include "gradus/tensor/base/host_device.h"
#include "gradus/tensor/shape.h"

namespace gradus {

template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
template <class T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};

// Points to the sizes and strides of the tensor. REQUIRES: the tensor outlives the accessor.
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class Index = int64_t>
class TensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;

  GRADUS_HD TensorAccessor(PtrType data, const Index* sizes, const Index* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}

  IntArrayRef sizes() const requires std::is_same_v<Index, int64_t> { return {sizes_, N}; }
  IntArrayRef strides() const requires std::is_same_v<Index, int64_t> { return {strides_, N}; }
  GRADUS_HD Index size(Index dim) const { return sizes_[dim]; }
  GRADUS_HD Index stride(Index dim) const { return strides_[dim]; }
  GRADUS_HD PtrType data() const { return data_; }

  // The element, or an accessor of one dimension less. REQUIRES: 0 <= i < size(0).
  GRADUS_HD decltype(auto) operator[](Index i) const {
    if constexpr (N == 1)
      return static_cast<T&>(data_[i * strides_[0]]);
    else
      return TensorAccessor<T, N - 1, PtrTraits, Index>(data_ + i * strides_[0], sizes_ + 1,
                                                        strides_ + 1);
  }

 private:
  PtrType data_;
  const Index* sizes_;
  const Index* strides_;
};

// The same with copies of sizes and strides: an argument of a kernel.
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class Index = int64_t>
class GenericPackedTensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;

  // REQUIRES: N sizes and strides that Index holds.
  GenericPackedTensorAccessor(PtrType data, IntArrayRef sizes, IntArrayRef strides) : data_(data) {
    for (size_t d = 0; d < N; ++d) {
      sizes_[d] = static_cast<Index>(sizes[d]);
      strides_[d] = static_cast<Index>(strides[d]);
    }
  }

  GRADUS_HD Index size(Index dim) const { return sizes_[dim]; }
  GRADUS_HD Index stride(Index dim) const { return strides_[dim]; }
  GRADUS_HD PtrType data() const { return data_; }
  GRADUS_HD decltype(auto) operator[](Index i) const {
    return TensorAccessor<T, N, PtrTraits, Index>(data_, sizes_, strides_)[i];
  }
  // The same elements with two dimensions swapped, on the host. Errors: IndexError beyond N.
  GenericPackedTensorAccessor transpose(Index dim1, Index dim2) const {
    const auto dims = static_cast<Index>(N);
    check<IndexError>(0 <= dim1 && dim1 < dims && 0 <= dim2 && dim2 < dims,
                      "accessor: transpose of dimensions ", dim1, " and ", dim2, " of ", N);
    GenericPackedTensorAccessor out = *this;
    std::swap(out.sizes_[dim1], out.sizes_[dim2]);
    std::swap(out.strides_[dim1], out.strides_[dim2]);
    return out;
  }

 private:
  PtrType data_;
  Index sizes_[N];
  Index strides_[N];
};
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, int32_t>;
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, int64_t>;

}  // namespace gradus
