#include "gradus/tensor/factories.h"

#include <cmath>
#include <numeric>

#include "gradus/tensor/philox.h"
#include "gradus/tensor/raw.h"

namespace gradus {

namespace {
Tensor finish(Tensor out, const TensorOptions& options) {
  if (options.requires_grad()) out.set_requires_grad(true);
  return out;
}

TensorOptions like(const Tensor& self, const TensorOptions& options) {
  return options.dtype(options.dtype_opt().value_or(self.dtype()))
      .device(options.device_opt().value_or(self.device()));
}

Tensor filled(IntArrayRef size, const Scalar& value, const TensorOptions& options) {
  Tensor out = raw::empty(size, options.dtype(), options.device());
  raw::fill_(out, value);
  return finish(std::move(out), options);
}

Tensor random(Distribution kind, double a, double b, IntArrayRef size,
              const TensorOptions& options) {
  const ScalarType dtype = options.dtype();
  if (kind != Distribution::randint)
    check<TypeError>(isFloatingType(dtype), "rand: dtype ", dtype,
                     " is not a floating point type; use randint for integers");
  Tensor out = raw::empty(size, computed_type(dtype), options.device());
  const PhiloxState state = default_generator(out.device()).take(out.numel());
  if (out.numel() > 0) backend(out).random(kind, a, b, state, out);
  return finish(raw::to(out, dtype), options);
}
}  // namespace

Tensor empty(IntArrayRef size, const TensorOptions& options) {
  return finish(raw::empty(size, options.dtype(), options.device()), options);
}
Tensor zeros(IntArrayRef size, const TensorOptions& options) { return filled(size, 0, options); }
Tensor ones(IntArrayRef size, const TensorOptions& options) { return filled(size, 1, options); }

Tensor full(IntArrayRef size, const Scalar& value, TensorOptions options) {
  if (!options.dtype_opt() && !value.isFloatingPoint()) options = options.dtype(value.type());
  return filled(size, value, options);
}

Tensor eye(int64_t n, const TensorOptions& options) { return eye(n, n, options); }

Tensor eye(int64_t n, int64_t m, const TensorOptions& options) {
  Tensor out = raw::empty({n, m}, options.dtype(), options.device());
  raw::fill_(out, 0);
  const int64_t diagonal = std::min(n, m);
  raw::fill_(raw::as_strided(out, {diagonal}, {m + 1}, 0), 1);
  return finish(std::move(out), options);
}

Tensor arange(const Scalar& end, const TensorOptions& options) { return arange(0, end, options); }
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return arange(start, end, 1, options);
}

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              const TensorOptions& options) {
  const bool integers =
      !start.isFloatingPoint() && !end.isFloatingPoint() && !step.isFloatingPoint();
  const double span = end.toDouble() - start.toDouble();
  check(step.toDouble() != 0, "arange: step is 0; give a step towards end");
  check(std::isfinite(span) && std::isfinite(step.toDouble()),
        "arange: start, end and step must be finite");
  check(span / step.toDouble() >= 0, "arange: step ", step.toDouble(),
        " leads away from end: from ", start.toDouble(), " to ", end.toDouble(),
        "; change its sign");
  const auto count = static_cast<int64_t>(std::ceil(span / step.toDouble()));
  const ScalarType dtype = options.dtype_opt().value_or(integers ? kLong : get_default_dtype());
  Tensor out = raw::empty({count}, computed_type(dtype), options.device());
  if (count > 0) backend(out).arange(out, start, step);
  return finish(raw::to(out, dtype), options);
}

Tensor rand(IntArrayRef size, const TensorOptions& options) {
  return random(Distribution::uniform, 0, 1, size, options);
}
Tensor randn(IntArrayRef size, const TensorOptions& options) {
  return random(Distribution::normal, 0, 1, size, options);
}
Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options) {
  return randint(0, high, size, options);
}
Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options) {
  check(low < high, "randint: low = ", low, " is not below high = ", high);
  constexpr int64_t kExact = int64_t{1} << 53;
  check(low >= -kExact && high <= kExact, "randint: the range ", low, " to ", high,
        " exceeds 2^53; use a smaller one");
  return random(Distribution::randint, static_cast<double>(low), static_cast<double>(high), size,
                options.dtype(options.dtype_opt().value_or(kLong)));
}

