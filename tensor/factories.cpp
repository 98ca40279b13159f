// empty, zeros, ones, full, arange, range, linspace, logspace, eye, tensor and from_blob, with
// their forms like and new.
#include "gradus/tensor/factories.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "gradus/tensor/foreign_memory.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {
// The first elements of `flat` under another geometry, as a tensor of its own.
Tensor strided(const Tensor& flat, IntArrayRef sizes, IntArrayRef strides) {
  return raw::alias(flat, Dims(sizes.data(), sizes.size()), Dims(strides.data(), strides.size()));
}

// The same in page-locked memory. REQUIRES: a new tensor of the CPU.
Tensor pinned(const Tensor& x) {
  const size_t nbytes = x.storage().nbytes();
  StoragePtr storage = allocate_pinned_memory(nbytes);
  if (nbytes > 0) std::memcpy(storage->data(), x.storage().data(), nbytes);
  const auto length = static_cast<int64_t>(nbytes / element_size(x.scalar_type()));
  const Tensor flat = raw::over_storage(std::move(storage), {length}, x.scalar_type());
  return strided(flat, x.sizes(), x.strides());
}

Tensor finish(Tensor out, const TensorOptions& options) {
  check<Error>(!options.pinned_memory() || out.is_cpu(), "pinned_memory: the tensor is on ",
               out.device(), "; only memory of the CPU can be pinned");
  if (options.pinned_memory()) out = pinned(out);
  if (options.requires_grad()) out.set_requires_grad(true);
  return out;
}

TensorOptions like(const Tensor& self, const TensorOptions& options) {
  return options.dtype(options.dtype_opt().value_or(self.dtype()))
      .device(options.device_opt().value_or(self.device()));
}

Tensor filled(const char* op, IntArrayRef size, const Scalar& value, const TensorOptions& options) {
  Tensor out = raw::empty(size, options.dtype(), options.device(),
                          options.memory_format_opt().value_or(MemoryFormat::Contiguous), op);
  raw::fill_(out, value);
  return finish(std::move(out), options);
}

// start + i * step for i in [0, count).
Tensor sequence(const Scalar& start, const Scalar& step, int64_t count, ScalarType dtype,
                const TensorOptions& options) {
  Tensor out = raw::empty({count}, computed_type(dtype), options.device());
  if (count > 0) backend(out).arange(out, start, step);
  return finish(raw::to(out, dtype), options);
}

// Elements from the first one to one past the last one that `strides` reach. An int64 counts their
// bytes, too.
int64_t extent(const char* op, IntArrayRef sizes, IntArrayRef strides, ScalarType dtype) {
  check(sizes.size() == strides.size(), op, ": sizes ", sizes, " and strides ", strides,
        " differ in length; give one stride for each size");
  int64_t out = 1, nbytes = 0;
  bool overflow = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    int64_t span = 0;
    check(strides[d] >= 0, op, ": strides ", strides,
          " has a negative one; give 0 or more, and flip() the tensor");
    overflow |= __builtin_mul_overflow(std::max<int64_t>(sizes[d] - 1, 0), strides[d], &span) ||
                __builtin_add_overflow(out, span, &out);
  }
  if (checked_numel(op, sizes) == 0) return 0;
  overflow |= __builtin_mul_overflow(out, static_cast<int64_t>(element_size(dtype)), &nbytes);
  check(!overflow, op, ": shape ", sizes, " of ", dtype, " with strides ", strides,
        " reaches over more bytes than an int64 counts; make them smaller");
  return out;
}
}  // namespace

Tensor empty(IntArrayRef size, const TensorOptions& options,
             std::optional<MemoryFormat> memory_format) {
  const auto format = memory_format ? memory_format : options.memory_format_opt();
  return finish(raw::empty(size, options.dtype(), options.device(),
                           format.value_or(MemoryFormat::Contiguous)),
                options);
}
Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
  const int64_t length = extent("empty_strided", size, stride, options.dtype());
  const Tensor flat = raw::empty({length}, options.dtype(), options.device());
  return finish(strided(flat, size, stride), options);
}
Tensor zeros(IntArrayRef size, const TensorOptions& options) {
  return filled("zeros", size, 0, options);
}
Tensor ones(IntArrayRef size, const TensorOptions& options) {
  return filled("ones", size, 1, options);
}

