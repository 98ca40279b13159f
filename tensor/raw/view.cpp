// empty, and the views that share memory: as_strided, view, expand, narrow, permute, transpose.
#include <cstdlib>

#include "gradus/tensor/base/modes.h"
#include "gradus/tensor/base/recycled.h"
#include "gradus/tensor/level.h"
#include "gradus/tensor/meta.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

void Tensor::undefined(const char* op, const char* argument) {
  const std::string what = op ? std::string(op) + ": " + argument + " is undefined"
                              : std::string("an undefined Tensor was used");
  fail<Error>(what,
              "; it was default-constructed, or is a gradient that no backward() has filled; test "
              "with .defined()");
}

const std::string& Tensor::name() const {
  static const std::string none;
  impl();
  return none;
}

void Tensor::check_accessor(size_t dims, int64_t limit) const {
  check(static_cast<size_t>(dim()) == dims, "accessor: TensorAccessor expected ", dims,
        " dims but tensor has ", dim(), ": shape ", sizes());
  int64_t reach = 0;
  for (size_t d = 0; d < dims; ++d)
    reach += std::max<int64_t>(sizes()[d] - 1, 0) * std::abs(strides()[d]);
  check(reach <= limit && numel() <= limit, "packed_accessor32: the tensor of shape ", sizes(),
        " and strides ", strides(), " reaches beyond 32 bits; use packed_accessor64()");
}

void Tensor::check_host(const char* op) const {
  check<Error>(is_cpu(), op, ": the tensor is on ", device(),
               ", and its elements can be reached from there alone; use .cpu()");
}

TensorImpl::TensorImpl(StoragePtr memory, ScalarType type, const Dims& shape, const Dims& steps,
                       int64_t first, int64_t count, bool row_major)
    : storage(std::move(memory)),
      dtype(type),
      contiguous(row_major),
      inference(thread_modes.inference),
      numel(count),
      offset(first),
      sizes(shape),
      strides(steps) {}

