// Batched storages, and what moves tensors in and out of a level.
#include "gradus/tensor/batching/storage.h"

#include <algorithm>
#include <typeinfo>
#include <utility>

#include "gradus/tensor/base/recycled.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::batching {

namespace {

Tensor tensor_at(StoragePtr storage, ScalarType dtype, const Dims& sizes, const Dims& strides,
                 int64_t offset) {
  return Tensor(make_recycled<TensorImpl>(std::move(storage), dtype, sizes, strides, offset,
                                          numel_of(sizes), is_contiguous(sizes, strides)));
}

const StoragePtr& memory_of(const Tensor& x) {
  BatchedStorage* const storage = batched(x);
  if (!storage) return x.impl().storage;
  storage->ensure();
  return storage->base();
}

// The stride of this level in elements of x, 0 where x does not differ there.
int64_t step_of(const Tensor& x, int depth) {
  for (const Axis& axis : axes_of(x))
    if (axis.depth == depth) {
      const auto size = static_cast<int64_t>(x.itemsize());
      if (axis.stride % size != 0)
        fail<NotBatched>("vmap: samples that are no whole elements apart, after view(dtype)");
      return axis.stride / size;
    }
  return 0;
}

// How far a sample may reach within all of them.
size_t reach(const StorageImpl& base, const Axes& axes) {
  auto out = static_cast<int64_t>(base.nbytes());
  for (const Axis& axis : axes) out -= (axis.size - 1) * axis.stride;
  return static_cast<size_t>(out);
}

// Row-major samples of nbytes.
Axes packed(Axes axes, int64_t nbytes) {
  for (size_t i = axes.size(); i-- > 0; nbytes *= axes[i].size) axes[i].stride = nbytes;
  return axes;
}

}  // namespace

Tensor over_all(const Tensor& x) { return here() ? physical(x, axes_of(x)) : x; }

Tensor for_all(const Tensor& x, const std::function<Tensor(const Tensor&)>& f) {
  if (!here() || axes_of(x).empty()) return f(x);
  const Axes& axes = axes_of(x);
  Tensor all;
  {
    const Scope outside(nullptr);
    all = raw::contiguous(f(physical(x, axes)));
  }
  Dims sizes;
  for (size_t d = axes.size(); d < all.sizes().size(); ++d) sizes.push_back(all.sizes()[d]);
  const int64_t nbytes = numel_of(sizes) * all.element_size();
  auto storage =
      make_recycled<BatchedStorage>(all.impl().storage, packed(axes, nbytes), here()->depth, false);
  return tensor_at(std::move(storage), all.scalar_type(), sizes, contiguous_strides(sizes),
                   all.storage_offset());
}

BatchedStorage::BatchedStorage(size_t nbytes, Device device, int depth)
    : StorageImpl(nullptr, nbytes, device), depth_(depth) {
  expect_touch();
}

BatchedStorage::BatchedStorage(StoragePtr base, Axes axes, int depth, bool borrowed)
    : StorageImpl(nullptr, reach(*base, axes), base->device()),
      base_(std::move(base)),
      axes_(std::move(axes)),
      depth_(depth),
      borrowed_(borrowed) {
  expect_touch();
}

void BatchedStorage::give(StoragePtr base, Axes axes) {
  base_ = std::move(base);
  axes_ = std::move(axes);
  relocate(nullptr);
  expect_touch();
}

void BatchedStorage::ensure() {
  if (base_) return;
  const Scope outside(nullptr);
  base_ = backend(device().type()).allocate(nbytes(), device());
}

// It is its own arrival, and keeps no handle to itself.
void BatchedStorage::expect_touch() {
  expect(std::shared_ptr<Arrival>(std::shared_ptr<Arrival>(), this));
}

bool BatchedStorage::await() {
  if (!axes_.empty())
    fail<NotBatched>(
        "vmap: the function reads elements of a batched tensor, as item(), data_ptr() and printing "
        "do");
  ensure();
  relocate(base_->data());
  return true;
}

BatchedStorage* batched(const Tensor& x) {
  StorageImpl& storage = *x.impl().storage;
  return typeid(storage) == typeid(BatchedStorage) ? static_cast<BatchedStorage*>(&storage)
                                                   : nullptr;
}
const Axes& axes_of(const Tensor& x) {
  static const Axes none;
  const BatchedStorage* const storage = batched(x);
  return storage ? storage->axes() : none;
}
int depth_of(const Tensor& x) {
  const BatchedStorage* const storage = batched(x);
  return storage ? storage->depth() : 0;
}

Axes merge(const Axes& a, const Axes& b) {
  if (b.empty() || &a == &b) return a;
  Axes out = a;
  for (const Axis& axis : b)
    if (std::ranges::find(out, axis.depth, &Axis::depth) == out.end()) out.push_back(axis);
  std::ranges::sort(out, {}, &Axis::depth);
  return out;
}

StoragePtr inner_storage(const Tensor& x) {
  const int depth = here()->depth;
  if (depth_of(x) == depth) return x.impl().storage;
  return make_recycled<BatchedStorage>(memory_of(x), axes_of(x), depth, true);
}