Tensor full(IntArrayRef size, const Scalar& value, TensorOptions options) {
  if (!options.dtype_opt() && !value.isFloatingPoint())
    options = options.dtype(value.isComplex() ? toComplexType(get_default_dtype()) : value.type());
  return filled("full", size, value, options);
}

Tensor scalar_tensor(const Scalar& s, const TensorOptions& options) {
  return filled("scalar_tensor", {}, s, options);
}

Tensor eye(int64_t n, const TensorOptions& options) { return eye(n, n, options); }

Tensor eye(int64_t n, int64_t m, const TensorOptions& options) {
  Tensor out = raw::empty({n, m}, options.dtype(), options.device(), "eye");
  raw::fill_(out, 0);
  const int64_t diagonal = std::min(n, m);
  if (diagonal > 0) raw::fill_(raw::as_strided(out, {diagonal}, {m + 1}, 0), 1);
  return finish(std::move(out), options);
}

namespace {
// How many steps lead from start to end.
double steps_between(const char* op, const Scalar& start, const Scalar& end, const Scalar& step) {
  const double span = end.toDouble() - start.toDouble();
  check(step.toDouble() != 0, op, ": step must be nonzero; give one towards end");
  check(std::isfinite(span) && std::isfinite(step.toDouble()), op,
        ": start, end and step must be finite; leave out NaN and infinities");
  check(span / step.toDouble() >= 0, op,
        ": upper bound and larger bound inconsistent with step sign: from ", start.toDouble(),
        " to ", end.toDouble(), " by ", step.toDouble(), "; change its sign");
  check(span / step.toDouble() < 0x1p62, op, ": from ", start.toDouble(), " to ", end.toDouble(),
        " by ", step.toDouble(), " are more numbers than a tensor holds; use a longer step");
  return span / step.toDouble();
}
// How many of the integers start, start + step, ... lie before end. The number is exact.
int64_t integers_before(int64_t start, int64_t end, int64_t step) {
  const auto unsign = [](int64_t x) { return static_cast<uint64_t>(x); };
  const uint64_t span = step > 0 ? unsign(end) - unsign(start) : unsign(start) - unsign(end);
  const uint64_t by = step > 0 ? unsign(step) : -unsign(step);
  return static_cast<int64_t>(span / by + (span % by != 0));
}
// A number without its fraction where the dtype is an integer, as elements of it start.
Scalar fitted(const Scalar& x, ScalarType dtype) {
  return isFloatingType(dtype) ? x : Scalar(x.cast<int64_t>());
}
void check_counts(const char* op, ScalarType dtype) {
  check<TypeError>(dtype != kBool, op, ": dtype bool does not count; use kByte");
}
}  // namespace

Tensor arange(const Scalar& end, const TensorOptions& options) { return arange(0, end, options); }
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return arange(start, end, 1, options);
}
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              const TensorOptions& options) {
  const bool integers =
      !start.isFloatingPoint() && !end.isFloatingPoint() && !step.isFloatingPoint();
  const ScalarType dtype =
      options.dtype_opt().value_or(integers ? kLong : get_default_dtype_as_scalartype());
  check_counts("arange", dtype);
  const double steps = steps_between("arange", start, end, step);
  const Scalar first = fitted(start, dtype), by = fitted(step, dtype);
  check(by.toDouble() != 0, "arange: step ", step.toDouble(), " is 0 as ", dtype,
        "; give a floating point dtype");
  const int64_t count = integers && dtype == kLong
                            ? integers_before(first.toLong(), end.toLong(), by.toLong())
                            : static_cast<int64_t>(std::ceil(steps));
  return sequence(first, by, count, dtype, options);
}

