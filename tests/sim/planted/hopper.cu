// A product of 64 rows by 64 columns as matmul_wgmma makes it, with one mistake at a time: in the
// barriers, the boxes and the products that are under way while others run.
//
// Only simulated devices run them: some never end on a GPU.
#include "gradus/cuda/kernels/hopper/wgmma.cuh"
#include "gradus/cuda/runtime/tensor_maps.h"
#include "tests/sim/planted/planted.h"

namespace gradus::planted {
namespace {

using namespace cuda::hopper;
using cuda::both_halves;

constexpr int kStages = 2, kSteps = 5;

// What each of the bugs changes. A comment `AT bug: places` before a bug names the lines where it
// is found, by the words that end these lines.
struct Right {
  static constexpr bool kWaitsForFull = true, kWaitsForEmpty = true, kFences = true, kEnds = true;
  static constexpr bool kPublishes = true, kMeets = true, kWaitsForStore = true;
  static constexpr bool kInitialises = true, kReadsEarly = false, kAll = true;
  static constexpr int kTurnFull = 0, kTurnEmpty = 0, kPending = 0, kArrivals = 1;
  static constexpr int kExpected = 2 * kBoxBytes, kOffset = 0, kDescribed = 0;
};

struct Maps {
  CUtensorMap a, b, out;
};

template <class Bug>
__device__ void multiply_tile(const Maps& maps) {
  extern __shared__ char shared[];
  char* const stages = shared + (1024 - shared_address(shared) % 1024) % 1024;
  char* const result = stages + 2 * kStages * kBoxBytes;
  auto* const full = reinterpret_cast<uint64_t*>(result + kBoxBytes);
  uint64_t* const empty = full + kStages;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0 && Bug::kInitialises)
    for (int i = 0; i < kStages; ++i) {
      init_barrier(&full[i], 1);
      init_barrier(&empty[i], Bug::kArrivals);
    }
  __syncthreads();
  if (thread >= 128) {
    if (thread > 128) return;
    for (int step = 0; step < kSteps; ++step) {
      const int stage = step % kStages, parity = step / kStages % 2;
      char* const a = stages + 2 * stage * kBoxBytes;
      if (Bug::kWaitsForEmpty)
        wait_for(&empty[stage], parity ^ 1 ^ Bug::kTurnEmpty);            // BUG waits_for_empty
      arrive_and_expect(&full[stage], Bug::kExpected);                    // BUG expects
      copy_box(a + Bug::kOffset, maps.a, &full[stage], 64 * step, 0, 0);  // BUG copies
      copy_box(a + kBoxBytes, maps.b, &full[stage], 64 * step, 0, 0);     // BUG copies
    }
    return;
  }
  float sums[32];
  for (int step = 0; step < kSteps; ++step) {
    const int stage = step % kStages, parity = step / kStages % 2;
    if (Bug::kWaitsForFull) wait_for(&full[stage], parity ^ Bug::kTurnFull);  // BUG waits_for_full
    const char* const from = stages + 2 * stage * kBoxBytes;
    const uint64_t a = describe(from + Bug::kDescribed), b = describe(from + kBoxBytes);
    if (Bug::kFences) begin_products();
    for (int i = 0; i < 4; ++i) {
      const bool adds = step + i > 0;
      if (Bug::kAll || thread < 96)
        multiply<BFloat16, 64, false, false>(sums, a + 2 * i, b + 2 * i, adds);  // BUG multiplies
    }
    if (Bug::kEnds) end_products();
    if (Bug::kReadsEarly) sums[0] += 1;  // BUG adds
    wait_for_products<Bug::kPending>();
    if (thread == 0) arrive(&empty[stage]);
  }
  wait_for_products<0>();
  const int line = thread / 32 * 16 + thread % 16;
  for (int j = 0; j < 8; j += 2) {
    char* const to = result + line * 128 + ((j + thread % 32 / 16) ^ line % 8) * 16;
    uint32_t both[4];
    for (int i = 0; i < 4; ++i) {
      const float* const two = &sums[4 * j + 2 * i];
      both[i] = both_halves<BFloat16>(two[0], two[1]);  // BUG rounds
    }
    store_matrices(to, both[0], both[1], both[2], both[3]);  // BUG writes
  }
  if (Bug::kPublishes) publish_to_copies();
  if (Bug::kMeets) sync_threads<128>(1);
  if (thread == 0) {
    store_box(maps.out, result, 0, 0, 0);  // BUG stores
    end_stores();
    if (Bug::kWaitsForStore) wait_for_stores();
  }
}

template <class Bug>
__global__ void product(const __grid_constant__ Maps maps) {
  multiply_tile<Bug>(maps);
}

template <class Bug>
void run_product() {
  const auto map = [](const BFloat16* data, int width, int lines) {
    return cuda::map_of(cuda::Boxes{data,
                                    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                    2,
                                    {width, lines, 1},
                                    {width, int64_t{width} * lines},
                                    {64, 64, 1}},
                        "planted", "nothing");
  };
  const Buffer<BFloat16> a(64 * 64 * kSteps, BFloat16(1.f)), b(64 * 64 * kSteps, BFloat16(2.f)),
      out(64 * 64, BFloat16(0.f));
  const Maps maps = {map(a, 64 * kSteps, 64), map(b, 64 * kSteps, 64), map(out, 64, 64)};
  constexpr int kBytes = (2 * kStages + 1) * kBoxBytes + 1024 + 256;
  launch(product<Bug>, {1, 256, kBytes}, maps);
  cudaDeviceSynchronize();
}

#define GRADUS_PLANT(name, kind, ...) \
  struct name : Right {               \
    __VA_ARGS__                       \
  };                                  \
  const Plant name##_bug(#name, kind, [] { run_product<name>(); })

GRADUS_PLANT(product_of_a_warpgroup, "", );  // correct
// AT full_not_waited_for: multiplies copies expects
GRADUS_PLANT(full_not_waited_for, "under_way", static constexpr bool kWaitsForFull = false;);
// AT full_turned: multiplies copies expects waits_for_full
GRADUS_PLANT(full_turned, "under_way", static constexpr int kTurnFull = 1;);
// AT empty_not_waited_for: multiplies copies expects waits_for_full
GRADUS_PLANT(empty_not_waited_for, "under_way", static constexpr bool kWaitsForEmpty = false;);
// AT empty_turned: waits_for_empty waits_for_full
GRADUS_PLANT(empty_turned, "stuck", static constexpr int kTurnEmpty = 1;);
// AT expects_too_little: multiplies copies
GRADUS_PLANT(expects_too_little, "under_way", static constexpr int kExpected = kBoxBytes;);
// AT expects_too_much: waits_for_full waits_for_empty
GRADUS_PLANT(expects_too_much, "stuck", static constexpr int kExpected = 3 * kBoxBytes;);
// AT counts_too_many_arrivals: waits_for_empty waits_for_full
GRADUS_PLANT(counts_too_many_arrivals, "stuck", static constexpr int kArrivals = 2;);
// AT never_initialised: waits_for_empty waits_for_full
GRADUS_PLANT(never_initialised, "barrier", static constexpr bool kInitialises = false;);
// AT released_before_the_product: multiplies copies
GRADUS_PLANT(released_before_the_product, "under_way", static constexpr int kPending = 1;);
// AT sums_read_early: multiplies adds
GRADUS_PLANT(sums_read_early, "under_way", static constexpr bool kReadsEarly = true;);
// AT products_not_committed: multiplies copies rounds
GRADUS_PLANT(products_not_committed, "under_way", static constexpr bool kEnds = false;);
// AT products_not_fenced: multiplies
GRADUS_PLANT(products_not_fenced, "under_way", static constexpr bool kFences = false;);
// AT result_not_published: stores writes
GRADUS_PLANT(result_not_published, "race", static constexpr bool kPublishes = false;);
// AT stored_before_all_have_written: stores writes
GRADUS_PLANT(stored_before_all_have_written, "race", static constexpr bool kMeets = false;);
// AT store_not_waited_for: stores
GRADUS_PLANT(store_not_waited_for, "under_way", static constexpr bool kWaitsForStore = false;);
// AT box_not_aligned: copies
GRADUS_PLANT(box_not_aligned, "misaligned", static constexpr int kOffset = 64;);
// AT described_elsewhere: multiplies
GRADUS_PLANT(described_elsewhere, "out_of_bounds", static constexpr int kDescribed = 1 << 16;);
// AT part_of_a_warpgroup: multiplies
GRADUS_PLANT(part_of_a_warpgroup, "warp", static constexpr bool kAll = false;);
#undef GRADUS_PLANT

}  // namespace
}  // namespace gradus::planted
