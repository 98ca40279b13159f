// Data sets: rows of tensors, parts, maps, chunks, pieces of a text.
#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

using data::TensorPairDataset;

TEST(TensorDataset, GivesRowsAndStacksOfThem) {
  data::TensorDataset rows(eye(3));
  EXPECT_EQ(rows.size(), 3U);
  expect_values(rows.get(1), {0, 1, 0});
  const std::vector<size_t> places = {2, 0};
  expect_values(rows.get_stacked(places), {0, 0, 1, 1, 0, 0});
  expect_values(data::TensorDataset(std::vector<Tensor>{ones({2}), zeros({2})}).get(1), {0, 0});
  expect_error<ValueError>([] { data::TensorDataset(tensor(1.0)); }, "has no dimensions");
  expect_error<IndexError>([&] { rows.get(3); }, "3");

  TensorPairDataset pairs(arange(6).view({3, 2}), tensor({7, 8, 9}));
  const auto [x, y] = pairs.get_stacked(places);
  expect_values(x, {4, 5, 0, 1});
  expect_values(y, {9, 7});
  expect_error<ValueError>([] { TensorPairDataset(ones({3}), ones({4})); },
                           "data has 3 rows, and target 4");
}

TEST(TensorTupleDataset, GivesRowsOfSeveralTensors) {
  data::TensorTupleDataset rows(arange(6).view({3, 2}), tensor({7, 8, 9}), ones({3, 1, 2}));
  EXPECT_EQ(rows.size(), 3U);
  const auto [a, b, c] = rows.get(1);
  expect_values(a, {2, 3});
  expect_values(b, {8});
  EXPECT_EQ(c.sizes(), (std::vector<int64_t>{1, 2}));
  expect_error<ValueError>([] { data::TensorTupleDataset(ones({3}), ones({3}), ones({4})); },
                           "tensor 0 has 3 rows, and tensor 2 has 4");
  expect_error<ValueError>([] { data::TensorTupleDataset(ones({3}), tensor(1.0)); },
                           "tensor 1 has no dimensions");
}

TEST(RandomSplit, DividesEveryDataSet) {
  const TensorPairDataset rows(arange(10), arange(10) * 2);
  manual_seed(1);
  for (const std::vector<double>& lengths :
       {std::vector<double>{7, 3}, {0.7, 0.3}, {0.65, 0.35}, {1, 0, 9}}) {
    auto parts = data::random_split(rows, lengths);
    std::multiset<size_t> seen;
    for (auto& part : parts) {
      seen.insert(part.indices().begin(), part.indices().end());
      for (size_t i = 0; i < *part.size(); ++i)
        EXPECT_EQ(part.get(i).data.item<size_t>(), part.indices()[i]);
    }
    EXPECT_EQ(seen.size(), 10U);
    EXPECT_EQ(std::set<size_t>(seen.begin(), seen.end()).size(), 10U);
  }
  // Python's: shares round down, and the first parts take the rest.
  const auto sizes = [&](std::vector<double> lengths) {
    std::vector<size_t> out;
    for (auto& part : data::random_split(rows, lengths)) out.push_back(*part.size());
    return out;
  };
  EXPECT_EQ(sizes({0.25, 0.25, 0.5}), (std::vector<size_t>{3, 2, 5}));
  EXPECT_EQ(sizes({0.33, 0.33, 0.34}), (std::vector<size_t>{4, 3, 3}));
  EXPECT_EQ(sizes({1.0}), (std::vector<size_t>{10}));
  EXPECT_EQ(sizes({10}), (std::vector<size_t>{10}));
  expect_error<ValueError>(
      [&] {
        sizes({4, 5});
      },
      "lengths = [4, 5] add up to 9, expected the 10 examples of the data set, or 1");
  expect_error<ValueError>([&] { sizes({-1, 11}); }, "expected none below 0");
  auto generator = make_generator<CPUGeneratorImpl>(5);
  const auto order = data::random_split(rows, {10}, generator)[0].indices();
  generator.set_current_seed(5);
  EXPECT_EQ(data::random_split(rows, {10}, generator)[0].indices(), order);
  expect_error<IndexError>([&] { data::datasets::Subset(rows, {10}); },
                           "index 10 of a data set of 10 examples");
}

TEST(MapDataset, CopiesAnLvalueAndMovesAnRvalue) {
  struct Numbers : data::Dataset<Numbers, int> {
    int get(size_t i) override { return static_cast<int>(i) + offset; }
    std::optional<size_t> size() const override { return 3; }
    int offset = 10;
  };
  Numbers numbers;
  auto doubled = numbers.map(data::transforms::Lambda<int>([](int x) { return 2 * x; }));
  numbers.offset = 0;
  EXPECT_EQ(doubled.get_batch({0, 2}), (std::vector<int>{20, 24}));
  auto shown = Numbers().map(
      data::transforms::Lambda<int, std::string>([](int x) { return std::to_string(x); }));
  EXPECT_EQ(shown.get_batch(1), (std::vector<std::string>{"11"}));
  EXPECT_EQ(shown.size(), 3U);
}

TEST(Normalize, TakesNumbersForAllOrEachChannel) {
  data::transforms::Normalize<> one(0.5, 0.25), each({0.0, 1.0}, {1.0, 2.0});
  expect_values(one(ones({2, 1, 1})), {2, 2});
  expect_values(each(full({2, 1, 1}, 3.0)), {3, 1});
  expect_error<ValueError>([&] { data::transforms::Normalize<>(0.5, 0.0); }, "stddev holds 0");
  expect_error<ValueError>(
      [&] {
        each(ones({1, 2, 2}));
      },
      "mean has 2 numbers, and the picture has 1 channel; give");
  // Bytes reach 255: the result would be wrong by this factor.
  for (const ScalarType dtype : {kByte, kInt, kLong, kBool})
    expect_error<TypeError>([&] { one(ones({1, 2, 2}, dtype)); }, "use to(kFloat) / 255 first");
  expect_error<ValueError>([&] { each(ones({3, 1, 1})); }, "");
}

