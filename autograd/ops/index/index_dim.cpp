// index_select, index_add, index_copy, index_fill, index_reduce and take_along_dim: slices along
// one dimension. A 1-D index stands for one that repeats over the others.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/inplace.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/autograd/ops/index/index.h"
#include "gradus/autograd/ops/index/scatter.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

constexpr Scattering kAdd{"index_add", "IndexAddBackward0", ScatterOp::sum};
constexpr Scattering kCopy{"index_copy", "IndexCopyBackward0", ScatterOp::set};

void check_rank(const char* op, const Tensor& index) {
  check<IndexError>(index.operand(op, "index").dim() <= 1, op, ": index has shape ", index.sizes(),
                    ", expected at most one dimension; flatten() it");
}

// The index over self's other dimensions, as gather takes it.
Tensor repeated(const char* op, const Tensor& self, int64_t dim, const Tensor& index) {
  check_rank(op, index);
  check<TypeError>(index.dtype() == kLong || index.dtype() == kInt, op, ": index has dtype ",
                   index.dtype(), ", expected int64 or int32; convert with .to(kLong)");
  const int64_t d = wrap_dim(op, dim, self);
  const Tensor numbers = raw::to(index, kLong);
  if (self.dim() == 0) {
    check(index.numel() == 1, op, ": index has ", index.numel(),
          " elements, and self no dimensions; expected one");
    return raw::as_strided(numbers, {}, {}, numbers.storage_offset());
  }
  Dims sizes = self.impl().sizes, strides = Dims::filled(self.dim(), 0);
  sizes[d] = numbers.numel();
  strides[d] = numbers.dim() ? numbers.strides()[0] : 1;
  return raw::as_strided(numbers, sizes, strides, numbers.storage_offset());
}

// Errors: where source is no list of slices of self, one for each number of the index.
void check_source(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                  const Tensor& source) {
  source.operand(op, "source");
  check<TypeError>(source.dtype() == self.dtype(), op, ": source has dtype ", source.dtype(),
                   ", self has ", self.dtype(), "; convert one with .to(...)");
  check<IndexError>(source.dim() == self.dim(), op, ": source has shape ", source.sizes(),
                    ", self ", self.sizes(), "; expected the same number of dimensions");
  const int64_t d = wrap_dim(op, dim, self);
  for (int64_t i = 0; i < self.dim(); ++i)
    check(source.sizes()[i] == (i == d ? index.numel() : self.sizes()[i]), op,
          ": source has shape ", source.sizes(), ", self ", self.sizes(), " and index ",
          index.numel(), " elements; dimension ", i, " does not fit");
}

// index_fill is index_put of a number: its index accepts negative ones.
struct Filling {
  Tensors list;
  Tensor value;

  Filling(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& number) {
    check_rank("index_fill", index);
    self.operand("index_fill");
    check<TypeError>(index.dtype() == kLong, "index_fill: index has dtype ", index.dtype(),
                     ", expected int64; convert with .to(kLong)");
    raw::check_same_device("index_fill", self, "self", index, "index");
    check(number.operand("index_fill", "value").dim() == 0, "index_fill: value has shape ",
          number.sizes(), ", expected a tensor without dimensions");
    Tensors indices(static_cast<size_t>(wrap_dim("index_fill", dim, self)));
    indices.push_back(index);
    list = raw::index_list("index_fill", self, indices);
    value = number_of(self, number);
  }
  Tensor filled(const Tensor& self) const {
    return with_put("index_fill", "IndexFillBackward0", self, list, value, false);
  }
};

}  // namespace

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  return gathered("index_select", "IndexSelectBackward0", self, dim,
                  repeated("index_select", self, dim, index));
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha) {
  const Tensor places = repeated("index_add", self, dim, index);
  check_source("index_add", self, dim, index, source);
  return kAdd(self, dim, places, alpha.toDouble() == 1 ? source : source * alpha);
}
Tensor& Tensor::index_add_(int64_t dim, const Tensor& index, const Tensor& source,
                           const Scalar& alpha) const {
  const Tensor places = repeated("index_add", *this, dim, index);
  check_source("index_add", *this, dim, index, source);
  return kAdd.update(*this, dim, places, alpha.toDouble() == 1 ? source : source * alpha);
}

namespace {
void check_reduction(std::string_view reduce) {
  check(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin",
        "index_reduce: Expected reduce to be one of prod, mean, amax or amin but got ", reduce,
        reduce == "sum" ? "; use index_add()" : "");
}
}  // namespace

Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self) {
  check_reduction(reduce);
  const Tensor places = repeated("index_reduce", self, dim, index);
  check_source("index_reduce", self, dim, index, source);
  return scatter_reduced("index_reduce", self, dim, places, source, reduce, include_self);
}
Tensor& Tensor::index_reduce_(int64_t dim, const Tensor& index, const Tensor& source,
                              std::string_view reduce, bool include_self) const {
  check_reduction(reduce);
  const Tensor places = repeated("index_reduce", *this, dim, index);
  check_source("index_reduce", *this, dim, index, source);
  return scatter_reduced_("index_reduce", *this, dim, places, source, reduce, include_self);
}

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  GRADUS_AUTOCAST(index_copy, self, dim, index, source);
  const Tensor places = repeated("index_copy", self, dim, index);
  check_source("index_copy", self, dim, index, source);
  return kCopy(self, dim, places, source);
}
Tensor& Tensor::index_copy_(int64_t dim, const Tensor& index, const Tensor& source) const {
  const Tensor places = repeated("index_copy", *this, dim, index);
  check_source("index_copy", *this, dim, index, source);
  return kCopy.update(*this, dim, places, source);
}

Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  if (self.dim() == 0) return self.unsqueeze(0).index_fill(dim, index, value).squeeze(0);
  return Filling(self, dim, index, value).filled(self);
}
Tensor& Tensor::index_fill_(int64_t dim, const Tensor& index, const Tensor& value) const {
  if (this->dim() == 0) {
    unsqueeze(0).index_fill_(dim, index, value);
    return handle();
  }
  const Filling filling(*this, dim, index, value);
  return in_place(
      "index_fill", *this, recording(*this, value),
      [&](Tensor& x) { raw::index_put_("index_fill", x, filling.list, filling.value, false); },
      [&](const Tensor& x) { return filling.filled(x); });
}
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return index_fill(self, dim, index, number_of(self, value));
}
Tensor& Tensor::index_fill_(int64_t dim, const Tensor& index, const Scalar& value) const {
  return index_fill_(dim, index, number_of(*this, value));
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  if (!dim) return self.reshape({-1}).gather(0, indices.reshape({-1}));
  check(self.operand("take_along_dim").dim() == indices.operand("take_along_dim", "indices").dim(),
        "take_along_dim: self has shape ", self.sizes(), ", indices ", indices.sizes(),
        "; expected the same number of dimensions");
  const int64_t d = wrap_dim("take_along_dim", *dim, self);
  const auto with = [d](const Tensor& x, int64_t size) {
    Dims sizes = x.impl().sizes;
    if (x.dim() > 0) sizes[d] = size;
    return sizes;
  };
  if (self.dim() == 0) return self.gather(0, indices);
  const Dims sizes = broadcast_shapes("take_along_dim", with(self, 1), with(indices, 1));
  Dims from = sizes, at = sizes;
  from[d] = self.sizes()[d], at[d] = indices.sizes()[d];
  return self.expand(from).gather(d, indices.expand(at));
}

}  // namespace gradus
