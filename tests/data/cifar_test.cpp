// CIFAR's records, and MNIST as a data set.
#include "gradus/data/datasets/cifar.h"

#include "tests/data/idx_files.h"
#include "tests/support.h"

namespace gradus::data {
namespace {

// A record with these classes, whose pixel i is (i + first) mod 256.
Bytes record(const Bytes& labels, int first) {
  Bytes out = labels;
  for (int i = 0; i < 3 * 32 * 32; ++i) out.push_back(static_cast<uint8_t>(i + first));
  return out;
}

TEST(Cifar, ReadsRecordsOfBothSets) {
  const TemporaryFolder folder;
  for (int i = 1; i <= 5; ++i)
    folder.write("data_batch_" + std::to_string(i) + ".bin", record({static_cast<uint8_t>(i)}, i));
  folder.write("test_batch.bin", record({9}, 0));
  const ImageDataset train = load_cifar10(folder.path());
  EXPECT_EQ(train.images.sizes(), IntArrayRef({5, 3, 32, 32}));
  expect_values(train.targets, {1, 2, 3, 4, 5});
  EXPECT_EQ(train.classes, 10);
  expect_values(train.images[2][1][0][3] * 255, {(1024 + 3 + 3) % 256}, 1e-5);
  EXPECT_EQ(load_cifar10(folder.path(), false).targets.item<int64_t>(), 9);

  folder.write("train.bin", record({19, 99}, 0));
  folder.write("test.bin", record({0, 1}, 0));
  EXPECT_EQ(load_cifar100(folder.path()).targets.item<int64_t>(), 99);
  EXPECT_EQ(load_cifar100(folder.path(), true, /*coarse=*/true).targets.item<int64_t>(), 19);
  EXPECT_EQ(load_cifar100(folder.path(), false).targets.item<int64_t>(), 1);
}

TEST(Cifar, RefusesOtherFiles) {
  const TemporaryFolder folder;
  EXPECT_TRUE(contains(message_of<Error>([&] { load_cifar10(folder.path(), false); }),
                       "test_batch.bin: there is no such file"));
  folder.write("test_batch.bin", record({10}, 0));
  EXPECT_TRUE(contains(message_of<ValueError>([&] { load_cifar10(folder.path(), false); }),
                       "has class 10, expected 0 to 9"));
  for (const size_t length : {0, 1, 3072, 3074}) {
    Bytes bytes = record({1, 2, 3}, 0);
    bytes.resize(length);
    folder.write("test_batch.bin", bytes);
    EXPECT_TRUE(contains(message_of<ValueError>([&] { load_cifar10(folder.path(), false); }),
                         "bytes, expected records of 3073 bytes"));
  }
}

TEST(Mnist, IsADataSetOfImagesWithAChannel) {
  const std::string digits = std::string(GRADUS_SOURCE_DIR) + "/data/digits";
  datasets::MNIST train(digits), test(digits, datasets::MNIST::Mode::kTest);
  EXPECT_TRUE(train.is_train() && !test.is_train());
  EXPECT_EQ(train.size(), 1437U);
  EXPECT_EQ(test.images().sizes(), IntArrayRef({360, 1, 8, 8}));
  const Example<> example = train.get(3);
  EXPECT_EQ(example.data.sizes(), IntArrayRef({1, 8, 8}));
  EXPECT_EQ(example.target.item<int64_t>(), train.targets()[3].item<int64_t>());
  DataLoader loader(train, DataLoaderOptions(100).shuffle(true).workers(2));
  int64_t seen = 0;
  for (auto& [x, y] : loader) seen += x.size(0) == y.size(0) ? y.size(0) : 0;
  EXPECT_EQ(seen, 1437);
}

}  // namespace
}  // namespace gradus::data