struct Tens : data::datasets::ChunkDataReader<int> {
  std::vector<int> read_chunk(size_t chunk) override {
    check(chunk != failing, "chunk ", chunk, " cannot be read");
    std::vector<int> out(10);
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int>(10 * chunk + i);
    return out;
  }
  size_t chunk_count() override { return 6; }
  void reset() override {}
  size_t failing = 99;
};

TEST(ChunkDataset, GivesTheSameOrderWhateverTheNumberOfPreloaders) {
  using Chunks = data::datasets::ChunkDataset<Tens>;
  const auto order = [](size_t preloaders, size_t cache) {
    manual_seed(2);
    Chunks chunks(Tens(), data::samplers::RandomSampler(0), data::samplers::RandomSampler(0),
                  data::datasets::ChunkDatasetOptions(preloaders, 8, cache, 2));
    std::vector<int> out;
    for (int epoch = 0; epoch < 2; ++epoch) {
      chunks.reset();
      while (const auto batch = chunks.get_batch(8))
        out.insert(out.end(), batch->begin(), batch->end());
    }
    return out;
  };
  const std::vector<int> expected = order(1, 8);
  EXPECT_EQ(expected.size(), 120U);
  EXPECT_EQ(std::set<int>(expected.begin(), expected.begin() + 60).size(), 60U);
  EXPECT_EQ(order(3, 8), expected);
  EXPECT_EQ(order(4, 1000), expected);
}

TEST(ChunkDataset, HandsAnErrorOverWhereItBelongs) {
  Tens reader;
  reader.failing = 2;
  data::datasets::ChunkDataset<Tens, data::samplers::SequentialSampler,
                               data::samplers::SequentialSampler>
      chunks(reader, data::samplers::SequentialSampler(0), data::samplers::SequentialSampler(0),
             data::datasets::ChunkDatasetOptions(3, 5));
  expect_error<Error>([&] { chunks.get_batch(5); }, "call reset() first");
  for (int epoch = 0; epoch < 2; ++epoch) {
    chunks.reset();
    for (int i = 0; i < 4; ++i) EXPECT_EQ(chunks.get_batch(5)->front(), 5 * i);
    expect_error<ValueError>([&] { chunks.get_batch(5); }, "chunk 2 cannot be read");
  }
}

TEST(Text, NumbersItsCharacters) {
  const data::CharVocabulary vocabulary("bané, bañe");
  EXPECT_EQ(vocabulary.size(), 8);  // space , a b e n é ñ: by their bytes
  const Tensor numbers = vocabulary.encode("a bé");
  expect_values(numbers, {2, 0, 3, 6});
  EXPECT_EQ(numbers.scalar_type(), kLong);
  EXPECT_EQ(vocabulary.decode(numbers.view({2, 2})), "a bé");
  EXPECT_EQ(vocabulary.text(), " ,abenéñ");
  EXPECT_EQ(data::CharVocabulary(vocabulary.text()).text(), vocabulary.text());
  expect_error<ValueError>([&] { vocabulary.encode("x"); }, "lacks 'x'");
  expect_error<IndexError>([&] { vocabulary.decode(tensor({8})); },
                           "number 8 of a vocabulary of 8");
  for (const char* broken : {"ab\xff", "ab\xc3", "ab\x80", "ab\xe2\x82", "ab\xc0\xaf"})
    expect_error<ValueError>([&] { data::CharVocabulary{broken}; },
                             "byte 2 of the text begins no character of UTF-8");
}

TEST(ReadText, TakesTheFilesOfAFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "texts/within");
  folder.write("texts/b", {'2'});
  folder.write("texts/a", {'1', '\n'});
  folder.write("texts/within/c", {'3'});
  std::filesystem::create_symlink("a", folder / "texts/c");
  EXPECT_EQ(data::read_text(folder / "texts"), "1\n2");
  EXPECT_EQ(data::read_text(folder / "texts/c"), "1\n");
  std::filesystem::create_directories(folder / "empty/within");
  expect_error<Error>([&] { data::read_text(folder / "empty"); }, "a folder without a file");
}

TEST(Text, IsCutIntoPiecesWithTheNextTokensAsTargets) {
  data::TextDataset pieces(arange(10), 3);
  EXPECT_EQ(pieces.size(), 3U);
  expect_values(pieces.get(2).data, {6, 7, 8});
  expect_values(pieces.get(2).target, {7, 8, 9});
  EXPECT_EQ(data::TextDataset(arange(9), 3).size(), 2U);
  data::TextDataset overlapping(arange(10), 3, 1);
  EXPECT_EQ(overlapping.size(), 7U);
  expect_values(overlapping.get(6).target, {7, 8, 9});
  expect_error<IndexError>([&] { pieces.get(3); }, "index 3 of 3 pieces");
  expect_error<ValueError>([] { data::TextDataset(arange(3), 3); },
                           "3 tokens, expected more than length = 3");
  expect_error<ValueError>([] { data::TextDataset(arange(4).view({2, 2}), 1); }, "use flatten()");
  expect_error<ValueError>([] { data::TextDataset(arange(3), 0); }, "length = 0");
}

}  // namespace
}  // namespace gradus
