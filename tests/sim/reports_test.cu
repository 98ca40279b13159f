// The texts of findings and the table of a launch, word for word: they are what users read.
#include <array>
#include <cstring>
#include <set>
#include <sstream>

#include "tests/sim/sim_test.h"

// In no anonymous namespace: compilers differ in what debug information says of those.
namespace gradus::reports {

using cuda::sim::Finding, cuda::sim::Side, cuda::sim::take_findings;

using SimReportTest = SimFindingsTest;

static std::string at(int line) { return "tests/sim/reports_test.cu:" + std::to_string(line); }
static const std::string kHere = " in gradus::reports::";

constexpr int kRaceLine = __LINE__ + 3;
__global__ void race_kernel(int* out) {
  __shared__ int sums[4];
  sums[threadIdx.x % 2 + 2] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = sums[2];
}

TEST_F(SimReportTest, ARaceNamesBothSides) {
  const DeviceArray<int> out(4);
  launch(race_kernel, {1, 4}, out);
  EXPECT_EQ(text_of(take_findings()),
            "race" + kHere +
                "race_kernel: two threads meet at byte 8 of sums; should only one of " +
                "them store there, or is a barrier missing? (2 times)\n" +  //
                "  writes 4 bytes, block (0, 0, 0), thread (2, 0, 0) at " + at(kRaceLine) + kHere +
                "race_kernel\n" +  //
                "  writes, block (0, 0, 0), thread (0, 0, 0) at " + at(kRaceLine) + kHere +
                "race_kernel\n");
}

constexpr int kTwiceLine = __LINE__ + 7;
__global__ void twice_kernel(int* out) {
  __shared__ int all[64];
  all[threadIdx.x] = 0;
  __syncthreads();
  all[threadIdx.x] = 1;
  const int other = static_cast<int>(threadIdx.x + 7) % 32;
  *(out + threadIdx.x) = all[other] + all[31 - other];
}

TEST_F(SimReportTest, ARaceOfALineThatReadsTwiceIsOneFinding) {
  const DeviceArray<int> out(32);
  launch(twice_kernel, {1, 32}, out);
  const std::vector<Finding> all = take_findings();
  ASSERT_EQ(all.size(), 1u) << text_of(all);
  EXPECT_GE(all[0].times, 32);
  std::set<int> lines;
  for (const Side& side : all[0].sides) lines.insert(side.frames[0].line);
  EXPECT_EQ(lines, (std::set{kTwiceLine - 2, kTwiceLine}));
}

// Two blocks run in any order: one writes what the other reads.
constexpr int kHandOverLine = __LINE__ + 3;
__global__ void hand_over_kernel(int* out) {
  const unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
  out[block / 2] = static_cast<int>(block);
}

TEST_F(SimReportTest, ARaceOfBlocksNamesThem) {
  const DeviceArray<int> out(2);
  launch(hand_over_kernel, {dim3(1, 2), 1}, out);
  EXPECT_EQ(text_of(take_findings()),
            "race" + kHere +
                "hand_over_kernel: two threads meet at one address of global memory; " +
                "should only one of them store there?\n" +
                "  writes 4 bytes, block (0, 1, 0), thread (0, 0, 0) at " + at(kHandOverLine) +
                kHere + "hand_over_kernel\n" + "  writes, block (0, 0, 0), thread (0, 0, 0) at " +
                at(kHandOverLine) + kHere + "hand_over_kernel\n");
}

constexpr int kLoadLine = __LINE__ + 1;
__device__ double load(const double* x, unsigned i) { return x[i]; }

constexpr int kCallLine = __LINE__ + 3;
__global__ void shift_kernel(const double* x, double* out) {
  const unsigned i = threadIdx.x + blockDim.x * threadIdx.y;
  out[i] = load(x, i + 1);
}

TEST_F(SimReportTest, OutOfBoundsNamesTheAllocation) {
  const int made = __LINE__ + 1;
  const DeviceArray<double> x(8, 1.), out(8);
  launch(shift_kernel, {1, dim3(4, 2)}, x, out);
  const std::string text = text_of(take_findings());
  const std::string expected = "out of bounds" + kHere +
                               "shift_kernel: the address is right after the end of 64 allocated " +
                               "bytes; guard the access by the size\n" +
                               "  reads 8 bytes, block (0, 0, 0), thread (3, 1, 0) at " +
                               at(kLoadLine) + kHere + "load\n" + "      from " + at(kCallLine) +
                               kHere + "shift_kernel\n" +  //
                               "  allocated at ";
  EXPECT_EQ(text.substr(0, expected.size()), expected);
  EXPECT_CONTAINS(text, "\n      from " + at(made) + " in ");
}

TEST_F(SimReportTest, OutOfBoundsTellsHowFar) {
  const DeviceArray<double> out(8);
  double* x = nullptr;
  ASSERT_EQ(cudaMalloc(&x, 100), cudaSuccess);
  ASSERT_EQ(cudaMemset(x, 0, 100), cudaSuccess);
  const auto message = [&](double* from) {
    launch(shift_kernel, {1, 1}, from, out);
    const std::vector<Finding> found = take_findings();
    return found.size() == 1 ? found[0].message : text_of(found);
  };
  const std::string fix = "; guard the access by the size";
  EXPECT_EQ(message(x), "");
  EXPECT_EQ(message(x + 14), "the address is 20 bytes after the end of 100 allocated bytes" + fix);
  EXPECT_EQ(message(x - 2), "the address is 8 bytes before 100 allocated bytes" + fix);
  EXPECT_EQ(message(x + 11),
            "the address is only in part inside: it goes on right after the end of 100 allocated "
            "bytes" +
                fix);
  EXPECT_EQ(message(x + 0xfffffffe),  // an unsigned -2
            "the address is 34359738260 bytes after the end of 100 allocated bytes (a negative "
            "index?)" +
                fix);
  ASSERT_EQ(cudaFree(x), cudaSuccess);
  EXPECT_EQ(
      message(x + 2),
      "the address is byte 24 of 100 that were given back; keep it until the kernel has ended");
}

TEST_F(SimReportTest, ALeakNamesTheAllocation) {
  cuda::sim::take_leaks();
  void* lost = nullptr;
  const int made = __LINE__ + 1;
  ASSERT_EQ(cudaMalloc(&lost, 400), cudaSuccess);
  const std::string text = text_of(cuda::sim::take_leaks());
  const std::string expected =
      "leak: 400 bytes of a device were never given back\n  allocated at " + at(made) + kHere +
      "SimReportTest_ALeakNamesTheAllocation_Test::";
  EXPECT_EQ(text.substr(0, expected.size()), expected);
  EXPECT_EQ(text_of(cuda::sim::take_leaks()), "") << "each is told once";
  ASSERT_EQ(cudaFree(lost), cudaSuccess);
}

constexpr int kTableLine = __LINE__ + 4;
__global__ void table_kernel(const float* x, float* out, int* tally) {
  extern __shared__ float tile[];
  const unsigned t = threadIdx.x;
  tile[t * 32] = x[t * 8];
  __syncthreads();
  if (t % 2 == 0) out[t] = tile[t * 32];
  if (t == 0) atomicAdd(tally, 1);
}

TEST_F(SimReportTest, TheTableOfALaunch) {
  const DeviceArray<float> x(256, 1.f), out(32);
  const DeviceArray<int> tally(1, 0);
  std::ostringstream text;
  text << counts_of([&] { launch(table_kernel, {1, 32, 4096}, x, out, tally); });
  const int load = kTableLine, store = kTableLine + 2, add = kTableLine + 3;
  const std::string kernel = "gradus::reports::table_kernel", in = " in " + kernel;
  using Figures = std::array<const char*, 9>;
  const auto row = [](const std::string& where, const Figures& figures) {
    constexpr std::array<size_t, 9> kWidths = {11, 11, 11, 8, 11, 11, 11, 8, 9};
    std::string out = "  " + where + std::string(44 - where.size(), ' ');
    for (size_t i = 0; i < figures.size(); ++i)
      out += std::string(kWidths[i] - std::strlen(figures[i]), ' ') + figures[i];
    return out + "\n";
  };
  const auto uncoalesced = [&](int line, int sectors, int least) {
    return "  uncoalesced access" + in + ": " + std::to_string(sectors) +
           " sectors of 32 bytes move where " + std::to_string(least) +
           " would do; let neighbouring threads take neighbouring elements\n" +
           "  accesses global memory at " + at(line) + in + "\n";
  };
  const auto conflict = [&](int line, int wavefronts) {
    return "  bank conflict" + in + ": " + std::to_string(wavefronts) +
           " wavefronts where 1 would do; let the lanes of a warp use different banks, as by a "
           "column " +
           "of padding\n  accesses shared memory at " + at(line) + in + "\n";
  };
  const Figures names = {"loads",     "stores",     "sectors", "x least", "sh.loads",
                         "sh.stores", "wavefronts", "x least", "atomics"};
  EXPECT_EQ(text.str(),
            kernel + ", grid (1, 1, 1), block (32, 1, 1), 4096 bytes of dynamic shared memory: " +
                "32 threads, 0 idle, 1 barriers\n" + row("", names) +
                row(at(load), {"32", "0", "32", "8.00", "0", "0", "0", "-", "0"}) +
                row(at(load), {"0", "0", "0", "-", "0", "32", "32", "32.00", "0"}) +
                row(at(store), {"0", "0", "0", "-", "16", "0", "16", "16.00", "0"}) +
                row(at(store), {"0", "16", "4", "2.00", "0", "0", "0", "-", "0"}) +
                row(at(add), {"0", "0", "0", "-", "0", "0", "0", "-", "1"}) +
                row("all", {"32", "16", "36", "6.00", "16", "32", "48", "24.00", "1"}) +
                uncoalesced(load, 32, 4) + conflict(load, 32) + conflict(store, 16) +
                uncoalesced(store, 4, 2));
}

}  // namespace gradus::reports
