// DataLoader: batches, epochs, workers, errors, devices.
#include <atomic>
#include <mutex>
#include <set>

#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

using data::DataLoader;
using data::DataLoaderOptions;

// The example under i is i, i + random number.
struct Noisy : data::Dataset<Noisy> {
  explicit Noisy(size_t size) : size_(size) {}
  data::Example<> get(size_t index) override {
    return {tensor(static_cast<double>(index)), rand({2}) + static_cast<double>(index)};
  }
  std::optional<size_t> size() const override { return size_; }
  size_t size_;
};

struct Failing : data::Dataset<Failing, int64_t> {
  int64_t get(size_t index) override {
    if (index == 7 && fails) throw std::runtime_error("a bad file");
    check(index != 9 || !fails, "a bad line");
    return static_cast<int64_t>(index);
  }
  std::optional<size_t> size() const override { return 12; }
  static inline std::atomic<bool> fails = true;
};

struct Counter : data::IterableDataset<Counter, int64_t> {
  explicit Counter(int64_t last) : last_(last) {}
  std::optional<int64_t> next() override {
    if (at_ == last_) return std::nullopt;
    return at_++;
  }
  void reset() override { at_ = 0; }
  int64_t at_ = 0, last_;
};

template <class Batch>
std::vector<double> all_of(DataLoader<Batch>& loader) {
  std::vector<double> out;
  for (auto& [x, y] : loader)
    for (const Tensor& part : {x, y})
      for (const double value : to_vector(part)) out.push_back(value);
  return out;
}

TEST(DataLoader, StacksRowsInOrder) {
  DataLoader loader(data::TensorPairDataset(arange(10).view({5, 2}), arange(5)), 2);
  EXPECT_EQ(loader.size(), 3U);
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<std::vector<int64_t>> sizes;
    std::vector<double> rows;
    for (auto& [x, y] : loader) {
      sizes.push_back(x.sizes().vec());
      expect_values(x.select(1, 0), to_vector(y * 2));
      for (const double value : to_vector(y)) rows.push_back(value);
    }
    EXPECT_EQ(sizes, (std::vector<std::vector<int64_t>>{{2, 2}, {2, 2}, {1, 2}}));
    EXPECT_EQ(rows, (std::vector<double>{0, 1, 2, 3, 4}));
  }
}

// Examples of several members: each is joined by itself, as Python's default_collate does.
template <class E>
struct Members : data::Dataset<Members<E>, E> {
  using Make = std::function<E(Tensor)>;
  explicit Members(Make of) : make(std::move(of)) {}
  E get(size_t index) override { return make(full({2}, static_cast<double>(index))); }
  std::optional<size_t> size() const override { return 4; }
  Make make;
};

TEST(DataLoader, JoinsEachMemberOfAnExample) {
  const std::vector<double> pairs = {0, 0, 1, 1, 2, 2, 3, 3};
  using Tuple = std::tuple<Tensor, int64_t, std::string>;
  DataLoader tuples(Members<Tuple>([](const Tensor& x) {
                      return Tuple(x, x[0].item<int64_t>(), std::to_string(x[0].item<int64_t>()));
                    }),
                    DataLoaderOptions(4).workers(2));
  const auto& [tensors, numbers, texts] = *tuples.begin();
  expect_values(tensors, pairs);
  expect_values(numbers, {0, 1, 2, 3});
  EXPECT_EQ(texts, (std::vector<std::string>{"0", "1", "2", "3"}));

  using List = data::Example<std::vector<Tensor>, Tensor>;
  DataLoader lists(Members<List>([](const Tensor& x) { return List({x, x + 1, x[0]}, x[0]); }), 4);
  const auto& [data, target] = *lists.begin();
  ASSERT_EQ(data.size(), 3U);
  expect_values(data[0], pairs);
  expect_values(data[1] - 1, pairs);
  expect_values(data[2], {0, 1, 2, 3});
  expect_values(target, {0, 1, 2, 3});

  using Nested = std::pair<std::array<Tensor, 1>, data::Example<Tensor, data::example::NoTarget>>;
  DataLoader nested(Members<Nested>([](const Tensor& x) { return Nested({x}, x * 2); }), 4);
  const auto& [first, second] = *nested.begin();
  expect_values(std::get<0>(first), pairs);
  expect_values(second.data / 2, pairs);

  DataLoader ragged(Members<List>([](const Tensor& x) {
                      return List(std::vector<Tensor>(1 + x[0].item<size_t>() / 2, x), x);
                    }),
                    4);
  expect_error<ValueError>([&] { *ragged.begin(); }, "a list of 1 elements, and another one of 2");
}

