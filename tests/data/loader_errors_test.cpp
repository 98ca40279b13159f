// What goes wrong in a loader's thread or in another one arrives as an Error that names the sample
// and its file, whatever was thrown, and wherever: in get(), in a transform of an example or of a
// batch, in a stream, in a reader of chunks.
#include "tests/support.h"

namespace gradus {
namespace {

using data::DataLoader;
using data::DataLoaderOptions;

enum class Thrown { kError, kStandard, kNumber };

void throw_one(Thrown what) {
  if (what == Thrown::kStandard) throw std::runtime_error("a bad file");
  if (what == Thrown::kNumber) throw 7;  // NOLINT
  fail<TypeError>("a bad file");
}

// The examples 0 to 11 in files of their own. One of them cannot be read.
struct Files : data::Dataset<Files, int64_t> {
  Files(int64_t failing, Thrown what) : bad(failing), thrown(what) {}
  int64_t get(size_t index) override {
    if (static_cast<int64_t>(index) == bad) throw_one(thrown);
    return static_cast<int64_t>(index);
  }
  std::optional<size_t> size() const override { return 12; }
  std::string path(size_t index) const { return "cat/" + std::to_string(index) + ".png"; }
  int64_t bad;
  Thrown thrown;
};

struct Lines : data::IterableDataset<Lines, int64_t> {
  explicit Lines(Thrown what) : thrown(what) {}
  std::optional<int64_t> next() override {
    if (at == 5) throw_one(thrown);
    return at++;
  }
  void reset() override { at = 0; }
  int64_t at = 0;
  Thrown thrown;
};

struct Chunks : data::datasets::ChunkDataReader<int64_t> {
  explicit Chunks(Thrown what) : thrown(what) {}
  std::vector<int64_t> read_chunk(size_t chunk) override {
    if (chunk == 2) throw_one(thrown);
    return std::vector<int64_t>(4, static_cast<int64_t>(chunk));
  }
  size_t chunk_count() override { return 4; }
  void reset() override {}
  Thrown thrown;
};

using OfOne = data::transforms::Lambda<int64_t>;
using OfBatch = data::transforms::BatchLambda<std::vector<int64_t>>;

template <class Loader>
void go_through(Loader& loader) {
  for ([[maybe_unused]] auto& batch : loader) continue;
}

// What the loader of the data set throws. It is an Error from a worker, and goes on afterwards.
template <class Dataset>
std::string failure_of(Dataset dataset, size_t workers, Thrown what) {
  DataLoader loader(std::move(dataset), DataLoaderOptions(4).workers(workers));
  for (int epoch = 0; epoch < 2; ++epoch) try {
      go_through(loader);
    } catch (const Error& error) {
      if (epoch == 1) return error.what();
    } catch (const std::exception& error) {
      EXPECT_TRUE(workers == 0 && what == Thrown::kStandard) << error.what();
      return "";
    } catch (int) {
      EXPECT_TRUE(workers == 0 && what == Thrown::kNumber);
      return "";
    }
  return "nothing was thrown";
}

TEST(LoaderErrors, NameTheSampleWhateverWasThrownAndWhere) {
  const auto shared = [](auto dataset) {
    return data::datasets::make_shared_dataset<decltype(dataset)>(dataset);
  };
  for (const Thrown what : {Thrown::kError, Thrown::kStandard, Thrown::kNumber})
    for (const size_t workers : {0, 1, 3}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(what) << ", workers " << workers);
      const std::string sample = "; sample 7 of the data set, cat/7.png";
      const std::string text = what == Thrown::kNumber ? "" : "a bad file";
      const std::string head = workers == 0 ? ""
                               : what == Thrown::kNumber
                                   ? "Caught exception in DataLoader worker thread."
                                   : "Caught exception in DataLoader worker thread. Original "
                                     "message: ";
      const auto expect = [&](const std::string& got, const std::string& end) {
        // Without workers an exception that is no Error is passed on as it is.
        EXPECT_EQ(got, workers == 0 && what != Thrown::kError ? "" : head + text + end);
      };
      const auto one = OfOne([what](int64_t x) { return x == 7 ? throw_one(what), x : x; });
      const auto all = OfBatch([what](std::vector<int64_t> batch) {
        if (batch[0] == 8) throw_one(what);
        return batch;
      });
      const Files good(-1, what), bad(7, what);
      const auto failure = [&](auto dataset) { return failure_of(dataset, workers, what); };
      expect(failure(bad), sample);
      expect(failure(shared(bad)), sample);
      expect(failure(Files(bad).map(all)), sample);
      expect(failure(Files(good).map(one)), sample);
      expect(failure(Files(good).map(one).map(all)), sample);
      const auto same = OfBatch([](std::vector<int64_t> batch) { return batch; });
      expect(failure(Files(good).map(same).map(one)), sample);
      expect(failure(shared(Files(good).map(one))), sample);
      expect(failure(Files(good).map(all)), "; in the batch of the samples 8, 9, 10, 11");
      // The number of the first data set for get(), that of the mapped one for a transform.
      using Part = data::datasets::Subset<Files>;
      const std::vector<size_t> places = {0, 1, 2, 3, 8, 7};
      expect(failure(Part(bad, places)), sample);
      expect(failure(Part(good, places).map(one)), "; sample 5 of the data set, cat/7.png");
      expect(failure(Lines(what)), workers == 0 ? "" : "; in batch 2 of the epoch");
    }
}

TEST(LoaderErrors, NameTheChunk) {
  using Set = data::datasets::ChunkDataset<Chunks, data::samplers::SequentialSampler,
                                           data::samplers::SequentialSampler>;
  for (const Thrown what : {Thrown::kError, Thrown::kStandard, Thrown::kNumber}) {
    Set chunks(Chunks(what), data::samplers::SequentialSampler(0),
               data::samplers::SequentialSampler(0), data::datasets::ChunkDatasetOptions(2, 4));
    chunks.reset();
    EXPECT_EQ(chunks.get_batch(4)->size(), 4U);
    EXPECT_EQ(chunks.get_batch(4)->size(), 4U);
    try {
      chunks.get_batch(4);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.msg(), std::string(what == Thrown::kNumber ? "an exception of an unknown type"
                                                                 : "a bad file") +
                                 "; chunk 2 of the data set");
    }
  }
}

TEST(LoaderErrors, KeepTheOriginal) {
  DataLoader loader(Files(7, Thrown::kStandard), DataLoaderOptions(4).workers(2));
  try {
    go_through(loader);
    FAIL();
  } catch (const data::WorkerException& error) {
    EXPECT_EQ(error.message, error.what());
    EXPECT_EQ(error.sample, 7U);
    EXPECT_EQ(error.file, "cat/7.png");
    EXPECT_EQ(error.batch, (std::vector<size_t>{4, 5, 6, 7}));
    EXPECT_EQ(error.batch_number, 1U);
    EXPECT_THROW(std::rethrow_exception(error.original_exception), std::runtime_error);
  }
}

}  // namespace
}  // namespace gradus