namespace raw {

namespace {
template <class... Args>
Tensor make(Args&&... args) {
  return Tensor(make_recycled<TensorImpl>(std::forward<Args>(args)...));
}
// The storage of a view of x.
StoragePtr viewed(const Tensor& x) {
  if (batching::here()) [[unlikely]]
    return batching::inner_storage(x);
  return x.impl().storage;
}
}  // namespace

void check_same_device(const char* op, const Tensor& a, const char* a_name, const Tensor& b,
                       const char* b_name) {
  a.operand(op, a_name), b.operand(op, b_name);
  if (a.is_meta() != b.is_meta()) meta_backend().meet(a.is_meta() ? b : a);
  check<Error>(a.device() == b.device(), op, ": ", a_name, " is on ", a.device(), ", ", b_name,
               " on ", b.device(), "; move one with .to(...)");
}

void check_floating(const char* op, const Tensor& x) {
  check<TypeError>(x.operand(op).is_floating_point(), op, ": dtype ", x.dtype(),
                   " is not a floating point type; convert with .to(kFloat)");
}
void check_number(const char* op, const Tensor& x) {
  check<TypeError>(x.operand(op).dtype() != kBool, op,
                   ": dtype bool is not supported; convert with .to(kLong)");
}
void check_ordered(const char* op, const Tensor& x) {
  check<TypeError>(!x.operand(op).is_complex(), op, ": not implemented for '", TypeName{x.dtype()},
                   "', which has no order; compute with real() and imag()");
}

Tensor empty(IntArrayRef sizes, ScalarType dtype, Device device, std::string_view op) {
  const int64_t numel = checked_numel(op, sizes);
  int64_t nbytes;
  check(!__builtin_mul_overflow(numel, static_cast<int64_t>(element_size(dtype)), &nbytes), op,
        ": shape ", sizes, " of ", dtype, " has more bytes than an int64 counts");
  Backend& where = backend(device.type());
  const Dims dims(sizes.data(), sizes.size());
  return make(where.allocate(static_cast<size_t>(nbytes), where.resolve(device)), dtype, dims,
              contiguous_strides(sizes), 0, numel, true);
}

Tensor empty(IntArrayRef sizes, ScalarType dtype, Device device, MemoryFormat format,
             std::string_view op) {
  Tensor out = empty(sizes, dtype, device, op);
  if (format == MemoryFormat::Contiguous) return out;
  TensorImpl& impl = out.impl();
  impl.strides = strides_of(format, sizes);
  impl.contiguous = gradus::is_contiguous(impl.sizes, impl.strides);
  return out;
}

Tensor empty_as(const Tensor& x, ScalarType dtype) {
  if (x.is_contiguous() && x.itemsize() >= element_size(dtype)) {  // no size overflows, then
    const size_t nbytes = static_cast<size_t>(x.numel()) * element_size(dtype);
    return make(backend(x).allocate(nbytes, x.device()), dtype, x.impl().sizes, x.impl().strides, 0,
                x.numel(), true);
  }
  Tensor out = empty(x.sizes(), dtype, x.device());
  if (x.is_contiguous() || x.numel() == 0) return out;
  // Insertion sort, since tensors have few dimensions. Dimensions of smaller stride come later.
  int64_t order[kMaxDims];
  for (int64_t i = 0; i < x.dim(); ++i) {
    if (x.strides()[i] == 0 && x.sizes()[i] > 1) return out;
    int64_t at = i;
    for (; at > 0 && x.strides()[order[at - 1]] < x.strides()[i]; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  TensorImpl& impl = out.impl();
  int64_t stride = 1;
  for (int64_t i = x.dim(); i-- > 0; stride *= impl.sizes[order[i]])
    impl.strides[order[i]] = stride;
  impl.contiguous = gradus::is_contiguous(impl.sizes, impl.strides);
  return out;
}

Tensor over_storage(StoragePtr storage, IntArrayRef sizes, ScalarType dtype) {
  return make(std::move(storage), dtype, Dims(sizes.data(), sizes.size()),
              contiguous_strides(sizes), 0, checked_numel("from_blob", sizes), true);
}

Tensor as_strided(const Tensor& x, const Dims& sizes, const Dims& strides, int64_t offset) {
  Tensor out = make(viewed(x), x.dtype(), sizes, strides, offset, numel_of(sizes),
                    gradus::is_contiguous(sizes, strides));
  // A view of a view is a view of the first tensor, so that chains do not keep handles alive.
  TensorImpl& impl = out.impl();
  impl.inference = x.impl().inference;
  // Never changed through another tensor's history; nor is what a level of vmap looks at from
  // inside.
  if (impl.inference || impl.storage != x.impl().storage) return out;
  impl.view_of = x.impl().view_of ? x.impl().view_of : x.impl_ptr();
  impl.history_version = x.impl().storage->version();
  if (thread_modes.grad || x.impl().creation_meta == autograd::CreationMeta::INFERENCE_MODE)
    impl.creation_meta = x.impl().creation_meta;
  else
    impl.creation_meta = thread_modes.inference ? autograd::CreationMeta::INFERENCE_MODE
                                                : autograd::CreationMeta::NO_GRAD_MODE;
  return out;
}

Tensor alias(const Tensor& x) { return alias(x, x.impl().sizes, x.impl().strides); }

Tensor alias(const Tensor& x, const Dims& sizes, const Dims& strides) {
  Tensor out = make(viewed(x), x.dtype(), sizes, strides, x.storage_offset(), numel_of(sizes),
                    gradus::is_contiguous(sizes, strides));
  out.impl().inference = x.impl().inference;
  return out;
}

std::optional<Tensor> try_view(const Tensor& x, IntArrayRef shape, std::string_view op) {
  const Dims sizes = infer_size(op, shape, x.numel());
  const auto strides = view_strides(x.sizes(), x.strides(), sizes);
  if (!strides) return std::nullopt;
  return as_strided(x, sizes, *strides, x.storage_offset());
}

Tensor permute(const Tensor& x, IntArrayRef dims) {
  check(dims.size() == x.operand("permute").sizes().size(),
        "permute: number of dimensions in the tensor input does not match the length of the "
        "desired ordering of dimensions i.e. input.dim() = ",
        x.dim(), " is not equal to len(dims) = ", dims.size(), ": shape ", x.sizes(), ", dims ",
        dims, "; list each dimension once");
  std::array<bool, kMaxDims> seen{};
  Dims sizes, strides;
  for (int64_t listed : dims) {
    const int64_t dim = wrap_dim("permute", listed, x);
    check(!std::exchange(seen[static_cast<size_t>(dim)], true),
          "permute: duplicate dims are not allowed, and ", dims, " lists dimension ", dim,
          " twice; list each once");
    sizes.push_back(x.sizes()[dim]);
    strides.push_back(x.strides()[dim]);
  }
  return as_strided(x, sizes, strides, x.storage_offset());
}

Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1) {
  const int64_t a = wrap_dim("transpose", dim0, x), b = wrap_dim("transpose", dim1, x);
  Dims sizes = x.impl().sizes, strides = x.impl().strides;
  if (x.dim() > 0) std::swap(sizes[a], sizes[b]), std::swap(strides[a], strides[b]);
  return as_strided(x, sizes, strides, x.storage_offset());
}

Tensor unsqueeze(const Tensor& x, int64_t dim) {
  const int64_t at = wrap_dim("unsqueeze", dim, x.dim() + 1);
  Dims sizes = x.impl().sizes, strides = x.impl().strides;
  const int64_t stride = at < x.dim() ? sizes[at] * strides[at] : 1;
  sizes.insert(at, 1), strides.insert(at, stride);
  return as_strided(x, sizes, strides, x.storage_offset());
}

Tensor expand(const Tensor& x, IntArrayRef sizes) {
  Dims target(sizes.data(), sizes.size());
  x.operand("expand");
  const int64_t lead = static_cast<int64_t>(sizes.size()) - x.dim();  // negative: refused below
  for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()) && lead >= 0; ++i) {
    if (target[i] == -1) {
      check(i >= lead,
            "expand: The expanded size of the tensor (-1) isn't allowed in a leading, "
            "non-existing dimension ",
            i, " of ", sizes, "; give its size");
      target[i] = x.sizes()[i - lead];
    }
    check(target[i] >= 0, "expand: shape ", sizes, " has the negative size ", target[i],
          "; give sizes of 0 or more, or -1 to keep one");
  }
  const Dims strides = broadcast_strides("expand", x.sizes(), x.strides(), target);
  checked_numel("expand", target);
  return as_strided(x, target, strides, x.storage_offset());
}

Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length) {
  check(x.dim() > 0, "narrow: the tensor has no dimensions; unsqueeze it first");
  const int64_t d = wrap_dim("narrow", dim, x);
  const int64_t size = x.sizes()[d];
  check<IndexError>(start >= -size && start <= size, "narrow: start ", start,
                    " is out of range for dimension ", d, " of size ", size, "; expected ", -size,
                    " <= start <= ", size);
  if (start < 0) start += size;
  check<IndexError>(length >= 0 && length <= size - start, "narrow: start (", start, ") + length (",
                    length, ") exceeds dimension size (", size, "). Shape ", x.sizes(),
                    ", dimension ", d, "; give a smaller length");
  Dims sizes = x.impl().sizes;
  sizes[d] = length;
  return as_strided(x, sizes, x.impl().strides, x.storage_offset() + start * x.strides()[d]);
}