TEST(DataLoader, RefusesExamplesOfSeveralShapes) {
  using E = data::TensorExample;
  DataLoader loader(Members<E>([](const Tensor& x) {
                      return E(ones({2, 1 + x[0].item<int64_t>() / 3}));
                    }),
                    4);
  expect_error<ValueError>([&] { *loader.begin(); },
                           "shapes [2, 1] and [2, 2], expected one shape; map a Resize");
}

TEST(DataLoader, GivesTheRowsOfSeveralTensors) {
  const Tensor a = arange(12).view({6, 2}), b = arange(6), c = ones({6});
  auto parts = data::random_split(data::TensorTupleDataset(a, b, c), {0.5, 0.5});
  for (const Device device : cpu_and_cuda()) {
    DataLoader loader(parts[1], DataLoaderOptions(2).shuffle(true).device(device));
    int64_t rows = 0;
    for (auto& [x, y, z] : loader) {
      EXPECT_TRUE(x.device().type() == device.type() && z.device().type() == device.type());
      expect_values(x.select(1, 0), to_vector(y * 2));
      rows += z.numel();
    }
    EXPECT_EQ(rows, 3);
  }
}

TEST(DataLoader, LeavesOutTheLastBatch) {
  for (const size_t workers : {0, 2}) {
    DataLoader loader(Noisy(5), DataLoaderOptions(2).drop_last(true).workers(workers));
    EXPECT_EQ(loader.size(), 2U);
    int batches = 0;
    for (auto& batch : loader) batches += batch.data.size(0) == 2;
    EXPECT_EQ(batches, 2);
  }
}

TEST(DataLoader, JoinsExamplesOfOtherKinds) {
  struct Words : data::Dataset<Words, data::Example<Tensor, std::string>> {
    data::Example<Tensor, std::string> get(size_t i) override {
      return {full({2}, static_cast<double>(i)), std::to_string(i)};
    }
    std::optional<size_t> size() const override { return 3; }
  };
  DataLoader words(Words(), 3);
  auto& batch = *words.begin();
  EXPECT_EQ(batch.data.sizes(), IntArrayRef({3, 2}));
  EXPECT_EQ(batch.target, (std::vector<std::string>{"0", "1", "2"}));
  Failing::fails = false;
  DataLoader numbers(Failing(), 12);
  const Tensor joined = *numbers.begin();
  EXPECT_EQ(joined.scalar_type(), kLong);
  expect_values(joined, to_vector(arange(12)));
  // Batches that are made already stay as they are.
  DataLoader stacked(Noisy(4).map(data::transforms::Stack<>()), 4);
  EXPECT_EQ(stacked.begin()->target.sizes(), IntArrayRef({4, 2}));
}

TEST(DataLoader, BatchesDependOnTheSeedAlone) {
  const auto batches = [](size_t workers, size_t max_jobs) {
    manual_seed(3);
    DataLoader loader(Noisy(23),
                      DataLoaderOptions(4).shuffle(true).workers(workers).max_jobs(max_jobs));
    std::vector<double> out = all_of(loader);
    for (const double value : all_of(loader)) out.push_back(value);  // a second epoch
    out.push_back(rand({}).item<double>());                          // and what comes after it
    return out;
  };
  const std::vector<double> expected = batches(0, 1);
  for (const size_t workers : {1, 2, 5})
    for (const size_t max_jobs : {1, 3, 20})
      EXPECT_EQ(batches(workers, max_jobs), expected) << workers << " " << max_jobs;
  // Each epoch has an order and noise of its own, and each example is there once.
  const size_t epoch = expected.size() / 2;
  EXPECT_NE(
      std::vector<double>(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(epoch)),
      std::vector<double>(expected.begin() + static_cast<std::ptrdiff_t>(epoch),
                          expected.end() - 1));
  DataLoader loader(Noisy(23), DataLoaderOptions(4).shuffle(true));
  std::set<double> seen;
  for (auto& batch : loader)
    for (const double value : to_vector(batch.data)) seen.insert(value);
  EXPECT_EQ(seen.size(), 23U);
}