Tensor range(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return range(start, end, 1, options);
}
Tensor range(const Scalar& start, const Scalar& end, const Scalar& step,
             const TensorOptions& options) {
  const ScalarType dtype = options.dtype();
  check_counts("range", dtype);
  steps_between("range", start, end, step);
  const Scalar first = fitted(start, dtype), last = fitted(end, dtype), by = fitted(step, dtype);
  check(by.toDouble() != 0, "range: step ", step.toDouble(), " is 0 as ", dtype,
        "; give a floating point dtype");
  const auto count = static_cast<int64_t>(steps_between("range", first, last, by)) + 1;
  return sequence(first, by, count, dtype, options);
}

namespace {
// The numbers of linspace, or powers of `base` with them as exponents.
Tensor spaced(const char* op, const Scalar& start, const Scalar& end, int64_t steps,
              std::optional<double> base, const TensorOptions& options) {
  check(steps >= 0, op, ": number of steps must be non-negative, not ", steps, "; give 0 or more");
  check_counts(op, options.dtype());
  for (const Scalar& x : {start, end}) raw::check_fits(op, x, options.dtype());
  const double first = fitted(start, options.dtype()).toDouble();
  const double last = fitted(end, options.dtype()).toDouble();
  Tensor out = raw::empty({steps}, options.dtype(), options.device());
  if (steps > 0) backend(out).linspace(first, last, base, out);
  return finish(std::move(out), options);
}
}  // namespace

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                const TensorOptions& options) {
  return spaced("linspace", start, end, steps, std::nullopt, options);
}

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base,
                const TensorOptions& options) {
  return spaced("logspace", start, end, steps, base, options);
}

Tensor empty_like(const Tensor& self, const TensorOptions& options,
                  std::optional<MemoryFormat> memory_format) {
  const auto format = memory_format ? memory_format : options.memory_format_opt();
  const bool in_order = format.value_or(MemoryFormat::Preserve) != MemoryFormat::Preserve;
  if (in_order || self.operand("empty_like").is_contiguous())
    return empty(self.sizes(), like(self, options), format);
  return empty_strided(self.sizes(), raw::empty_as(self, self.scalar_type()).strides(),
                       like(self, options));
}
Tensor zeros_like(const Tensor& self, const TensorOptions& options,
                  std::optional<MemoryFormat> memory_format) {
  return full_like(self.operand("zeros_like"), 0, options, memory_format);
}
Tensor ones_like(const Tensor& self, const TensorOptions& options,
                 std::optional<MemoryFormat> memory_format) {
  return full_like(self.operand("ones_like"), 1, options, memory_format);
}
Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& options,
                 std::optional<MemoryFormat> memory_format) {
  if (!memory_format && self.operand("full_like").is_contiguous()) {
    return filled("full_like", self.sizes(), value, like(self, options));
  }
  const Tensor out = empty_like(self, TensorOptions(options).requires_grad(false), memory_format);
  raw::fill_(out, value);
  return finish(out, like(self, options));
}

Tensor Tensor::new_empty(IntArrayRef size, const TensorOptions& options) const {
  checked_numel("new_empty", size);
  return empty(size, like(*this, options));
}
Tensor Tensor::new_empty_strided(IntArrayRef size, IntArrayRef stride,
                                 const TensorOptions& options) const {
  return empty_strided(size, stride, like(*this, options));
}
Tensor Tensor::new_zeros(IntArrayRef size, const TensorOptions& options) const {
  return filled("new_zeros", size, 0, like(*this, options));
}
Tensor Tensor::new_ones(IntArrayRef size, const TensorOptions& options) const {
  return filled("new_ones", size, 1, like(*this, options));
}
Tensor Tensor::new_full(IntArrayRef size, const Scalar& fill_value,
                        const TensorOptions& options) const {
  return filled("new_full", size, fill_value, like(*this, options));
}

namespace {
// The row as it is written, {{1, 2}, {3, 4}}, from the dimension and the element on.
void append_row(std::string& out, const TensorData& row, size_t dim, size_t& element) {
  if (dim == row.sizes().size()) return append(out, row.numbers()[element++]);
  for (int64_t i = 0; i < row.sizes()[dim]; ++i) {
    out += i == 0 ? "{" : ", ";
    append_row(out, row, dim + 1, element);
  }
  out += row.sizes()[dim] == 0 ? "{}" : "}";
}
std::string written(const TensorData& row) {
  std::string out;
  size_t element = 0;
  append_row(out, row, 0, element);
  return out;
}
std::string without_brackets(IntArrayRef sizes) {
  std::string out;
  append(out, sizes);
  return out.substr(1, out.size() - 2);
}
}  // namespace

