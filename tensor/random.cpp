// rand, randn, randint and randperm, with their forms like.

#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "gradus/tensor/batching/undo.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/level.h"
#include "gradus/tensor/math/philox.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace raw {

PhiloxState take(const std::optional<Generator>& generator, Device device, int64_t elements) {
  elements = batching::drawn(elements);
  if (device.is_meta()) {  // nothing is drawn; the number tells draws apart
    static std::atomic<uint64_t> draws = 0;
    return {0, draws++};
  }
  const bool given = generator && generator->defined();
  check<Error>(!given || generator->device().type() == device.type(),
               "random: the generator is of ", given ? generator->device() : device,
               ", and the elements are drawn on ", device,
               "; give a generator of that device, or none");
  Generator source = given ? *generator : default_generator(device);
  batching::before_change(source.get<GeneratorImpl>(), 0, [&]() -> batching::Undo::Restore {
    return [source, before = source.philox()]() mutable {
      source.set_philox(before);
      return false;  // numbers that nobody sees
    };
  });
  return source.take(elements);
}

void random_(const Tensor& x, Distribution kind, const Scalar& a, const Scalar& b,
             const std::optional<Generator>& generator) {
  if (x.is_complex() && kind == Distribution::uniform)
    return random_(raw::view_as_real(x), kind, a, b, generator);
  if (x.is_complex() && kind == Distribution::normal) {  // |x - a| has the deviation b
    random_(raw::view_as_real(x), kind, 0, b.toDouble() * std::sqrt(0.5), generator);
    return zip_(BinaryOp::add, x, a);
  }
  const PhiloxState state = take(generator, x.device(), x.numel());
  if (x.numel() == 0) return;
  const Tensor block = x.is_contiguous() ? x : raw::empty_like(x);
  backend(x).random(kind, a, b, state, block);
  if (!block.is_same(x)) copy_(x, block);
}

void random_map(RandomMap op, double number, PhiloxState state, const Tensor& x,
                const Tensor& out) {
  if (x.numel() == 0) return;
  const Tensor block = out.is_contiguous() ? out : raw::empty_like(out);
  backend(x).random_map(op, number, state, raw::contiguous(x), block);
  if (!block.is_same(out)) copy_(out, block);
}

}  // namespace raw

namespace {

Tensor drawn(const char* op, Distribution kind, const Scalar& a, const Scalar& b, IntArrayRef size,
             const std::optional<Generator>& generator, const TensorOptions& options) {
  const ScalarType dtype = options.dtype();
  const bool has_parts = kind == Distribution::uniform || kind == Distribution::normal;
  check<TypeError>(
      kind == Distribution::randint || isFloatingType(dtype) || (has_parts && isComplexType(dtype)),
      op, ": dtype ", dtype, " is not a floating point type; use randint for integers");
  checked_numel(op, size);
  const Tensor out = empty(size, options);
  raw::random_(out, kind, a, b, generator);
  return out;
}

TensorOptions filled_in(const Tensor& self, const TensorOptions& options) {
  return self.options().merge_in(options);
}

// The drawn numbers of self's shape, with self's order of dimensions in memory, as libtorch keeps
// it.
Tensor arranged(const Tensor& drawn, const Tensor& self, std::optional<MemoryFormat> format) {
  if (self.is_contiguous() || format.value_or(MemoryFormat::Preserve) != MemoryFormat::Preserve)
    return drawn;
  Tensor out = empty_strided(self.sizes(), raw::empty_as(self, self.scalar_type()).strides(),
                             drawn.options());
  raw::copy_(out, drawn);
  out.set_requires_grad(drawn.requires_grad());
  return out;
}

// The integers that a dtype holds lie in [first, second].
std::pair<double, double> range_of(ScalarType dtype) {
  return visit(dtype, []<class T>(TypeTag<T>) -> std::pair<double, double> {
    return {static_cast<double>(std::numeric_limits<T>::lowest()),
            static_cast<double>(std::numeric_limits<T>::max())};
  });
}

// Fisher and Yates' shuffle, from the front: the element for place i comes from one of those at i
// and behind it. Places are drawn ahead, so that the memory behind them is on its way in time. The
// rest of a number that has chosen among few elements chooses a second time (Brackett-Rozinsky and
// Lemire, "Batched ranged random integer generation", 2024). The two choices take 34 of its 53 bits
// at most, so a place is likelier than another by 2^-19 at most.
void shuffle(int64_t* order, int64_t n, PhiloxState state) {
  constexpr int64_t kBlock = 1024, kAhead = 16, kFew = 1 << 17;
  const int64_t choices = n <= kFew ? 2 : 1, draws = kBlock / choices;
  static_assert(kBlock / 2 % philox::kElementsPerBlock == 0);
  const Tensor uniform = raw::empty({draws}, kDouble, kCPU);
  const double* const drawn = uniform.data_ptr<double>();
  int64_t places[kBlock + kAhead] = {};
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t some = std::min(n - first, kBlock);
    backend(uniform).random(Distribution::uniform, 0, 1, state,
                            raw::narrow(uniform, 0, 0, (some - 1) / choices + 1));
    state.offset += static_cast<uint64_t>(draws / philox::kElementsPerBlock);
    const auto left = [=](int64_t i) { return static_cast<double>(n - first - i); };
    for (int64_t i = 0; i < some; i += choices) {
      const double choice = drawn[i / choices] * left(i);
      const auto chosen = static_cast<int64_t>(choice);
      places[i] = first + i + chosen;
      if (choices == 2 && i + 1 < some)
        places[i + 1] = first + i + 1 +
                        static_cast<int64_t>((choice - static_cast<double>(chosen)) * left(i + 1));
    }
    for (int64_t i = 0; i < some; ++i) {
      __builtin_prefetch(order + places[i + kAhead], 1);
      std::swap(order[first + i], order[places[i]]);
    }
  }
}

