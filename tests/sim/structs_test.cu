// Structs: the bytes between their members, and their alignment.
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using cuda::sim::Finding, cuda::sim::Kind, cuda::sim::take_findings;
using SimStructsTest = SimFindingsTest;

// Members written one by one, then copied in one piece, with the bytes between them.
struct DoubleInt {
  double value;
  int index;
};
struct CharInt {
  char tag;
  int value;
};
struct CharShort {
  char tag;
  short value;
};
struct Particle {
  float x, y, z;
  bool alive;
};
struct alignas(16) Point {
  float x, y, z;
};
__device__ void set(DoubleInt& out, int i) { out.value = i, out.index = i; }
__device__ void set(CharInt& out, int i) { out.tag = 'a', out.value = i; }
__device__ void set(CharShort& out, int i) { out.tag = 'a', out.value = static_cast<short>(i); }
__device__ void set(Particle& out, int i) { out.x = out.y = out.z = 1, out.alive = i > 3; }
__device__ void set(Point& out, int i) { out.x = out.y = out.z = static_cast<float>(i); }

template <class T>
__global__ void copy_padded_kernel(T* made, T* copied) {
  __shared__ T shared[32];
  const unsigned t = threadIdx.x;
  set(made[t], static_cast<int>(t));
  set(shared[t], static_cast<int>(t));
  __syncthreads();
  copied[t] = made[31 - t];
  copied[32 + t] = shared[31 - t];
}

template <class T>
class SimPaddingTest : public SimFindingsTest {};
using PaddedTypes = testing::Types<DoubleInt, CharInt, CharShort, Particle, Point>;
TYPED_TEST_SUITE(SimPaddingTest, PaddedTypes);

TYPED_TEST(SimPaddingTest, BytesBetweenMembersNeedNoValue) {
  const DeviceArray<TypeParam> made(32), copied(64);
  launch(copy_padded_kernel<TypeParam>, {1, 32}, made, copied);
  EXPECT_EQ(text_of(take_findings()), "");
}

// One component was never written. A read of that component alone is reported.
__global__ void components_kernel(float4* x, float* out, bool all) {
  x->x = x->y = x->z = 1;
  float4 copy = *x;
  out[0] = copy.x;
  out[1] = all ? x->w : 0;
}

TEST_F(SimStructsTest, WhatIsMissingInAStructStaysUnwritten) {
  const DeviceArray<float4> x(1);
  const DeviceArray<float> out(2);
  launch(components_kernel, {1, 1}, x, out, false);
  EXPECT_EQ(text_of(take_findings()), "");
  launch(components_kernel, {1, 1}, x, out, true);
  EXPECT_EQ(take_findings().at(0).kind, Kind::unwritten);
}

__global__ void read_struct_kernel(const DoubleInt* x, double* out) {
  const DoubleInt copy = *x;
  *out = copy.value + copy.index;
}

TEST_F(SimStructsTest, AStructThatNobodyWroteIsUnwritten) {
  const DeviceArray<DoubleInt> x(1);
  const DeviceArray<double> out(1);
  launch(read_struct_kernel, {1, 1}, x, out);
  EXPECT_EQ(take_findings().at(0).kind, Kind::unwritten);
}

// 16 bytes, but for 8 of alignment.
struct Slice {
  const float* data;
  long size;
};
struct Job {
  long id;
  Slice slice;
};
__global__ void slices_kernel(const Job* jobs, Slice* out) {
  out[threadIdx.x] = jobs[threadIdx.x].slice;
}

TEST_F(SimStructsTest, ASliceNeedsTheAlignmentOfAPointer) {
  const std::vector<Job> jobs(4, {1, {nullptr, 7}});
  const DeviceArray<Job> x(jobs);
  const DeviceArray<Slice> out(4);
  launch(slices_kernel, {1, 4}, x, out);
  EXPECT_EQ(text_of(take_findings()), "");
  EXPECT_EQ(out.values().at(3).size, 7);
}

