// The sizes of batches: every loader, every kind of data set, every option that could change them.
#include "tests/support.h"

namespace gradus {
namespace {

using data::DataLoader;
using data::DataLoaderOptions;
using Sizes = std::vector<size_t>;

constexpr size_t kExamples = 10, kBatch = 3;

struct TenNumbers : data::Dataset<TenNumbers> {
  data::Example<> get(size_t index) override {
    return {full({2}, static_cast<double>(index)), tensor(static_cast<int64_t>(index))};
  }
  std::optional<size_t> size() const override { return kExamples; }
};

struct TenInARow : data::IterableDataset<TenInARow> {
  std::optional<data::Example<>> next() override {
    if (at == kExamples) return std::nullopt;
    return TenNumbers().get(at++);
  }
  void reset() override { at = 0; }
  size_t at = 0;
};

// Batches that are tensors already.
struct TenStacked : data::datasets::StatefulDataset<TenStacked, Tensor> {
  std::optional<Tensor> get_batch(size_t batch_size) override {
    const size_t count = std::min(batch_size, kExamples - at);
    if (count == 0) return std::nullopt;
    at += count;
    return zeros({static_cast<int64_t>(count), 2});
  }
  std::optional<size_t> size() const override { return std::nullopt; }
  void reset() override { at = 0; }
  void save(serialize::OutputArchive&) const override {}
  void load(serialize::InputArchive&) override {}
  size_t at = 0;
};

struct TenStream : data::datasets::StreamDataset<TenStream> {
  std::vector<data::Example<>> get_batch(size_t count) override {
    return std::vector<data::Example<>>(count, TenNumbers().get(0));
  }
  std::optional<size_t> size() const override { return kExamples; }
};

struct TenInChunks : data::datasets::ChunkDataReader<data::Example<>> {
  std::vector<data::Example<>> read_chunk(size_t) override {
    return std::vector<data::Example<>>(5, TenNumbers().get(0));
  }
  size_t chunk_count() override { return 2; }
  void reset() override {}
};
using ChunkSet = data::datasets::ChunkDataset<TenInChunks, data::samplers::SequentialSampler,
                                              data::samplers::SequentialSampler>;

auto chunk_set() {
  return data::datasets::make_shared_dataset<ChunkSet>(
      TenInChunks(), data::samplers::SequentialSampler(2), data::samplers::SequentialSampler(5),
      data::datasets::ChunkDatasetOptions(1, kBatch));
}

size_t rows_of(const Tensor& batch) { return static_cast<size_t>(batch.size(0)); }
size_t rows_of(const data::Example<>& batch) { return rows_of(batch.data); }
template <class E>
size_t rows_of(const std::vector<E>& batch) {
  return batch.size();
}
template <class Loader>
Sizes sizes_of(Loader& loader) {
  Sizes out;
  for (const auto& batch : loader) out.push_back(rows_of(batch));
  std::sort(out.rbegin(), out.rend());  // workers may be done in another order
  return out;
}

// Both loaders, two epochs. `args`: a sampler, or nothing.
template <class Dataset, class... Args>
void expect_sizes(const char* name, const Dataset& dataset, const Args&... args) {
  for (const bool drop : {false, true})
    for (const size_t workers : {0, 1, 3})
      for (const bool ordered : {true, false}) {
        SCOPED_TRACE(testing::Message() << name << ", drop_last " << drop << ", workers " << workers
                                        << ", ordered " << ordered);
        const Sizes expected = drop ? Sizes{3, 3, 3} : Sizes{3, 3, 3, 1};
        const auto options =
            DataLoaderOptions(kBatch).drop_last(drop).workers(workers).enforce_ordering(ordered);
        DataLoader loader(dataset, args..., options);
        // libtorch's loader gives each worker a copy of a data set that is not shared, and several
        // of them would call a shared one at once.
        constexpr bool shares = requires { *dataset; };
        const size_t most = !Dataset::is_stateful ? workers : shares ? 1 : 0;
        auto made = data::make_data_loader(
            dataset, args..., DataLoaderOptions(options).workers(std::min(workers, most)));
        for (int epoch = 0; epoch < 2; ++epoch) {
          EXPECT_EQ(sizes_of(loader), expected);
          EXPECT_EQ(sizes_of(*made), expected);
        }
        if constexpr (!Dataset::is_stateful) {
          EXPECT_EQ(loader.size(), expected.size());
        }
      }
}

TEST(DropLast, LeavesOutTheLastBatchOfEveryDataSet) {
  using data::datasets::make_shared_dataset;
  using data::transforms::Stack;
  const data::TensorPairDataset rows(zeros({10, 2}), arange(10));
  expect_sizes("Dataset", TenNumbers());
  expect_sizes("mapped", TenNumbers().map(Stack<>()));
  expect_sizes("tensors", rows);
  expect_sizes("part", data::datasets::Subset(TenNumbers(), {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
  expect_sizes("shared", make_shared_dataset<TenNumbers>());
  expect_sizes("sampler", rows, data::samplers::RandomSampler(10));
  const data::TensorPairDataset of_ranks(zeros({20, 2}), arange(20));
  expect_sizes("ranks", of_ranks, data::samplers::DistributedRandomSampler(20, 2, 1));
  expect_sizes("stream", TenStream(), data::samplers::StreamSampler(10));
  expect_sizes("iterable", TenInARow());
  expect_sizes("mapped iterable", TenInARow().map(Stack<>()));
  expect_sizes("shared iterable", make_shared_dataset<TenInARow>());
  expect_sizes("mapped shared iterable", make_shared_dataset<TenInARow>().map(Stack<>()));
  expect_sizes("stateful", TenStacked());
  expect_sizes("chunks", chunk_set());
  expect_sizes("mapped chunks", chunk_set().map(Stack<>()));
}

TEST(DropLast, CountsBeforeTheTransform) {
  // A transform that filters makes batches of its own sizes, and none of them is lost.
  const auto odd = data::transforms::BatchLambda<std::vector<data::Example<>>>(
      [](std::vector<data::Example<>> batch) {
        std::erase_if(batch, [](const auto& e) { return e.target.template item<int>() % 2 == 0; });
        return batch;
      });
  DataLoader loader(TenInARow().map(odd), DataLoaderOptions(kBatch).drop_last(true));
  EXPECT_EQ(sizes_of(loader), (Sizes{2, 1, 1}));
  struct Uncounted : data::datasets::StatefulDataset<Uncounted, int> {
    std::optional<int> get_batch(size_t) override { return std::nullopt; }
    std::optional<size_t> size() const override { return std::nullopt; }
    void reset() override {}
    void save(serialize::OutputArchive&) const override {}
    void load(serialize::InputArchive&) override {}
  };
  DataLoader uncounted(Uncounted(), DataLoaderOptions(2).drop_last(true));
  expect_error<NotImplementedError>([&] { uncounted.begin() == uncounted.end(); },
                                    "drop_last for a data set whose batches are no vectors");
}

}  // namespace
}  // namespace gradus