Tensor randperm(int64_t n, const TensorOptions& options) {
  check(n >= 0, "randperm: n = ", n, " is negative");
  Tensor out = raw::empty({n}, kLong, kCPU);
  int64_t* order = out.data_ptr<int64_t>();
  std::iota(order, order + n, 0);
  // Fisher and Yates' shuffle, from the back.
  const PhiloxState state = default_generator(kCPU).take(n);
  for (int64_t i = n - 1; i > 0; --i) {
    const uint64_t bits = philox::words(state.seed, state.offset, static_cast<uint64_t>(i));
    std::swap(order[i], order[philox::randint(bits, 0, i + 1)]);
  }
  out = raw::to(raw::to(out, options.dtype_opt().value_or(kLong)), options.device());
  return finish(std::move(out), options);
}

Tensor empty_like(const Tensor& self, const TensorOptions& options) {
  return empty(self.sizes(), like(self, options));
}
Tensor zeros_like(const Tensor& self, const TensorOptions& options) {
  return zeros(self.sizes(), like(self, options));
}
Tensor ones_like(const Tensor& self, const TensorOptions& options) {
  return ones(self.sizes(), like(self, options));
}
Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& options) {
  return full(self.sizes(), value, like(self, options));
}
Tensor rand_like(const Tensor& self, const TensorOptions& options) {
  return rand(self.sizes(), like(self, options));
}
Tensor randn_like(const Tensor& self, const TensorOptions& options) {
  return randn(self.sizes(), like(self, options));
}

TensorData::TensorData(std::initializer_list<TensorData> rows) {
  sizes_ = {static_cast<int64_t>(rows.size())};
  if (rows.size() == 0) return;
  const Dims& first = rows.begin()->sizes_;
  for (int64_t size : first) sizes_.push_back(size);
  for (const TensorData& row : rows) {
    check(IntArrayRef(row.sizes_) == IntArrayRef(first), "tensor: a row has shape ", row.sizes_,
          " beside one of shape ", first, "; all rows of a level need the same shape");
    numbers_.insert(numbers_.end(), row.numbers_.begin(), row.numbers_.end());
  }
}

ScalarType TensorData::dtype() const {
  if (numbers_.empty()) return empty_type_.value_or(get_default_dtype());
  DtypeKind kind = DtypeKind::Boolean;
  for (const Scalar& number : numbers_) kind = std::max(kind, number.kind());
  return kind == DtypeKind::Boolean    ? kBool
         : kind == DtypeKind::Integral ? kLong
                                       : get_default_dtype();
}

Tensor tensor(const TensorData& data, const TensorOptions& options) {
  Tensor out = raw::empty(data.sizes(), options.dtype_opt().value_or(data.dtype()), kCPU);
  visit(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = out.data_ptr<T>();
    for (const Scalar& number : data.numbers()) *to++ = number.to<T>();
  });
  return finish(raw::to(out, options.device()), options);
}

namespace {
struct ForeignStorage final : Storage {
  ForeignStorage(void* data, size_t nbytes, Device device, std::function<void(void*)> release)
      : Storage(data, nbytes, device), deleter(std::move(release)) {}
  ~ForeignStorage() override {
    if (deleter) deleter(data());
  }
  std::function<void(void*)> deleter;
};
}  // namespace

Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options) {
  return from_blob(data, sizes, nullptr, options);
}

Tensor from_blob(void* data, IntArrayRef sizes, std::function<void(void*)> deleter,
                 const TensorOptions& options) {
  const int64_t numel = checked_numel("from_blob", sizes);
  check(data != nullptr || numel == 0, "from_blob: data is null, and shape ", sizes, " has ", numel,
        " elements");
  const Device device = backend(options.device().type()).resolve(options.device());
  const size_t nbytes = static_cast<size_t>(numel) * element_size(options.dtype());
  auto storage = std::make_shared<ForeignStorage>(data, nbytes, device, std::move(deleter));
  return finish(raw::over_storage(std::move(storage), sizes, options.dtype()), options);
}

}  // namespace gradus
