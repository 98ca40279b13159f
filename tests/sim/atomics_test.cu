// Atomic operations of every kind and type, on global and shared memory, against the host.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "tests/random.h"
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using SimAtomicTest = SimTest;
constexpr unsigned kBlocks = 4, kThreads = 96, kAll = kBlocks * kThreads;

// An operation on memory of all blocks, and the same in shared memory.
template <class T, class Op>
__global__ void atomic_kernel(const T* x, T* global, T* of_blocks, T start, Op op) {
  __shared__ T shared;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) shared = start;
  __syncthreads();
  op(global, x[i]);
  op(&shared, x[i]);
  __syncthreads();
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = shared;
}

template <class T>
std::vector<T> random_values() {
  std::vector<T> out(kAll);
  for (T& each : out)
    if constexpr (std::is_integral_v<T>)
      each = static_cast<T>(test::rng()());
    else  // whole numbers, so that sums do not depend on their order
      each = static_cast<T>(test::pick(-1000, 1000));
  return out;
}

template <class T, class Op, class Reference>
void expect_atomic(T start, Op op, Reference reference) {
  const std::vector<T> x = random_values<T>();
  const DeviceArray<T> from(x), global(1, start), of_blocks(kBlocks);
  launch(atomic_kernel<T, Op>, {kBlocks, kThreads}, from, global, of_blocks, start, op);
  EXPECT_EQ(global.values()[0], std::accumulate(x.begin(), x.end(), start, reference));
  const std::vector<T> got = of_blocks.values();
  for (unsigned b = 0; b < kBlocks; ++b) {
    const auto begin = x.begin() + b * kThreads;
    EXPECT_EQ(got[b], std::accumulate(begin, begin + kThreads, start, reference));
  }
}

// Wraps, as unsigned numbers do.
template <class T>
T wrapped_sum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                          static_cast<std::make_unsigned_t<T>>(b));
}

template <class T>
void expect_add() {
  expect_atomic<T>(
      T(5), [] __device__(T * at, T x) { atomicAdd(at, x); }, wrapped_sum<T>);
}
template <class T>
void expect_sub() {
  expect_atomic<T>(
      T(5), [] __device__(T * at, T x) { atomicSub(at, x); },
      [](T a, T b) { return wrapped_sum(a, static_cast<T>(0u - static_cast<unsigned>(b))); });
}
template <class T>
void expect_min_max() {
  using Limits = std::numeric_limits<T>;
  expect_atomic<T>(
      Limits::max(), [] __device__(T * at, T x) { atomicMin(at, x); },
      [](T a, T b) { return std::min(a, b); });
  expect_atomic<T>(
      Limits::min(), [] __device__(T * at, T x) { atomicMax(at, x); },
      [](T a, T b) { return std::max(a, b); });
}
template <class T>
void expect_bits() {
  expect_atomic<T>(
      static_cast<T>(~T{0}), [] __device__(T * at, T x) { atomicAnd(at, x | T{0x10}); },
      [](T a, T b) { return static_cast<T>(a & (b | T{0x10})); });
  expect_atomic<T>(
      T{0}, [] __device__(T * at, T x) { atomicOr(at, x & T{0x1234567}); },
      [](T a, T b) { return static_cast<T>(a | (b & T{0x1234567})); });
  expect_atomic<T>(
      T{1}, [] __device__(T * at, T x) { atomicXor(at, x); }, std::bit_xor<T>());
}

TEST_F(SimAtomicTest, Add) {
  expect_add<int>();
  expect_add<unsigned>();
  expect_add<unsigned long long>();
  expect_add<float>();
  expect_add<double>();
}

TEST_F(SimAtomicTest, Sub) {
  expect_sub<int>();
  expect_sub<unsigned>();
}

TEST_F(SimAtomicTest, MinAndMax) {
  expect_min_max<int>();
  expect_min_max<unsigned>();
  expect_min_max<long long>();
  expect_min_max<unsigned long long>();
}

