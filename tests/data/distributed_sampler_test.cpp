// The shares of all ranks together are the data set.
#include <algorithm>
#include <set>

#include "gradus/data/samplers/distributed.h"
#include "tests/support.h"

namespace gradus {
namespace {

using namespace data::samplers;

template <class Sampler>
std::vector<size_t> all_of(Sampler& sampler, size_t batch_size) {
  std::vector<size_t> out;
  while (const auto batch = sampler.next(batch_size)) {
    EXPECT_LE(batch->size(), batch_size);
    EXPECT_FALSE(batch->empty());
    out.insert(out.end(), batch->begin(), batch->end());
  }
  EXPECT_FALSE(sampler.next(1));
  return out;
}

template <class Sampler>
void check_shares() {
  for (const size_t size : {0, 1, 2, 7, 12, 100})
    for (const size_t replicas : {1, 2, 3, 8})
      for (const bool duplicates : {true, false}) {
        std::multiset<size_t> seen;
        const size_t share = duplicates ? (size + replicas - 1) / replicas : size / replicas;
        for (size_t rank = 0; rank < replicas; ++rank) {
          Sampler sampler(size, replicas, rank, duplicates);
          EXPECT_EQ(sampler.index(), rank * share);
          const auto mine = all_of(sampler, 3);
          EXPECT_EQ(mine.size(), share);
          seen.insert(mine.begin(), mine.end());
        }
        for (const size_t i : seen) EXPECT_LT(i, size);
        const std::set<size_t> distinct(seen.begin(), seen.end());
        EXPECT_EQ(distinct.size(), duplicates ? size : share * replicas);
      }
}

TEST(DistributedSampler, SharesAreEvenAndTogetherTheDataSet) {
  check_shares<DistributedRandomSampler>();
  check_shares<DistributedSequentialSampler>();
}

TEST(DistributedSampler, EpochsHaveOrdersOfTheirOwn) {
  DistributedRandomSampler sampler(50, 2, 1);
  const auto first = all_of(sampler, 10);
  sampler.reset();
  EXPECT_EQ(all_of(sampler, 7), first);
  sampler.set_epoch(1);
  EXPECT_EQ(sampler.epoch(), 1U);
  sampler.reset();
  EXPECT_NE(all_of(sampler, 10), first);
  sampler.reset(4);
  EXPECT_EQ(all_of(sampler, 10).size(), 2U);
  DistributedSequentialSampler in_order(5, 2, 1);
  EXPECT_EQ(all_of(in_order, 10), (std::vector<size_t>{3, 4, 0}));
}

TEST(DistributedSampler, RefusesRanksThatAreNone) {
  expect_error<ValueError>([] { DistributedRandomSampler(10, 2, 2); },
                           "rank = 2 and num_replicas = 2");
  expect_error<ValueError>([] { DistributedSequentialSampler(10, 0, 0); }, "num_replicas = 0");
}

}  // namespace
}  // namespace gradus