Tensor view(const Tensor& x, ScalarType dtype) {
  const auto from = static_cast<int64_t>(x.element_size()),
             to = static_cast<int64_t>(element_size(dtype));
  Dims sizes = x.impl().sizes, strides = x.impl().strides;
  int64_t offset = x.storage_offset();
  if (from != to) {
    check(x.dim() > 0, "view: a tensor without dimensions of dtype ", x.dtype(),
          " cannot be seen as ", dtype,
          ", whose elements have another size; use to() to convert it, or unsqueeze it first");
    check(strides.back() == 1 || sizes.back() == 1, "view: the last dimension has stride ",
          strides.back(), ", expected 1 to see ", x.dtype(), " as ", dtype, "; use contiguous()");
    const auto fits = [&](int64_t count) { return count * from % to == 0; };
    bool all_fit = fits(sizes.back()) && fits(offset);
    for (int64_t d = 0; d + 1 < x.dim(); ++d) all_fit &= fits(strides[d]);
    check(all_fit, "view: shape ", x.sizes(), ", strides ", x.strides(), " and offset ", offset,
          " of ", x.dtype(), " do not divide into elements of ", dtype,
          ": they need to be multiples of ", to / std::min(from, to));
    const int64_t last = x.dim() - 1;
    sizes[last] = sizes[last] * from / to;
    for (int64_t d = 0; d < last; ++d) strides[d] = strides[d] * from / to;
    strides[last] = 1;
    offset = offset * from / to;
  }
  Tensor out = as_strided(x, sizes, strides, offset);
  out.impl().dtype = dtype;
  return out;
}