TensorData::TensorData(std::initializer_list<TensorData> rows) : TensorData() {
  sizes_ = {static_cast<int64_t>(rows.size())};
  if (rows.size() == 0) return;
  const Dims& first = rows.begin()->sizes_;
  type_ = rows.begin()->type_;
  for (int64_t size : first) sizes_.push_back(size);
  for (const TensorData& row : rows) {
    if (IntArrayRef(row.sizes_) != IntArrayRef(first))
      fail("tensor: Expected all sub-lists to have sizes: ", without_brackets(first), " (e.g. ",
           written(*rows.begin()), "), but got sub-list ", written(row),
           " with sizes: ", without_brackets(row.sizes_),
           "; give all rows of a level the same shape");
    check<TypeError>(row.type_ == type_,
                     "tensor: Expected all elements of the tensor to have the same scalar type: ",
                     TypeName{type_}, ", but got element of scalar type: ", TypeName{row.type_},
                     "; write all of them as one type: 1.0 and 2.0, not 1 and 2.0");
    numbers_.insert(numbers_.end(), row.numbers_.begin(), row.numbers_.end());
  }
}

ScalarType TensorData::dtype() const {
  if (type_ == kInt) return kLong;
  return type_ == kFloat || type_ == kDouble ? get_default_dtype_as_scalartype() : type_;
}

static constexpr const char* kTensorOfParts =
    "tensor: can not do torch::tensor(complex, dtype=non-complex) because complex can not be "
    "casted to real number without loss of information";

Tensor tensor(const TensorData& data, const TensorOptions& options) {
  Tensor out = raw::empty(data.sizes(), options.dtype_opt().value_or(data.dtype()), kCPU);
  const auto put = [&]<class T>(TypeTag<T>) {
    T* to = out.data_ptr<T>();
    for (const Scalar& number : data.numbers()) {
      if (!number.fits<T>())
        number.fail_to_fit(number.isComplex() ? kTensorOfParts : "tensor", cpp_name<T>,
                           number.isComplex() ? "take a complex dtype" : "take a wider dtype");
      *to++ = number.cast<T>();
    }
  };
  if (out.is_complex())
    visit_complex("tensor", out.dtype(),
                  [&]<class T>(TypeTag<T>) { put(TypeTag<std::complex<T>>{}); });
  else
    visit(out.dtype(), put);
  return finish(raw::to(out, options.device()), options);
}

namespace {
struct ForeignStorage final : StorageImpl {
  ForeignStorage(void* data, size_t nbytes, Device device, Deleter release)
      : StorageImpl(data, nbytes, device), deleter(std::move(release)) {}
  ~ForeignStorage() override {
    if (deleter) deleter(data());
  }
  bool resizable() const override { return false; }
  Deleter deleter;
};
}  // namespace

Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options) {
  return from_blob(data, sizes, Deleter(), options);
}
Tensor from_blob(void* data, IntArrayRef sizes, const Deleter& deleter,
                 const TensorOptions& options) {
  checked_numel("from_blob", sizes);
  return from_blob(data, sizes, contiguous_strides(sizes), deleter, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  return from_blob(data, sizes, strides, Deleter(), options);
}

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const Deleter& deleter,
                 const TensorOptions& options) {
  const int64_t length = extent("from_blob", sizes, strides, options.dtype());
  check(data != nullptr || length == 0, "from_blob: data is null, and shape ", sizes,
        " reaches over ", length, " elements");
  const Device device = backend(options.device().type()).resolve(options.device());
  if (device.is_cuda() && length > 0) check_cuda_memory("from_blob", data, device);
  const size_t nbytes = static_cast<size_t>(length) * element_size(options.dtype());
  auto storage = std::make_shared<ForeignStorage>(data, nbytes, device, deleter);
  const Tensor flat = raw::over_storage(std::move(storage), {length}, options.dtype());
  return finish(strided(flat, sizes, strides), options.pinned_memory(false));
}

}  // namespace gradus
