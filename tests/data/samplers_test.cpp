// Samplers of one process, and what none of them loads. tests/conformance/libtorch/nn/samplers.cpp
// holds all of them to libtorch.
#include <algorithm>
#include <sstream>

#include "gradus/data/samplers/samplers.h"
#include "gradus/serialize/save.h"
#include "gradus/tensor/factories.h"
#include "tests/support.h"

namespace gradus {
namespace {

using namespace data::samplers;

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

serialize::InputArchive archive_of(const NamedTensors& tensors) {
  serialize::OutputArchive out;
  for (const auto& [name, value] : tensors) out.write(name, value);
  std::stringstream stream;
  out.save_to(stream);
  serialize::InputArchive in;
  in.load_from(stream);
  return in;
}

template <class Sampler>
void expect_refused(Sampler& sampler, const NamedTensors& tensors, const std::string& message) {
  auto archive = archive_of(tensors);
  expect_error<ValueError>([&] { sampler.load(archive); }, message);
}

TEST(RandomSampler, GivesEveryIndexOnceInAnOrderOfTheSeed) {
  manual_seed(5);
  RandomSampler sampler(1000, kShort);
  manual_seed(5);
  const Tensor order = randperm(1000, kShort);
  std::vector<size_t> got;
  while (const auto batch = sampler.next(7)) got.insert(got.end(), batch->begin(), batch->end());
  ASSERT_EQ(got.size(), 1000U);
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i], order[static_cast<int64_t>(i)].item<size_t>());
  std::sort(got.begin(), got.end());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i);
}

TEST(RandomSampler, LoadsOrdersAlone) {
  RandomSampler sampler(4);
  sampler.next(1);
  const Tensor two = tensor({1, 0});
  expect_refused(sampler, {{"index", tensor(0)}, {"indices", tensor({0, 2})}}, "0 to 1");
  expect_refused(sampler, {{"index", tensor(0)}, {"indices", tensor({1, -1})}}, "0 to 1");
  expect_refused(sampler, {{"index", tensor(0)}, {"indices", two.view({1, 2})}}, "[1, 2]");
  expect_refused(sampler, {{"index", tensor(0)}, {"indices", two.to(kFloat)}}, "float32");
  expect_refused(sampler, {{"index", tensor(3)}, {"indices", two}}, "index = 3, expected 0 to 2");
  expect_refused(sampler, {{"indices", two}}, "there is no tensor");
  EXPECT_EQ(sampler.index(), 1U);
  EXPECT_EQ(sampler.next(10)->size(), 3U);
  auto good = archive_of({{"index", tensor(1)}, {"indices", two}});
  sampler.load(good);
  EXPECT_EQ(*sampler.next(10), (std::vector<size_t>{0}));
}

TEST(SequentialSampler, LoadsPlacesAlone) {
  SequentialSampler sampler(4);
  expect_refused(sampler, {{"index", tensor(5)}}, "index = 5, expected 0 to 4");
  expect_refused(sampler, {{"index", tensor(-1)}}, "index = -1, expected 0 to 4");
  expect_refused(sampler, {{"index", tensor({0, 1})}}, "of shape [2]");
  StreamSampler stream(4);
  expect_refused(stream, {{"index", tensor(5)}}, "StreamSampler::load: the archive: index = 5");
  EXPECT_EQ(stream.next(9)->size(), 4U);
}

TEST(WeightedRandomSampler, DrawsByWeightAndGoesOnWhereItWasSaved) {
  manual_seed(3);
  WeightedRandomSampler sampler(tensor({0.0, 1.0, 3.0}), 4000);
  int counts[3] = {};
  while (const auto batch = sampler.next(300))
    for (const size_t i : *batch) ++counts[i];
  EXPECT_EQ(counts[0], 0);
  EXPECT_EQ(counts[1] + counts[2], 4000);
  EXPECT_NEAR(counts[2], 3000, 150);  // five standard deviations
  WeightedRandomSampler once(ones({5}), 5, /*replacement=*/false);
  auto all = *once.next(10);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<size_t>{0, 1, 2, 3, 4}));
  EXPECT_FALSE(once.next(1));

  sampler.reset(10);
  sampler.next(3);
  std::stringstream stream;
  save(sampler, stream);
  WeightedRandomSampler loaded(ones({3}), 7);
  load(loaded, stream);
  EXPECT_EQ(loaded.index(), 3U);
  EXPECT_EQ(*loaded.next(10), *sampler.next(10));
  expect_refused(loaded, {{"index", tensor(0)}, {"indices", tensor({0, 3})}},
                 "not all from 0 to 2");
  expect_refused(loaded, {{"index", tensor(3)}, {"indices", tensor({0, 1})}},
                 "index = 3, expected 0 to 2");
  expect_error<ValueError>([] { WeightedRandomSampler(ones({2, 2}), 1); }, "not one row");
}

TEST(DistributedSampler, LoadsPlacesOfItsShareAlone) {
  DistributedRandomSampler sampler(10, 2, 1);
  const auto first = *sampler.next(3);
  sampler.reset();
  expect_refused(
      sampler, {{"sample_index_", tensor(4)}, {"epoch_", tensor(0)}},
      "sample_index_ = 4, expected 5 to 10; load into a sampler of the same size and rank");
  expect_refused(sampler, {{"sample_index_", tensor(6)}, {"epoch_", tensor(-1)}}, "epoch_ = -1");
  EXPECT_EQ(*sampler.next(3), first);
}

}  // namespace
}  // namespace gradus