TEST_F(SimAtomicTest, Bits) {
  expect_bits<int>();
  expect_bits<unsigned>();
  expect_bits<long long>();
  expect_bits<unsigned long long>();
}

// --- Pairs and numbers of 16 bits, and the variants for a block and for the system
__global__ void add_vectors_kernel(float2* two, float4* four, float4* before) {
  atomicAdd(two, make_float2(1, 2));
  before[threadIdx.x] = atomicAdd(four, make_float4(1, 2, 3, 4));
}
TEST_F(SimAtomicTest, AddVectors) {
  const DeviceArray<float2> two(1, make_float2(0, 5));
  const DeviceArray<float4> four(1, make_float4(0, 0, 0, 5)), before(64);
  launch(add_vectors_kernel, {1, 64}, two, four, before);
  EXPECT_EQ(two.values()[0].x, 64);
  EXPECT_EQ(two.values()[0].y, 133);
  const float4 got = four.values()[0];
  EXPECT_EQ((std::vector{got.x, got.y, got.z, got.w}), (std::vector<float>{64, 128, 192, 261}));
  float sum = 0;
  for (const float4& each : before.values()) sum += each.y;
  EXPECT_EQ(sum, 2 * 63 * 64 / 2);
}

template <class Half, class Half2>
__global__ void add_halves_kernel(Half* one, Half2* two, Half one_more, Half2 two_more) {
  atomicAdd(one, one_more);
  atomicAdd(two, two_more);
}
template <class Half, class Half2>
void expect_halves_add() {
  const Half zero(0.f), one(1.f), two(2.f);
  const DeviceArray<Half> single(2, zero);
  const DeviceArray<Half2> pair(1, Half2(zero, zero));
  launch(add_halves_kernel<Half, Half2>, {2, 32}, single + 1, pair, one, Half2(one, two));
  EXPECT_EQ(static_cast<float>(single.values()[0]), 0);
  EXPECT_EQ(static_cast<float>(single.values()[1]), 64);
  EXPECT_EQ(static_cast<float>(pair.values()[0].x), 64);
  EXPECT_EQ(static_cast<float>(pair.values()[0].y), 128);
}
TEST_F(SimAtomicTest, AddNumbersOf16Bits) {
  expect_halves_add<__half, __half2>();
  expect_halves_add<__nv_bfloat16, __nv_bfloat162>();
}

__global__ void variants_kernel(int* out, unsigned* wraps, long long* wide, float* real) {
  atomicAdd_block(out, 1);
  atomicSub_system(out, 2);
  atomicMax_block(wide, 1ll << 40);
  atomicOr_system(wide, 1ll);
  atomicInc_block(wraps, 9u);
  atomicExch_block(real, 2.f);
  atomicCAS_system(out, -32, 7);
}
TEST_F(SimAtomicTest, VariantsForABlockAndForTheSystem) {
  const DeviceArray<int> out(1, 0);
  const DeviceArray<unsigned> wraps(1, 0u);
  const DeviceArray<long long> wide(1, 0ll);
  const DeviceArray<float> real(1, 0.f);
  launch(variants_kernel, {1, 32}, out, wraps, wide, real);
  EXPECT_EQ(out.values()[0], 7);
  EXPECT_EQ(wraps.values()[0], 2u);
  EXPECT_EQ(wide.values()[0], (1ll << 40) + 1);
  EXPECT_EQ(real.values()[0], 2.f);
}