Tensor physical(const Tensor& x, const Axes& axes, int64_t rank, const Sample* at) {
  if (!x.defined()) return x;
  const StoragePtr& memory = memory_of(x);
  if (static_cast<int64_t>(axes.size()) + std::max(rank, x.dim()) > kMaxDims)
    fail<NotBatched>("vmap: samples of ", x.dim(), " dimensions in ", axes.size(), " levels");
  Dims sizes, strides;
  const auto add = [&](int64_t size, int64_t stride) {
    sizes.push_back(size), strides.push_back(stride);
  };
  for (const Axis& axis : axes) add(axis.size, step_of(x, axis.depth));
  for (int64_t i = x.dim(); i < rank; ++i) add(1, 0);
  for (int64_t i = 0; i < x.dim(); ++i) add(x.sizes()[i], x.strides()[i]);
  int64_t offset = x.storage_offset();
  for (size_t i = 0; at && i < at->axes.size(); ++i)
    offset += step_of(x, at->axes[i].depth) * at->places[i];
  return tensor_at(memory, x.scalar_type(), sizes, strides, offset);
}

void spread(const char* op, const Tensor& out, const Axes& axes) {
  BatchedStorage* const storage = batched(out);
  const Axes all = merge(axes_of(out), axes);
  if (all.size() == axes_of(out).size()) return;
  if (!storage || storage->borrowed() || storage->depth() < axes.back().depth)
    fail<Error>("vmap: ", op,
                ": inplace arithmetic is not possible: samples would write different values into a "
                "tensor of shape ",
                out.sizes(), " that all of them share; use the out-of-place form, or a clone()");
  const Scope outside(nullptr);
  int64_t samples = 1;
  for (const Axis& axis : all) samples *= axis.size;
  const auto nbytes = static_cast<int64_t>(storage->nbytes());
  StoragePtr memory =
      backend(out.device().type()).allocate(static_cast<size_t>(samples * nbytes), out.device());
  const Axes apart = packed(all, nbytes);
  if (storage->base() && nbytes > 0) {  // each sample begins with what all had
    const int64_t size = out.element_size();
    const Tensor flat = tensor_at(out.impl().storage, out.scalar_type(), {nbytes / size}, {1}, 0);
    const Tensor before = physical(flat, all);
    storage->give(memory, apart);
    backend(before).copy(before, physical(flat, all));
    return;
  }
  storage->give(std::move(memory), apart);
}

void give(const char* op, const Tensor& out, const Axes& axes, const Tensor& result) {
  BatchedStorage* const storage = batched(out);
  const bool whole = storage && !storage->base() && out.is_contiguous() &&
                     out.nbytes() == storage->nbytes() && storage->depth() >= axes.back().depth;
  if (whole && result.is_contiguous() && result.storage_offset() == 0 &&
      result.nbytes() == result.impl().storage->nbytes() &&
      result.scalar_type() == out.scalar_type())
    return storage->give(result.impl().storage, packed(axes, static_cast<int64_t>(out.nbytes())));
  spread(op, out, axes);
  const Scope outside(nullptr);
  const Tensor to = physical(out, merge(axes_of(out), axes));
  backend(to).copy(raw::expand(result, to.sizes()), to);
}

Tensor enter(const Level& level, const Tensor& x, std::optional<int64_t> dim) {
  Axes axes = axes_of(x);
  Dims sizes = x.impl().sizes, strides = x.impl().strides;
  if (dim) {
    axes.push_back({level.depth, sizes[*dim], strides[*dim] * x.element_size()});
    sizes.erase(*dim), strides.erase(*dim);
  }
  return tensor_at(make_recycled<BatchedStorage>(memory_of(x), std::move(axes), level.depth, true),
                   x.scalar_type(), sizes, strides, x.storage_offset());
}

namespace {

// The memory of x for the world outside of the level.
StoragePtr outer_storage(const Level& level, const Tensor& x, Axes axes) {
  const StoragePtr& memory = memory_of(x);
  if (level.depth == 1) return memory;
  return make_recycled<BatchedStorage>(memory, std::move(axes), level.depth - 1, false);
}

}  // namespace

Tensor leave_shared(const Level& level, const Tensor& x) {
  return tensor_at(outer_storage(level, x, axes_of(x)), x.scalar_type(), x.impl().sizes,
                   x.impl().strides, x.storage_offset());
}

Tensor leave(const Level& level, const Tensor& x, int64_t dim) {
  Axes axes = axes_of(x);
  Dims sizes = x.impl().sizes, strides = x.impl().strides;
  sizes.insert(dim, level.size);
  const bool differs = !axes.empty() && axes.back().depth == level.depth;
  strides.insert(dim, differs ? step_of(x, level.depth) : 0);
  if (differs) axes.pop_back();
  const Tensor out = tensor_at(outer_storage(level, x, std::move(axes)), x.scalar_type(), sizes,
                               strides, x.storage_offset());
  // Memory of an argument, or one place for all samples: the result has its own.
  const bool shares = !differs || !batched(x) || batched(x)->borrowed();
  const Scope outside(level.outer);
  return shares ? raw::clone(out) : out;
}

}  // namespace gradus::batching