TEST(DataLoader, AnErrorOfAWorkerNamesTheSample) {
  const auto failure = [](size_t workers, size_t batch_size) -> std::string {
    DataLoader loader(Failing(), DataLoaderOptions(batch_size).workers(workers));
    Failing::fails = true;
    try {
      for ([[maybe_unused]] auto& batch : loader) continue;
    } catch (const data::WorkerException& error) {
      EXPECT_TRUE(error.sample.has_value());
      // The loader goes on with another epoch.
      Failing::fails = false;
      int batches = 0;
      for ([[maybe_unused]] auto& batch : loader) ++batches;
      EXPECT_EQ(batches, static_cast<int>(12 / batch_size));
      return error.what();
    }
    return "nothing was thrown";
  };
  for (const size_t workers : {1, 3})
    EXPECT_EQ(failure(workers, 4),
              "Caught exception in DataLoader worker thread. Original message: a bad file; sample "
              "7 of the data set");
  Failing::fails = true;
  DataLoader loader(Failing(), data::samplers::SequentialSampler(12),
                    DataLoaderOptions(1).workers(1));
  auto at = loader.begin();
  for (int i = 0; i < 6; ++i) ++at;
  EXPECT_THROW(++at, data::WorkerException);
  Failing::fails = true;
  DataLoader here(data::datasets::Subset(Failing(), {3, 9}), 2);
  expect_error<ValueError>([&] { *here.begin(); }, "a bad line; sample 9 of the data set");
}

TEST(DataLoader, AnEpochMayEndEarly) {
  for (const size_t workers : {0, 2}) {
    DataLoader loader(Noisy(20), DataLoaderOptions(2).workers(workers));
    for (int epoch = 0; epoch < 3; ++epoch)
      for (auto& batch : loader) {
        EXPECT_EQ(to_vector(batch.data)[0], 0);
        break;
      }
    int batches = 0;
    for ([[maybe_unused]] auto& batch : loader) ++batches;
    EXPECT_EQ(batches, 10);
  }
}

TEST(DataLoader, ReadsAStreamByOneWorker) {
  for (const size_t workers : {0, 1, 4}) {
    DataLoader loader(Counter(7), DataLoaderOptions(3).workers(workers));
    for (int epoch = 0; epoch < 2; ++epoch) {
      std::vector<double> all;
      std::vector<int64_t> sizes;
      for (const Tensor& batch : loader) {
        sizes.push_back(batch.size(0));
        for (const double value : to_vector(batch)) all.push_back(value);
      }
      EXPECT_EQ(sizes, (std::vector<int64_t>{3, 3, 1})) << workers;
      EXPECT_EQ(all, (std::vector<double>{0, 1, 2, 3, 4, 5, 6})) << workers;
    }
    expect_error<Error>([&] { loader.size(); }, "count the batches");
  }
}

TEST(DataLoader, TellsASamplerTheEpoch) {
  DataLoader loader(data::TensorPairDataset(arange(50), arange(50)),
                    data::samplers::DistributedRandomSampler(50, 2, 1), DataLoaderOptions(25));
  EXPECT_EQ(loader.size(), 1U);
  const std::vector<double> first = all_of(loader), second = all_of(loader);
  EXPECT_EQ(first.size(), 50U);
  EXPECT_NE(first, second);
}

TEST(DataLoader, CopiesBatchesAhead) {
  for (const Device device : cpu_and_cuda()) {
    const Tensor rows = randn({64, 33});
    for (const size_t workers : {0, 2}) {
      DataLoader loader(data::TensorPairDataset(rows, arange(64)),
                        DataLoaderOptions(8).device(device).workers(workers));
      for (int epoch = 0; epoch < 2; ++epoch) {
        int64_t at = 0;
        for (auto& [x, y] : loader) {
          EXPECT_EQ(x.device(), device);
          EXPECT_EQ(y.device(), device);
          expect_values(x * 2, to_vector(rows.narrow(0, at, 8) * 2));
          at += 8;
        }
        EXPECT_EQ(at, 64);
      }
    }
  }
}