TEST_F(SimAtomicTest, IncAndDecWrap) {
  // 384 steps among 11 values, from 2 up and down.
  expect_atomic<unsigned>(
      2, [] __device__(unsigned* at, unsigned) { atomicInc(at, 10); },
      [](unsigned a, unsigned) { return (a + 1) % 11; });
  expect_atomic<unsigned>(
      2, [] __device__(unsigned* at, unsigned) { atomicDec(at, 10); },
      [](unsigned a, unsigned) { return (a + 10) % 11; });
  // From above the limit, up goes to 0 and down to the limit.
  expect_atomic<unsigned>(
      700, [] __device__(unsigned* at, unsigned) { atomicInc(at, 600); },
      [](unsigned a, unsigned) { return a >= 600 ? 0 : a + 1; });
  expect_atomic<unsigned>(
      700, [] __device__(unsigned* at, unsigned) { atomicDec(at, 600); },
      [](unsigned a, unsigned) { return a == 0 || a > 600 ? 600 : a - 1; });
}

// Tickets: each old value is seen by one thread.
template <class T>
__global__ void tickets_kernel(T* next, T* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(next, T(1));
}
// Each thread stores its number, and takes that of the thread before.
template <class T>
__global__ void exchange_kernel(T* slot, T* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = atomicExch(slot, static_cast<T>(i));
}

// All numbers below n are there, each once.
template <class T>
void expect_each_once(std::vector<T> got) {
  std::sort(got.begin(), got.end());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], static_cast<T>(i));
}

template <class T>
void expect_tickets() {
  const DeviceArray<T> next(1, T(0)), out(kAll);
  launch(tickets_kernel<T>, {kBlocks, kThreads}, next, out);
  expect_each_once(out.values());
}
template <class T>
void expect_exchange() {
  const DeviceArray<T> slot(1, static_cast<T>(kAll)), out(kAll);
  launch(exchange_kernel<T>, {kBlocks, kThreads}, slot, out);
  std::vector<T> got = out.values();
  got.push_back(slot.values()[0]);
  expect_each_once(std::move(got));
}

TEST_F(SimAtomicTest, TheOldValueIsSeenOnce) {
  expect_tickets<int>();
  expect_tickets<unsigned>();
  expect_tickets<unsigned long long>();
  expect_tickets<float>();
  expect_tickets<double>();
}

TEST_F(SimAtomicTest, Exchange) {
  expect_exchange<int>();
  expect_exchange<unsigned>();
  expect_exchange<unsigned long long>();
  expect_exchange<float>();
}

// The largest number, without an atomic maximum: swaps bits until no other thread interferes.
__global__ void largest_double_kernel(const double* x, double* out) {
  auto* const bits = reinterpret_cast<unsigned long long*>(out);
  const double value = x[blockIdx.x * blockDim.x + threadIdx.x];
  unsigned long long seen = atomicCAS(bits, 0, 0);
  while (__longlong_as_double(static_cast<long long>(seen)) < value) {
    const unsigned long long before = seen;
    seen = atomicCAS(bits, before, static_cast<unsigned long long>(__double_as_longlong(value)));
    if (seen == before) break;
  }
}

// The expected and the stored value may differ.
template <class T>
__global__ void compare_and_swap_kernel(T* slots, T* old) {
  const unsigned i = threadIdx.x;
  old[i] = atomicCAS(&slots[i], 3, 100);
}
template <class T>
void expect_compare_and_swap() {
  std::vector<T> slots(8);
  std::iota(slots.begin(), slots.end(), T(0));
  const DeviceArray<T> on_device(slots), old(8);
  launch(compare_and_swap_kernel<T>, {1, 8}, on_device, old);
  EXPECT_EQ(old.values(), slots);
  slots[3] = 100;
  EXPECT_EQ(on_device.values(), slots);
}

TEST_F(SimAtomicTest, CompareAndSwap) {
  expect_compare_and_swap<int>();
  expect_compare_and_swap<unsigned>();
  expect_compare_and_swap<unsigned short>();
  expect_compare_and_swap<unsigned long long>();
  const std::vector<double> x = random_values<double>();
  const DeviceArray<double> from(x), largest(1, -1e9);
  launch(largest_double_kernel, {kBlocks, kThreads}, from, largest);
  EXPECT_EQ(largest.values()[0], *std::max_element(x.begin(), x.end()));
}

}  // namespace
}  // namespace gradus
