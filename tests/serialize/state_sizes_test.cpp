// A state that counts in a size is refused where the size is another one, with both sizes, and
// nothing changes: loaders, samplers, schedules, averages.
#include <sstream>

#include "tests/support.h"

namespace gradus {
namespace {

using data::DataLoader;
using data::DataLoaderOptions;
using namespace data::samplers;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

DataLoader<data::Example<>> loader_of(int64_t examples, size_t batch_size, bool shuffle) {
  return DataLoader(data::TensorPairDataset(arange(examples), arange(examples)),
                    DataLoaderOptions(batch_size).shuffle(shuffle));
}

// What load() into `to` says of the state of `from`. A refused state changes nothing.
template <class From, class To>
std::string loaded_into(const From& from, To& to) {
  const auto bytes_of = [](const auto& x) {
    std::stringstream out;
    save(x, out);
    return out.str();
  };
  std::stringstream in(bytes_of(from));
  const std::string before = bytes_of(to);
  try {
    load(to, in);
    return "";
  } catch (const ValueError& error) {
    EXPECT_EQ(bytes_of(to), before);
    return error.what();
  }
}

TEST(StateSizes, OfALoader) {
  for (const bool shuffle : {false, true})
    for (const bool within : {false, true}) {
      SCOPED_TRACE(testing::Message() << shuffle << within);
      auto saved = loader_of(64, 4, shuffle);
      int seen = 0;
      for ([[maybe_unused]] auto& batch : saved)
        if (within && ++seen == 3) break;
      for (const int64_t examples : {60, 80, 0}) {
        auto other = loader_of(examples, 4, shuffle);
        EXPECT_TRUE(holds(loaded_into(saved, other),
                          "the data set has " + std::to_string(examples) +
                              " examples, and had 64 when the loader was saved"));
        size_t left = 0;
        for (auto& batch : other) left += static_cast<size_t>(batch.data.size(0));
        EXPECT_EQ(left, static_cast<size_t>(examples));
      }
      auto other = loader_of(64, 8, shuffle), same = loader_of(64, 4, shuffle);
      const std::string message = loaded_into(saved, other);
      EXPECT_EQ(message.empty(), !within) << message;  // between two epochs any size goes on
      EXPECT_TRUE(!within || holds(message, "batch_size is 8, and was 4 when")) << message;
      EXPECT_EQ(loaded_into(saved, same), "");
    }
  // Ranks: the share of another number of replicas is another one.
  const auto of_ranks = [](size_t replicas) {
    return DataLoader(data::TensorPairDataset(arange(64), arange(64)),
                      DistributedRandomSampler(64, replicas), DataLoaderOptions(4));
  };
  auto two = of_ranks(2), four = of_ranks(4);
  ++two.begin();
  EXPECT_TRUE(holds(loaded_into(two, four), "4 replicas, and there were 2"));
}

template <class Sampler>
void expect_sizes_refused(const Sampler& small, Sampler large, const std::string& sizes) {
  EXPECT_TRUE(holds(loaded_into(small, large), sizes)) << loaded_into(small, large);
  Sampler same = small;
  EXPECT_EQ(loaded_into(small, same), "");
}

TEST(StateSizes, OfASampler) {
  expect_sizes_refused(SequentialSampler(6), SequentialSampler(8),
                       "there are 8 examples, and there were 6 when the sampler was saved");
  expect_sizes_refused(StreamSampler(6), StreamSampler(8), "8 examples, and there were 6");
  expect_sizes_refused(WeightedRandomSampler(ones({6}), 4), WeightedRandomSampler(ones({8}), 4),
                       "8 weights, and there were 6");
  expect_sizes_refused(DistributedRandomSampler(6, 2), DistributedRandomSampler(8, 2),
                       "8 examples, and there were 6");
  expect_sizes_refused(DistributedSequentialSampler(8, 2), DistributedSequentialSampler(8, 4),
                       "4 replicas, and there were 2");
}

TEST(StateSizes, OfASchedule) {
  nn::Linear net(1, 1);
  optim::SGD sgd(net->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  optim::OneCycleLR whole(sgd, optim::OneCycleLROptions(0.1, 100));
  for (int i = 0; i < 70; ++i) whole.step();
  optim::OneCycleLR shorter(sgd, optim::OneCycleLROptions(0.1, 60));
  expect_error<ValueError>([&] { shorter.load_state_dict(whole.state_dict()); },
                           "Tried to step 70 times. The specified number of total steps is 60");
  EXPECT_EQ(shorter.last_epoch(), 0);
}

TEST(StateSizes, OfAnAverage) {
  using optim::AveragedModel;
  const auto model = [](int64_t width) {
    return nn::Sequential(nn::Linear(2, width), nn::BatchNorm1d(width));
  };
  nn::Sequential small = model(3), large = model(4);
  AveragedModel from(small), to(large);
  from.update_parameters(small);
  const auto numbers = [&] {
    std::vector<double> out{static_cast<double>(to.n_averaged())};
    for (const auto& item : to.state_dict())
      for (const double value : to_vector(item.value())) out.push_back(value);
    return out;
  };
  const std::vector<double> before = numbers();
  expect_error<ValueError>(
      [&] { to.load_state_dict(from.state_dict()); },
      "module.1.running_mean is float32 of shape [3], expected float32 of shape [4]");
  expect_error<ValueError>([&] { to.update_parameters(small); }, "[3, 2]");
  EXPECT_EQ(numbers(), before);
}

}  // namespace
}  // namespace gradus