Tensor shuffled(int64_t n, PhiloxState state) {
  const Tensor order = raw::empty({n}, kLong, kCPU);
  int64_t* const places = order.data_ptr<int64_t>();
  std::iota(places, places + n, 0);
  shuffle(places, n, state);
  return order;
}

// Where random numbers of 64 bits stand in order: that two are equal is too rare to be seen.
Tensor order_of_numbers(int64_t n, PhiloxState state, Device device) {
  const Tensor numbers = raw::empty({n}, kLong, device), sorted = raw::empty_like(numbers),
               order = raw::empty_like(numbers);
  if (n == 0) return order;
  backend(numbers).random(Distribution::randint, INT64_MIN, INT64_MAX, state, numbers);
  backend(numbers).sort(numbers, 0, false, sorted, order);
  return order;
}

}  // namespace

Tensor rand(IntArrayRef size, std::optional<Generator> generator, const TensorOptions& options) {
  return drawn("rand", Distribution::uniform, 0, 1, size, generator, options);
}
Tensor rand(IntArrayRef size, const TensorOptions& options) {
  return rand(size, std::nullopt, options);
}
Tensor randn(IntArrayRef size, std::optional<Generator> generator, const TensorOptions& options) {
  return drawn("randn", Distribution::normal, 0, 1, size, generator, options);
}
Tensor randn(IntArrayRef size, const TensorOptions& options) {
  return randn(size, std::nullopt, options);
}

Tensor randint(int64_t low, int64_t high, IntArrayRef size, std::optional<Generator> generator,
               const TensorOptions& options) {
  check(low < high, "randint: random_ expects 'from' to be less than 'to', but got from=", low,
        " >= to=", high, "; 'to' is not drawn itself");
  const TensorOptions with_dtype = options.dtype(options.dtype_opt().value_or(kLong));
  const auto [least, greatest] = range_of(with_dtype.dtype());
  check(static_cast<double>(low) >= least && static_cast<double>(high - 1) <= greatest,
        "randint: dtype ", with_dtype.dtype().toScalarType(), " does not hold the range ", low,
        " to ", high - 1, "; use a wider dtype");
  return drawn("randint", Distribution::randint, low, high, size, generator, with_dtype);
}
Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options) {
  return randint(low, high, size, std::nullopt, options);
}
Tensor randint(int64_t high, IntArrayRef size, std::optional<Generator> generator,
               const TensorOptions& options) {
  return randint(0, high, size, std::move(generator), options);
}
Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options) {
  return randint(0, high, size, std::nullopt, options);
}

Tensor randperm(int64_t n, const TensorOptions& options) {
  return randperm(n, std::nullopt, options);
}
Tensor randperm(int64_t n, std::optional<Generator> generator, const TensorOptions& options) {
  check(n >= 0, "randperm: n must be non-negative, got ", n, "; give the number of elements");
  const Device device = backend(options.device().type()).resolve(options.device());
  if (device.is_cpu()) batching::refuse_different("randperm");
  const PhiloxState state = raw::take(generator, device, n);
  const Tensor order = device.is_cpu() ? shuffled(n, state) : order_of_numbers(n, state, device);
  Tensor result = raw::to(order, options.dtype_opt().value_or(kLong));
  if (options.pinned_memory()) {
    result = empty({n}, options.dtype(result.scalar_type()).requires_grad(false));
    raw::copy_(result, order);
  }
  result.set_requires_grad(options.requires_grad());
  return result;
}

Tensor rand_like(const Tensor& self, const TensorOptions& options,
                 std::optional<MemoryFormat> memory_format) {
  check_row_major("rand_like", memory_format);
  return arranged(rand(self.sizes(), filled_in(self, options)), self, memory_format);
}
Tensor randn_like(const Tensor& self, const TensorOptions& options,
                  std::optional<MemoryFormat> memory_format) {
  check_row_major("randn_like", memory_format);
  return arranged(randn(self.sizes(), filled_in(self, options)), self, memory_format);
}
Tensor randint_like(const Tensor& self, int64_t low, int64_t high, const TensorOptions& options,
                    std::optional<MemoryFormat> memory_format) {
  check_row_major("randint_like", memory_format);
  return arranged(randint(low, high, self.sizes(), filled_in(self, options)), self, memory_format);
}
Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options,
                    std::optional<MemoryFormat> memory_format) {
  return randint_like(self, 0, high, options, memory_format);
}

}  // namespace gradus
