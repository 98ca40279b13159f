// Hopper's operations on the simulator: boxes, barriers that count bytes, products of warpgroups,
// and the library's own kernel for products of half types against sums in float64.
#include "gradus/cuda/kernels/hopper/matmul_wgmma.cuh"
#include "gradus/cuda/runtime/tensor_maps.h"
#include "tests/random.h"
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using cuda::Boxes, cuda::map_of;
using SimHopperTest = SimTest;

// --- Boxes
// One block copies a box to shared memory, looks at it as it lies there, and stores it elsewhere.
__global__ void box_kernel(const __grid_constant__ CUtensorMap from,
                           const __grid_constant__ CUtensorMap to, int x, int y, float* seen) {
  using namespace cuda::hopper;
  alignas(1024) __shared__ float box[8 * 32];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) init_barrier(&barrier, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    arrive_and_expect(&barrier, sizeof box);
    copy_box(box, from, &barrier, x, y, 0);
  }
  wait_for(&barrier, 0);
  for (unsigned i = threadIdx.x; i < 8 * 32; i += 32) seen[i] = box[i];
  if (threadIdx.x == 0) {
    store_box(to, box, x, y, 0);
    end_stores();
    wait_for_stores();
  }
}

TEST_F(SimHopperTest, BoxesAreSwizzledAndFilledWithZeros) {
  const int width = 40, lines = 10;  // of floats
  std::vector<float> x(width * lines);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  const DeviceArray<float> from(x), to(x.size(), 0.f), seen(8 * 32);
  const auto map = [&](const float* data) {
    return map_of(Boxes{data,
                        CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                        4,
                        {width, lines, 1},
                        {width, width * lines},
                        {32, 8, 1}},
                  "test", "nothing");
  };
  for (const auto& [left, top] : {std::pair(0, 0), {8, 2}, {16, 5}, {-4, -3}, {36, 9}}) {
    launch(box_kernel, {1, 32}, map(from), map(to), left, top, seen);
    const std::vector<float> found = seen.values(), stored = to.values();
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 32; ++c) {
        const int row = top + r, col = left + c;
        const bool inside = row >= 0 && row < lines && col >= 0 && col < width;
        const float expected = inside ? x[static_cast<size_t>(row * width + col)] : 0;
        ASSERT_EQ(found[static_cast<size_t>(r * 32 + ((c / 4) ^ r) * 4 + c % 4)], expected)
            << left << " " << top << " " << r << " " << c;
        if (inside) {
          ASSERT_EQ(stored[static_cast<size_t>(row * width + col)], expected);
        }
      }
  }
}

// One block adds lines of 128 bytes, all of `value`, to what a tensor has: a box, or pixels.
template <class T>
__global__ void adding_kernel(const __grid_constant__ CUtensorMap to, bool pixels, int x, int y,
                              T value) {
  using namespace cuda::hopper;
  constexpr int kElements = 6 * 128 / static_cast<int>(sizeof(T));
  alignas(1024) __shared__ T lines[kElements];
  for (int i = static_cast<int>(threadIdx.x); i < kElements; i += 32) lines[i] = value;
  publish_to_copies();
  __syncwarp();
  if (threadIdx.x == 0) {
    pixels ? add_pixels(to, lines, x, y, 0, 0) : add_box(to, lines, x, y, 0);
    end_stores();
    wait_for_stores();
  }
}

template <class T>
void check_additions(CUtensorMapDataType type) {
  constexpr int kLine = 128 / static_cast<int>(sizeof(T)), kBytes = static_cast<int>(sizeof(T));
  const int width = kLine + 8, lines = 9;
  std::vector<T> x(static_cast<size_t>(width * lines));
  for (size_t i = 0; i < x.size(); ++i) x[i] = T(static_cast<float>(i % 13));
  const DeviceArray<T> boxes(x);
  launch(
      adding_kernel<T>, {1, 32},
      map_of(Boxes{boxes, type, kBytes, {width, lines, 1}, {width, width * lines}, {kLine, 6, 1}},
             "test", "nothing"),
      false, 16, 5, T(2.5f));
  const std::vector<T> sums = boxes.values();
  for (int i = 0; i < width * lines; ++i) {
    const bool inside = i / width >= 5 && i % width >= 16;
    ASSERT_EQ(static_cast<float>(sums[static_cast<size_t>(i)]),
              static_cast<float>(i % 13) + (inside ? 2.5f : 0.f));
  }
  // Every second pixel of 5 x 3, from the second of a line on: two in each.
  const std::vector<T> ones(static_cast<size_t>(2 * 3 * 5 * kLine), T(1.f));
  const DeviceArray<T> images(ones);
  launch(adding_kernel<T>, {1, 32},
         map_of(
             cuda::PixelColumns{
                 images, type, kBytes, {kLine, 5, 3, 2}, kLine, {1, 0}, {-1, 0}, {2, 1}, 6, kLine},
             "test", "nothing"),
         true, 0, 3, T(2.f));
  const std::vector<T> added = images.values();
  for (int i = 0; i < 2 * 3 * 5; ++i) {
    const bool chosen = i % 5 % 2 == 1 && i >= 3 && i < 3 * 5 + 2;
    ASSERT_EQ(static_cast<float>(added[static_cast<size_t>(i * kLine)]), chosen ? 3.f : 1.f) << i;
  }
}

