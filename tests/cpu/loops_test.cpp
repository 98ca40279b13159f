// Properties of the loops of every instruction set that this processor runs.
#include "gradus/cpu/simd/loops.h"

#include <cstring>

#include "gradus/tensor/math/convert.h"
#include "tests/random.h"

namespace gradus::cpu {
namespace {

using test::pick, test::real;

// Numbers of every size, and the special ones.
template <class T>
std::vector<T> operands(int64_t n) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  const T special[] = {T(0),
                       T(-0.0),
                       inf,
                       -inf,
                       std::numeric_limits<T>::quiet_NaN(),
                       T(1),
                       T(-1),
                       T(1e30),
                       T(-1e30),
                       std::numeric_limits<T>::denorm_min(),
                       std::numeric_limits<T>::max()};
  std::vector<T> out(static_cast<size_t>(n));
  for (T& x : out)
    x = pick(0, 9) ? static_cast<T>(real(-3, 3) * std::pow(10, pick(-2, 2)))
                   : special[pick(0, std::ssize(special) - 1)];
  return out;
}

// Compares bits, except for NaN, which has many bit patterns.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a || b != b) return a != a && b != b;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
std::string text(InstructionSet set, const char* table, size_t op) {
  return std::string(table) + " " + std::to_string(op) + " of set " +
         std::to_string(static_cast<int>(set)) + (sizeof(T) == 4 ? ", float32" : ", float64");
}

constexpr bool kUnaryBool[] = {
#define UNARY(...) false,
#define PREDICATE(...) true,
#include "gradus/tensor/table/elementwise.def"
};
constexpr bool kBinaryBool[] = {
#define BINARY(...) false,
#define INTEGER(...) false,
#define COMPARISON(...) true,
#include "gradus/tensor/table/elementwise.def"
};

// f(table, index, loop, how many inputs, whether it gives bool) for every loop of a set.
template <class T, class F>
void for_each_loop(InstructionSet set, F f) {
  const Loops& all = loops_of(set, dtype_of<T>);
  for (size_t i = 0; i < kUnaryOps; ++i) {
    if (all.map[i]) f("map", i, all.map[i], 1, kUnaryBool[i]);
    if (all.map_grad[i]) f("map_grad", i, all.map_grad[i], 3, false);
  }
  for (size_t i = 0; i < kBinaryOps; ++i)
    if (all.zip[i]) f("zip", i, all.zip[i], 2, kBinaryBool[i]);
  for (size_t i = 0; i < kTernaryOps; ++i)
    if (all.ternary[i]) f("ternary", i, all.ternary[i], 3, false);
}

// The memory behind the inputs of a loop of ternary.
template <class T>
constexpr T kNumber = static_cast<T>(3);

template <class T, class R>
std::vector<R> run(Loop loop, int64_t begin, int64_t end, const std::vector<T> (&x)[3]) {
  std::vector<std::byte> out(static_cast<size_t>(end - begin) * sizeof(R));
  const void* in[] = {&x[0][begin], &x[1][begin], &x[2][begin], &kNumber<T>};
  loop(end - begin, out.data(), in);
  std::vector<R> result(static_cast<size_t>(end - begin));
  std::memcpy(result.data(), out.data(), out.size());
  return result;
}

template <class T, class R>
void check_places(Loop loop, const std::string& what) {
  constexpr int64_t n = 150;
  const std::vector<T> x[3] = {operands<T>(n), operands<T>(n), operands<T>(n)};
  const std::vector<R> whole = run<T, R>(loop, 0, n, x);
  for (int round = 0; round < 40; ++round) {
    const int64_t begin = pick(0, n - 1), end = std::min(n, begin + pick(1, 70));
    const std::vector<R> part = run<T, R>(loop, begin, end, x);
    for (int64_t i = begin; i < end; ++i)
      ASSERT_TRUE(same(part[i - begin], whole[i]))
          << what << ": f(" << x[0][i] << ", " << x[1][i] << ", " << x[2][i] << ") is " << whole[i]
          << " as one of " << n << " and " << part[i - begin] << " as one of " << end - begin;
  }
}

template <class T>
void check_all_places() {
  for (const InstructionSet set : instruction_sets())
    for_each_loop<T>(set, [&](const char* table, size_t op, Loop loop, int, bool compares) {
      const std::string what = text<T>(set, table, op);
      compares ? check_places<T, uint8_t>(loop, what) : check_places<T, T>(loop, what);
    });
}
TEST(CpuLoops, AnElementDoesNotDependOnItsPlaceFloat) { check_all_places<float>(); }
TEST(CpuLoops, AnElementDoesNotDependOnItsPlaceDouble) { check_all_places<double>(); }

// The form of a loop of zip for one number, beside the loop for as many as there are elements.
template <class T, class R>
void check_number(Loop form, Loop loop, int which, const std::string& what) {
  constexpr int64_t n = 150;
  for (const T number : operands<T>(20)) {
    std::vector<T> x[3] = {operands<T>(n), operands<T>(n), operands<T>(n)};
    std::fill(x[which].begin(), x[which].end(), number);
    const std::vector<R> expected = run<T, R>(loop, 0, n, x);
    std::fill(x[which].begin() + 1, x[which].end(), T(7));  // which the form does not read
    const std::vector<R> got = run<T, R>(form, 0, n, x);
    for (size_t i = 0; i < n; ++i)
      ASSERT_TRUE(same(got[i], expected[i]))
          << what << ": input " << which << " is " << number << ", the other " << x[1 - which][i];
  }
}

template <class T>
void check_numbers() {
  for (const InstructionSet set : instruction_sets()) {
    const Loops& all = loops_of(set, dtype_of<T>);
    EXPECT_TRUE(all.zip_number[0][static_cast<int>(BinaryOp::sub)]);
    for (size_t op = 0; op < kBinaryOps; ++op)
      for (int which = 0; which < 2; ++which) {
        const Loop form = all.zip_number[which][op];
        const std::string what = text<T>(set, "zip_number", op);
        if (form && kBinaryBool[op])
          check_number<T, uint8_t>(form, all.zip[op], which, what);
        else if (form)
          check_number<T, T>(form, all.zip[op], which, what);
      }
  }
}
TEST(CpuLoops, OfANumberFloat) { check_numbers<float>(); }
TEST(CpuLoops, OfANumberDouble) { check_numbers<double>(); }

template <class T>
void check_in_place() {
  constexpr int64_t n = 1000;
  for (const InstructionSet set : instruction_sets())
    for_each_loop<T>(set, [&](const char* table, size_t op, Loop loop, int inputs, bool compares) {
      if (compares) return;
      const std::vector<T> x[3] = {operands<T>(n), operands<T>(n), operands<T>(n)};
      const std::vector<T> expected = run<T, T>(loop, 0, n, x);
      for (int target = 0; target < inputs; ++target) {
        std::vector<T> changed = x[target];
        const void* in[] = {x[0].data(), x[1].data(), x[2].data(), &kNumber<T>};
        in[target] = changed.data();
        loop(n, changed.data(), in);
        for (size_t i = 0; i < changed.size(); ++i)
          ASSERT_TRUE(same(changed[i], expected[i])) << text<T>(set, table, op) << " at " << i;
      }
    });
}
TEST(CpuLoops, InPlaceFloat) { check_in_place<float>(); }
TEST(CpuLoops, InPlaceDouble) { check_in_place<double>(); }

// These have formulas of their own in AVX-512; math_test.cpp holds them to the same bounds.
template <class T>
bool differs(const std::string& table, size_t op) {
  const auto is = [&](UnaryOp own) { return op == static_cast<size_t>(own); };
  if (sizeof(T) != 4) return false;
  if (table == "map_grad") return is(UnaryOp::gelu) || is(UnaryOp::silu);
  return table == "map" &&
         (is(UnaryOp::log) || is(UnaryOp::sin) || is(UnaryOp::cos) || is(UnaryOp::tanh) ||
          is(UnaryOp::sigmoid) || is(UnaryOp::silu) || is(UnaryOp::gelu));
}

// Both fuse the same products and sums.
template <class T>
void check_avx_sets_agree() {
  constexpr int64_t n = 1000;
  for_each_loop<T>(InstructionSet::avx2, [&](const char* table, size_t op, Loop narrow, int,
                                             bool compares) {
    const Loops& other = loops_of(InstructionSet::avx512, dtype_of<T>);
    const Loop wide = table == std::string("map")        ? other.map[op]
                      : table == std::string("map_grad") ? other.map_grad[op]
                      : table == std::string("zip")      ? other.zip[op]
                                                         : other.ternary[op];
    if (compares || differs<T>(table, op)) return;
    const std::vector<T> x[3] = {operands<T>(n), operands<T>(n), operands<T>(n)};
    const std::vector<T> a = run<T, T>(narrow, 0, n, x), b = run<T, T>(wide, 0, n, x);
    for (size_t i = 0; i < n; ++i)
      ASSERT_TRUE(same(a[i], b[i])) << text<T>(InstructionSet::avx2, table, op) << ": " << x[0][i];
  });
}
TEST(CpuLoops, AvxSetsAgree) {
  if (instruction_sets().size() < 3) GTEST_SKIP() << "not both sets are built, or run here";
  check_avx_sets_agree<float>();
  check_avx_sets_agree<double>();
}

// Numbers for which a loop has a shorter formula, if none of its others is `far`.
template <class T>
void check_near(UnaryOp op, T least, T most, std::initializer_list<T> far) {
  constexpr int64_t n = 1000;
  for (const InstructionSet set : instruction_sets()) {
    const Loops& loops = loops_of(set, dtype_of<T>);
    std::vector<T> x[3] = {operands<T>(n), operands<T>(n), operands<T>(n)};
    for (T& number : x[0]) number = static_cast<T>(real(least, most));
    x[0][0] = least, x[0][1] = most;
    x[1] = x[0];  // of a slope's loop, which reads grad first
    for (const Loop loop :
         {loops.map[static_cast<int>(op)], loops.map_grad[static_cast<int>(op)]}) {
      const std::vector<T> near = run<T, T>(loop, 0, n, x);
      for (const T number : far) {
        std::vector<T> mixed[3] = {x[0], x[1], x[2]};
        mixed[0][37] = mixed[1][37] = number;
        const std::vector<T> beside = run<T, T>(loop, 0, n, mixed);
        mixed[0].assign(n, number), mixed[1].assign(n, number);
        const std::vector<T> alone = run<T, T>(loop, 36, 38, mixed);
        for (size_t i = 0; i < n; ++i)
          ASSERT_TRUE(i == 37 || same(beside[i], near[i])) << name_of(op) << " of " << x[0][i];
        EXPECT_TRUE(x[2][37] != x[2][37] || same(beside[37], alone[1])) << number;
      }
    }
  }
}
template <class T>
void check_all_near() {
  using Limits = std::numeric_limits<T>;
  constexpr T inf = Limits::infinity(), nan = Limits::quiet_NaN(), tiny = Limits::denorm_min();
  constexpr T high = sizeof(T) == 4 ? T(87) : T(708);
  check_near<T>(UnaryOp::exp, -high, high, {-high * 2, high * 2, -inf, inf, nan, -nan});
  check_near<T>(UnaryOp::sigmoid, -high, high, {-high * 2, high * 2, -inf, inf, nan, -nan});
  check_near<T>(UnaryOp::log, Limits::min(), Limits::max(), {T(0), T(-0.0), tiny, T(-1), inf, nan});
  for (const UnaryOp op : {UnaryOp::sin, UnaryOp::cos})
    for (const T most : {T(512), T(32768)})
      check_near<T>(op, -most, most, {T(-1000), T(1e30), T(-2e5), -inf, nan});
}
TEST(CpuLoops, AFarNumberLeavesItsNeighboursAloneFloat) { check_all_near<float>(); }
TEST(CpuLoops, AFarNumberLeavesItsNeighboursAloneDouble) { check_all_near<double>(); }

// The processor's comparisons of magnitudes may skip the number beside such a NaN.
TEST(CpuLoops, ASignalingNanHidesNoFarNumber) {
  for (const InstructionSet set : instruction_sets())
    for (const UnaryOp op : {UnaryOp::sin, UnaryOp::cos, UnaryOp::sigmoid}) {
      const Loop loop = loops_of(set, kFloat).map[static_cast<int>(op)];
      const std::vector<float> far[3] = {{1e6f}, {1e6f}, {1e6f}};
      const float alone = run<float, float>(loop, 0, 1, far)[0];
      for (const size_t apart : {16, 32, 64}) {
        std::vector<float> x[3] = {operands<float>(100), operands<float>(100),
                                   operands<float>(100)};
        for (float& number : x[0]) number = static_cast<float>(real(-1, 1));
        x[0][5] = 1e6f, x[0][5 + apart] = std::numeric_limits<float>::signaling_NaN();
        EXPECT_EQ((run<float, float>(loop, 0, 100, x)[5]), alone) << name_of(op) << " at " << apart;
      }
    }
}

TEST(CpuLoops, FarAnglesAreThoseOfTheLibrary) {
  for (const InstructionSet set : instruction_sets())
    for (const double angle : {1e6, -1e30}) {
      const Loop sine = loops_of(set, kDouble).map[static_cast<int>(UnaryOp::sin)];
      const std::vector<double> x[3] = {{angle}, {angle}, {angle}};
      EXPECT_EQ((run<double, double>(sine, 0, 1, x)[0]), std::sin(angle));
    }
}

// Any bits, where they are a number; of floating point numbers those that int64 holds, and NaN.
template <class T>
std::vector<T> numbers(int64_t n, bool with_nan) {
  std::vector<T> out;
  for (int64_t i = 0; i < n; ++i)
    if constexpr (std::is_same_v<T, bool>)
      out.push_back(pick(0, 1) != 0);
    else if constexpr (std::is_integral_v<T>)
      out.push_back(pick(0, 3) ? static_cast<T>(test::rng()()) : static_cast<T>(pick(0, 3)));
    else if (with_nan && pick(0, 9) == 0)
      out.push_back(static_cast<T>(std::numeric_limits<float>::quiet_NaN()));
    else
      out.push_back(static_cast<T>(static_cast<float>(real(-3, 3) * std::pow(10, pick(-6, 4)))));
  return out;
}
// vector<bool> has no elements in memory.
template <class T>
std::unique_ptr<T[]> in_memory(const std::vector<T>& x) {
  auto out = std::make_unique<T[]>(x.size());
  for (size_t i = 0; i < x.size(); ++i) out[i] = x[i];
  return out;
}

template <class T>
void check_narrow(InstructionSet set) {
  constexpr size_t n = 150;
  for_each_loop<T>(set, [&](const char* table, size_t op, Loop loop, int inputs, bool compares) {
    const Loops& wide = loops_of(instruction_sets()[0], kLong);
    const Loop reference = table == std::string("map")   ? wide.map[op]
                           : table == std::string("zip") ? wide.zip[op]
                                                         : wide.ternary[op];
    const void* in[] = {nullptr, nullptr, nullptr, &kNumber<T>};
    const void* wide_in[] = {nullptr, nullptr, nullptr, &kNumber<int64_t>};
    std::unique_ptr<T[]> x[3];
    std::vector<int64_t> widened[3];
    for (int i = 0; i < inputs; ++i) {
      x[i] = in_memory(numbers<T>(n, false));
      widened[i].assign(x[i].get(), x[i].get() + n);
      in[i] = x[i].get(), wide_in[i] = widened[i].data();
    }
    T got[n];
    bool got_bool[n], want_bool[n];
    int64_t want[n];
    loop(n, compares ? static_cast<void*>(got_bool) : got, in);
    reference(n, compares ? static_cast<void*>(want_bool) : want, wide_in);
    for (size_t i = 0; i < n; ++i)
      if (compares)
        ASSERT_EQ(got_bool[i], want_bool[i]) << table << op << " in " << dtype_of<T>;
      else
        ASSERT_EQ(got[i], static_cast<T>(want[i])) << table << op << " in " << dtype_of<T>;
  });
}
TEST(CpuLoops, NarrowIntegersGiveWhatInt64DoesWrappedAround) {
  for (const InstructionSet set : instruction_sets()) {
    check_narrow<bool>(set);
    check_narrow<uint8_t>(set), check_narrow<int8_t>(set);
    check_narrow<int16_t>(set), check_narrow<int32_t>(set);
    EXPECT_TRUE(loops_of(set, kByte).zip[static_cast<int>(BinaryOp::add)]);
    EXPECT_FALSE(loops_of(set, kBool).zip[static_cast<int>(BinaryOp::add)]) << "true + true is 2";
  }
}

template <class From, class To>
void check_conversion(Loop loop) {
  for (const size_t n : {1, 7, 100, 513}) {
    // NaN has no defined value as an integer.
    const bool with_nan = isFloatingType(dtype_of<To>) || dtype_of<To> == kBool;
    const auto x = in_memory(numbers<From>(static_cast<int64_t>(n), with_nan));
    const auto got = std::make_unique<To[]>(n);
    const void* const in[] = {x.get()};
    loop(static_cast<int64_t>(n), got.get(), in);
    for (size_t i = 0; i < n; ++i) {
      const To want = convert<To>(x[i]);
      if (want == want)
        ASSERT_EQ(std::memcmp(&got[i], &want, sizeof(To)), 0) << dtype_of<From> << dtype_of<To>;
      else
        ASSERT_TRUE(got[i] != got[i]) << dtype_of<From> << dtype_of<To>;
    }
  }
}
TEST(CpuLoops, ConversionsAreThoseOfOneNumber) {
  int found = 0;
  for (const InstructionSet set : instruction_sets())
    for (int from = 0; from < kDtypes; ++from)
      for (int to = 0; to < kDtypes; ++to) {
        const auto source = static_cast<ScalarType>(from), target = static_cast<ScalarType>(to);
        const Loop loop = loops_of(set, source).convert[to];
        ASSERT_EQ(loop != nullptr, from != to && converts_at_once(source, target));
        if (!loop) continue;
        ++found;
        visit(source, [&]<class From>(TypeTag<From>) {
          visit(target, [&]<class To>(TypeTag<To>) { check_conversion<From, To>(loop); });
        });
      }
  EXPECT_GE(found, 60);
}

}  // namespace
}  // namespace gradus::cpu