namespace {
// x's memory as elements of another dtype. The strides and the offset count such elements.
Tensor seen_as(ScalarType dtype, const Tensor& x, const Dims& sizes, const Dims& strides,
               int64_t offset) {
  Tensor out = as_strided(x, sizes, strides, offset);
  out.impl().dtype = dtype;
  return out;
}
}  // namespace

Tensor part_of(const Tensor& x, int64_t part) {
  Dims strides = x.impl().strides;
  for (int64_t& stride : strides) stride *= 2;
  return seen_as(toRealValueType(x.dtype()), x, x.impl().sizes, strides,
                 2 * x.storage_offset() + part);
}

Tensor view_as_real(const Tensor& x) {
  const Tensor real = part_of(x, 0);
  Dims sizes = real.impl().sizes, strides = real.impl().strides;
  sizes.push_back(2), strides.push_back(1);
  return as_strided(real, sizes, strides, real.storage_offset());
}

Tensor view_as_complex(const Tensor& x) {
  const char* const op = "view_as_complex";
  const ScalarType dtype = x.operand(op).dtype();
  check<TypeError>(dtype == kFloat || dtype == kDouble, op,
                   ": view_as_complex is only supported for half, float and double tensors, but "
                   "got a tensor of scalar type: ",
                   TypeName{dtype}, "; convert with .to(kFloat)");
  check(x.dim() > 0 && x.sizes().back() == 2, op,
        ": Tensor must have a last dimension of size 2, and the shape is ", x.sizes(),
        "; stack two parts along dimension -1");
  Dims sizes = x.impl().sizes, strides = x.impl().strides;
  const bool adjacent = strides.back() == 1;
  sizes.erase(x.dim() - 1), strides.erase(x.dim() - 1);
  bool even = x.storage_offset() % 2 == 0;
  for (int64_t d = 0; d < static_cast<int64_t>(strides.size()); ++d) {
    // The stride of a dimension without a second element says nothing.
    even &= strides[d] % 2 == 0 || sizes[d] < 2;
    strides[d] /= 2;
  }
  check(adjacent, op, ": Tensor must have a last dimension with stride 1, and the strides are ",
        x.strides(), "; use contiguous()");
  check(even, op, ": Tensor must have strides and a storage_offset divisible by 2, and they are ",
        x.strides(), " and ", x.storage_offset(), "; use clone()");
  return seen_as(toComplexType(dtype), x, sizes, strides, x.storage_offset() / 2);
}

}  // namespace raw
}  // namespace gradus