TEST(DataLoader, GoesOnWhereItWasSaved) {
  const TemporaryFolder folder;
  const std::string path = folder / "loader.safetensors";
  const auto make = [](size_t workers, Device device) {
    return DataLoader(Noisy(23),
                      DataLoaderOptions(4).shuffle(true).workers(workers).device(device));
  };
  for (const Device device : cpu_and_cuda())
    for (const int stop : {1, 3, 6}) {  // batches of the second epoch, of 6
      manual_seed(5);
      auto whole = make(2, device);
      all_of(whole);
      std::vector<double> rest;
      Tensor numbers;
      int seen = 0;
      for (auto& [x, y] : whole) {
        if (++seen == stop) {
          save(whole, path);
          numbers = default_generator(kCPU).get_state();
        }
        if (seen <= stop) continue;
        for (const Tensor& part : {x, y})
          for (const double value : to_vector(part)) rest.push_back(value);
      }
      const std::vector<double> third = all_of(whole);
      for (const size_t workers : {0, 3}) {
        SCOPED_TRACE(std::to_string(stop) + " " + std::to_string(workers));
        manual_seed(99);
        auto resumed = make(workers, device);
        load(resumed, path);
        const std::string again = folder / "again.safetensors";
        save(resumed, again);  // before it goes on: the same state
        auto copy = make(workers, device);
        load(copy, again);
        default_generator(kCPU).set_state(numbers);
        EXPECT_EQ(all_of(resumed), rest);
        EXPECT_EQ(all_of(resumed), third);
        EXPECT_EQ(all_of(copy), rest);
      }
    }
  // Between two epochs.
  manual_seed(1);
  auto first = make(0, kCPU);
  all_of(first);
  save(first, path);
  const Tensor numbers = default_generator(kCPU).get_state();
  const std::vector<double> second = all_of(first);
  auto resumed = make(1, kCPU);
  load(resumed, path);
  default_generator(kCPU).set_state(numbers);
  EXPECT_EQ(all_of(resumed), second);
  expect_error<NotImplementedError>([] { save(DataLoader(Counter(3), 1), "unused"); },
                                    "save the data set");
}

TEST(DataLoader, RefusesWhatItCannotDo) {
  const auto rows = data::TensorPairDataset(rand({4, 2}), arange(4));
  expect_error<ValueError>([&] { DataLoader(rows, 0); }, "batch_size = 0");
  expect_error<ValueError>([&] { DataLoader(rows, DataLoaderOptions(2).workers(1).max_jobs(0)); },
                           "max_jobs = 0");
  expect_error<ValueError>(
      [&] {
        DataLoader(rows, data::samplers::SequentialSampler(4), DataLoaderOptions().shuffle(true));
      },
      "shuffle beside a sampler");
  expect_error<ValueError>([&] { DataLoader(Counter(3), DataLoaderOptions().shuffle(true)); },
                           "without indices");
  expect_error<ValueError>([&] { data::make_data_loader(rows, DataLoaderOptions().shuffle(true)); },
                           "options of data::DataLoader");
  expect_error<NotImplementedError>([&] { save(Counter(3), "unused"); }, "override save");
  struct NoSize : data::Dataset<NoSize, int> {
    int get(size_t) override { return 0; }
    std::optional<size_t> size() const override { return std::nullopt; }
  };
  expect_error<ValueError>([&] { DataLoader(NoSize(), 1); }, "does not say how many examples");
  struct NoCopies : data::Dataset<NoCopies, int> {
    NoCopies() = default;
    NoCopies(NoCopies&&) = default;
    int get(size_t) override { return 0; }
    std::optional<size_t> size() const override { return 3; }
  };
  expect_error<ValueError>([&] { DataLoader(NoCopies(), DataLoaderOptions().workers(1)); },
                           "share it by make_shared_dataset");
  DataLoader shared(data::datasets::make_shared_dataset<NoCopies>(),
                    DataLoaderOptions().workers(2));
  EXPECT_EQ(shared.size(), 3U);
}

TEST(DataLoader, EndsWhileWorkersAreBusy) {
  for (int run = 0; run < 20; ++run) {
    DataLoader loader(Noisy(1000), DataLoaderOptions(1).workers(3));
    auto at = loader.begin();
    for (int i = 0; i < run; ++i) ++at;
  }
}

}  // namespace
}  // namespace gradus
