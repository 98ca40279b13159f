// The steps of an LSTM by clusters on the simulator: all sizes of clusters that it has, batches
// that fill no cluster, both directions, and tensors that may be missing.
#include "tests/sim/hopper/lstm_cases.h"
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using SimLstmTest = SimTest;

// A rounding of a state in each step, and of two more numbers backward.
template <class T, int kBlocks, int kTiles>
void expect_lstm(const LstmCase& of) {
  constexpr double kAllowed = std::is_same_v<T, Half> ? 8e-4 : 6e-3;
  LstmRun<T, kBlocks, kTiles> run(of);
  const std::string what = std::to_string(32 * kBlocks) + " units, " + std::to_string(of.steps) +
                           " steps of " + std::to_string(of.batch);
  EXPECT_LE(run.forward(), kAllowed) << what;
  EXPECT_LE(run.backward(), 2 * kAllowed) << what;
}

TEST_F(SimLstmTest, StepsAreThoseOfFloat64) {
  manual_seed(3);
  for (const int64_t batch : {1, 17})
    for (const int64_t steps : {1, 2, 7}) expect_lstm<BFloat16, 4, 1>({steps, batch, steps == 2});
  expect_lstm<BFloat16, 4, 2>({7, 16, true});
  expect_lstm<BFloat16, 4, 2>({2, 40, false});
  expect_lstm<Half, 4, 1>({5, 9, true});
}

TEST_F(SimLstmTest, ClustersOfEightBlocks) {
  manual_seed(4);
  expect_lstm<BFloat16, 8, 1>({4, 3, false});
  expect_lstm<Half, 8, 2>({3, 17, true});
}

TEST_F(SimLstmTest, WithoutBiasAndSomeGradients) {
  manual_seed(5);
  expect_lstm<BFloat16, 4, 1>({3, 5, false, false, true, false});
  expect_lstm<BFloat16, 4, 1>({3, 5, true, true, false, true});
}

}  // namespace
}  // namespace gradus
