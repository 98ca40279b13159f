// The collectives of the backend `threads`, by their definitions.
#include "gradus/distributed/distributed.h"

#include "tests/support.h"

namespace gradus {
namespace {

using namespace distributed;  // NOLINT: as programs do

// A value that says whose and which element it is.
Tensor pattern(int rank, int64_t count, ScalarType dtype = kFloat) {
  return (arange(count, kDouble) % 7 + rank + 1).to(dtype);
}

TEST(Threads, AllReduceSums) {
  for (int size = 1; size <= 8; ++size)
    for (const int64_t count : {0, 1, 3, 8, 17})
      spawn_threads(size, [&](int rank) {
        Tensor x = pattern(rank, count);
        EXPECT_EQ(all_reduce(x), nullptr);
        Tensor expected = zeros({count});
        for (int r = 0; r < size; ++r) expected += pattern(r, count);
        EXPECT_TRUE(x.equal(expected)) << size << ' ' << count << ' ' << x;
      });
}

}  // namespace
}  // namespace gradus