TEST_F(SimHopperTest, BoxesAndPixelsAreAdded) {
  check_additions<float>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  check_additions<BFloat16>(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  check_additions<Half>(CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
}

// --- Swizzles. Lines of boxes have 16 bytes without one, else 32, 64 or 128.
// out (64, 64) = a (64, terms) b (64, terms)^T, as many terms as a line has, or 16.
template <int kSwizzle>
__global__ void swizzled_product(const __grid_constant__ CUtensorMap a,
                                 const __grid_constant__ CUtensorMap b, float* out) {
  using namespace cuda::hopper;
  extern __shared__ __align__(1024) char boxes[];
  constexpr int kLine = 16 << kSwizzle, kBoxes = kSwizzle == 0 ? 2 : 1,
                kBytes = 64 * kLine * kBoxes;
  auto* const barrier = reinterpret_cast<uint64_t*>(boxes + 2 * kBoxBytes);
  if (threadIdx.x == 0) init_barrier(barrier, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    arrive_and_expect(barrier, 2 * kBytes);
    for (int i = 0; i < kBoxes; ++i) {
      copy_box(boxes + i * 64 * kLine, a, barrier, 8 * i, 0, 0);
      copy_box(boxes + kBoxBytes + i * 64 * kLine, b, barrier, 8 * i, 0, 0);
    }
  }
  wait_for(barrier, 0);
  const auto operand = [](const void* at) {
    constexpr uint64_t kCode = (4 - kSwizzle) % 4;
    return uint64_t{(shared_address(at) & 0x3ffff) >> 4} | uint64_t{64 * 16 >> 4} << 16 |
           uint64_t{8 * kLine >> 4} << 32 | kCode << 62;
  };
  const uint64_t of_a = operand(boxes), of_b = operand(boxes + kBoxBytes);
  float sums[32];
  begin_products();
  for (int i = 0; i < kLine * kBoxes / 32; ++i)
    multiply<BFloat16, 64, false, false>(sums, of_a + 2 * i, of_b + 2 * i, i > 0);
  end_products();
  wait_for_products<0>();
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  for (int i = 0; i < 32; ++i)
    out[(row + i % 4 / 2 * 8) * 64 + i / 4 * 8 + lane % 4 * 2 + i % 2] = sums[i];
}

template <int kSwizzle>
void check_swizzle() {
  const int terms = kSwizzle == 0 ? 16 : 8 << kSwizzle;
  const auto random = [&] {
    std::vector<BFloat16> out(static_cast<size_t>(64 * terms));
    for (BFloat16& each : out) each = BFloat16(static_cast<float>(test::pick(-64, 64)) / 16);
    return out;
  };
  const std::vector<BFloat16> a = random(), b = random();
  const DeviceArray<BFloat16> on_a(a), on_b(b);
  const DeviceArray<float> out(64 * 64);
  const auto map = [&](BFloat16* data) {
    const cuuint64_t sizes[] = {static_cast<cuuint64_t>(terms), 64, 1};
    const cuuint64_t strides[] = {2 * sizes[0], 128 * sizes[0]};
    const cuuint32_t box[] = {8u << kSwizzle, 64, 1}, steps[] = {1, 1, 1};
    CUtensorMap made;
    EXPECT_EQ(cuTensorMapEncodeTiled(
                  &made, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, data, sizes, strides, box, steps,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(kSwizzle),
                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
              CUDA_SUCCESS);
    return made;
  };
  const auto counts = counts_of([&] {
    launch(swizzled_product<kSwizzle>, {1, 128, 3 * cuda::hopper::kBoxBytes}, map(on_a), map(on_b),
           out);
  });
  EXPECT_EQ(counts.tensor_products, 64 * 64 * terms);
  const std::vector<float> found = out.values();
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < 64; ++column) {
      double sum = 0;
      for (int k = 0; k < terms; ++k)
        sum += static_cast<double>(static_cast<float>(a[static_cast<size_t>(row * terms + k)])) *
               static_cast<double>(static_cast<float>(b[static_cast<size_t>(column * terms + k)]));
      ASSERT_EQ(found[static_cast<size_t>(row * 64 + column)], static_cast<float>(sum))
          << kSwizzle << " " << row << " " << column;
    }
}

TEST_F(SimHopperTest, ProductsOfEachSwizzle) {
  check_swizzle<0>();
  check_swizzle<1>();
  check_swizzle<2>();
  check_swizzle<3>();
}

// --- The library's kernel for products of half types
struct ProductCase {
  int m, n, k, batches;
  bool along_a, along_b, bias, boxes;
};

template <class T>
void check_product(const ProductCase& of) {
  using Tile = cuda::WgmmaTile<1, 64, 1>;
  const auto rounded = [](int64_t x) { return (x + 7) / 8 * 8; };
  const auto random = [](int64_t count) {
    std::vector<T> out(static_cast<size_t>(count));
    for (T& each : out) each = T(static_cast<float>(test::pick(-64, 64)) / 16);
    return out;
  };
  // Lines hold rows of a and columns of b, or terms.
  const int64_t a_line = rounded(of.along_a ? of.m : of.k), a_lines = of.along_a ? of.k : of.m;
  const int64_t b_line = rounded(of.along_b ? of.n : of.k), b_lines = of.along_b ? of.k : of.n;
  const auto a = random(a_line * a_lines * of.batches), b = random(b_line * b_lines * of.batches);
  const auto bias = random(of.n);
  const DeviceArray<T> on_a(a), on_b(b), on_bias(bias);
  const DeviceArray<T> out(std::vector<T>(static_cast<size_t>(of.m * of.n * of.batches)));
  const auto map = [](const T* data, int64_t width, int64_t lines, int64_t batches, int64_t line) {
    const auto type = std::is_same_v<T, BFloat16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                  : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    return map_of(Boxes{data, type, 2, {width, lines, batches}, {line, line * lines}, {64, 64, 1}},
                  "test", "nothing");
  };
  const cuda::WgmmaArgs<T> args = {
      map(on_a, of.along_a ? of.m : of.k, a_lines, of.batches, a_line),
      map(on_b, of.along_b ? of.n : of.k, b_lines, of.batches, b_line),
      of.boxes ? map(out, of.n, of.m, of.batches, of.n) : CUtensorMap{},
      of.boxes ? nullptr : static_cast<T*>(out),
      of.bias ? static_cast<const T*>(on_bias) : nullptr,
      of.m,
      of.n,
      of.k,
      of.batches};
  constexpr cuda::WgmmaRun<T>* runs[2][2] = {
      {cuda::matmul_wgmma<T, Tile, false, false>, cuda::matmul_wgmma<T, Tile, false, true>},
      {cuda::matmul_wgmma<T, Tile, true, false>, cuda::matmul_wgmma<T, Tile, true, true>}};
  launch(runs[of.along_a][of.along_b], {2, Tile::kThreads, Tile::kSharedBytes}, args);
  const std::vector<T> found = out.values();
  for (int z = 0; z < of.batches; ++z)
    for (int row = 0; row < of.m; ++row)
      for (int col = 0; col < of.n; ++col) {
        double sum = of.bias ? static_cast<double>(static_cast<float>(bias[col])) : 0;
        for (int k = 0; k < of.k; ++k) {
          const int64_t i = of.along_a ? k * a_line + row : row * a_line + k;
          const int64_t j = of.along_b ? k * b_line + col : col * b_line + k;
          sum += static_cast<double>(static_cast<float>(a[z * a_line * a_lines + i])) *
                 static_cast<double>(static_cast<float>(b[z * b_line * b_lines + j]));
        }
        const T expected = T(static_cast<float>(sum));
        ASSERT_EQ(static_cast<float>(found[(int64_t{z} * of.m + row) * of.n + col]),
                  static_cast<float>(expected))
            << row << " " << col << " of " << z;
      }
}

TEST_F(SimHopperTest, TheLibrarysProductsOfHalfTypes) {
  for (const bool along_a : {false, true})
    for (const bool along_b : {false, true}) {
      SCOPED_TRACE(std::to_string(along_a) + std::to_string(along_b));
      check_product<BFloat16>({70, 72, 200, 2, along_a, along_b, true, true});
      check_product<Half>({64, 64, 64, 1, along_a, along_b, false, true});
    }
  check_product<BFloat16>({65, 67, 100, 1, false, true, true, false});  // lines of an odd length
}

}  // namespace
}  // namespace gradus