template <class T>
__global__ void read_kernel(const T* x, T* out) {
  *out = *x;
}
template <class T>
__global__ void write_kernel(T* out, T value) {
  *out = value;
}
struct alignas(16) Eight {
  float values[8];
};
struct Misaligned {
  template <class T>
  static void expect(size_t needed) {
    const DeviceArray<char> bytes(2 * sizeof(T), 0);
    const DeviceArray<T> out(1);
    char* const at = bytes + needed / 2;
    launch(read_kernel<T>, {1, 1}, reinterpret_cast<const T*>(at), out);
    expect_one(needed);
    launch(write_kernel<T>, {1, 1}, reinterpret_cast<T*>(at), T{});
    expect_one(needed);
  }
  static void expect_one(size_t needed) {
    const std::vector<Finding> found = take_findings();
    ASSERT_EQ(found.size(), 1u) << text_of(found);
    EXPECT_EQ(found[0].kind, Kind::misaligned);
    EXPECT_CONTAINS(found[0].message,
                    "the address is no multiple of " + std::to_string(needed) + ",");
  }
};

TEST_F(SimStructsTest, EveryTypeNeedsItsOwnAlignment) {
  Misaligned::expect<short>(2);
  Misaligned::expect<float>(4);
  Misaligned::expect<float2>(8);
  Misaligned::expect<double>(8);
  Misaligned::expect<Slice>(8);
  Misaligned::expect<float4>(16);
  Misaligned::expect<Eight>(16);
}

// Where the sanitizer does not look for alignments, accesses tell theirs.
template <class T>
__attribute__((no_sanitize("alignment"))) __global__ void copy_unsanitized(const T* x, T* out) {
  *out = *x;
}
template <class T>
__attribute__((no_sanitize("alignment"))) __global__ void copy_at_once(const T* x, T* out) {
  *out = __ldcg(x);
}
TEST_F(SimStructsTest, AnAccessTellsItsAlignmentItself) {
  const DeviceArray<char> bytes(64, 0);
  const auto expect = [&]<class T>(void (*kernel)(const T*, T*), size_t offset, size_t needed) {
    const DeviceArray<T> out(1);
    launch(kernel, {1, 1}, reinterpret_cast<const T*>(bytes + offset), out);
    Misaligned::expect_one(needed);
  };
  expect(copy_unsanitized<short>, 1, 2);
  expect(copy_unsanitized<float>, 2, 4);
  expect(copy_unsanitized<double>, 4, 8);
  expect(copy_unsanitized<float4>, 4, 8);
  expect(copy_at_once<float4>, 8, 16);
  const DeviceArray<float4> out(1);
  launch(copy_unsanitized<float4>, {1, 1}, reinterpret_cast<const float4*>(bytes + 16), out);
  EXPECT_EQ(text_of(take_findings()), "");
}

__global__ void add_kernel(int* sum) { atomicAdd(sum, 1); }

TEST_F(SimStructsTest, AnAtomicOperationNeedsItsAlignment) {
  const DeviceArray<char> bytes(16, 0);
  launch(add_kernel, {1, 1}, reinterpret_cast<int*>(bytes + 2));
  Misaligned::expect_one(4);
}

// The alignment of an address outside of all memory does not matter.
TEST_F(SimStructsTest, AWildPointerIsNotCalledMisaligned) {
  const DeviceArray<float4> out(1);
  launch(read_kernel<float4>, {1, 1}, reinterpret_cast<const float4*>(0xdeadbeef), out);
  EXPECT_EQ(take_findings().at(0).kind, Kind::foreign_memory);
  launch(add_kernel, {1, 1}, reinterpret_cast<int*>(0xdeadbeef));
  EXPECT_EQ(take_findings().at(0).kind, Kind::foreign_memory);
}

// A read of a whole struct finds shared memory of the block before.
struct Blob {
  float values[32];
};
__global__ void stale_kernel(const Blob* x, float* out) {
  __shared__ Blob shared;
  if (blockIdx.x == 0 && threadIdx.x == 0) shared = *x;
  if (blockIdx.x == 1) out[threadIdx.x] = shared.values[threadIdx.x];
}

TEST_F(SimStructsTest, AllOfAStructIsForgottenAfterItsBlock) {
  const DeviceArray<Blob> x(1, Blob{});
  const DeviceArray<float> out(32);
  launch(stale_kernel, {2, 32}, x, out);
  const std::vector<Finding> found = take_findings();
  ASSERT_EQ(found.size(), 1u) << text_of(found);
  EXPECT_EQ(found[0].kind, Kind::unwritten);
  EXPECT_EQ(found[0].times, 32);
}

}  // namespace
}  // namespace gradus
