// Sets of labelled images: pixels, classes, files that are missing or do not fit.
#include "gradus/data/datasets/image_dataset.h"

#include "tests/data/idx_files.h"

namespace gradus::data {
namespace {

const Bytes kImages = make_idx({2, 1, 3}, {0, 51, 255, 1, 2, 3});
const Bytes kLabels = make_idx({2}, {4, 0});

std::filesystem::path digits() {
  return std::filesystem::path(__FILE__).parent_path() / "../../data/digits";
}

TEST(ImageDataset, ScalesPixelsAndCountsClasses) {
  const TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte", kImages);
  folder.write("train-labels-idx1-ubyte.gz", gzip(kLabels));
  const ImageDataset set = load_idx_folder(folder.path());
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(set.images.sizes(), IntArrayRef({2, 1, 3}));
  EXPECT_EQ(set.images.dtype(), kFloat);
  const float* pixels = set.images.data_ptr<float>();
  EXPECT_EQ(pixels[0], 0.0f);
  EXPECT_EQ(pixels[1], 0.2f);
  EXPECT_EQ(pixels[2], 1.0f);
  EXPECT_EQ(pixels[5], 3 / 255.0f);
  EXPECT_EQ(set.targets.sizes(), IntArrayRef({2}));
  EXPECT_EQ(set.targets.data_ptr<int64_t>()[0], 4);
  EXPECT_EQ(set.targets.data_ptr<int64_t>()[1], 0);
  EXPECT_EQ(set.classes, 5);
  EXPECT_EQ(set.source, folder.path());
  EXPECT_EQ(set.name, std::filesystem::path(folder.path()).filename());
  EXPECT_EQ(load_idx_folder(folder.path() + "/").name, set.name);
}

TEST(ImageDataset, TakesDotsInNamesAndTellsTestFromTraining) {
  const TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte", kImages);
  folder.write("train-labels-idx1-ubyte", kLabels);
  folder.write("t10k-images.idx3-ubyte.gz", gzip(make_idx({1, 2, 2}, {1, 2, 3, 4})));
  folder.write("t10k-labels.idx1-ubyte", make_idx({1}, {9}));
  EXPECT_EQ(load_idx_folder(folder.path(), false).images.sizes(), IntArrayRef({1, 2, 2}));
  EXPECT_EQ(load_idx_folder(folder.path(), true).size(), 2);
}

TEST(ImageDataset, NamesWhatIsMissing) {
  const TemporaryFolder folder;
  const auto message = [&] {
    return message_of<Error>([&] { load_idx_folder(folder.path(), false); });
  };
  EXPECT_EQ(message(), "load_idx_folder: " + folder.path() +
                           ": holds no t10k-images-idx3-ubyte or t10k-images-idx3-ubyte.gz, "
                           "expected the four files of MNIST; put them there");
  folder.write("t10k-images-idx3-ubyte", kImages);
  EXPECT_TRUE(contains(message(), "holds no t10k-labels-idx1-ubyte or"));
  EXPECT_EQ(message_of<Error>([&] { load_idx_folder(folder / "none"); }),
            "load_idx_folder: " + (folder / "none") + ": there is no such folder; check the path");
}

TEST(ImageDataset, RefusesFilesThatDoNotBelongTogether) {
  const TemporaryFolder folder;
  const auto message = [&](const Bytes& images, const Bytes& labels) {
    folder.write("train-images-idx3-ubyte", images);
    folder.write("train-labels-idx1-ubyte", labels);
    return message_of<ValueError>([&] { load_idx_folder(folder.path()); });
  };
  const std::string mismatch = message(kImages, make_idx({3}, {1, 2, 3}));
  EXPECT_TRUE(contains(mismatch, "train-labels-idx1-ubyte: holds 3 labels, and "));
  EXPECT_TRUE(contains(
      mismatch, "train-images-idx3-ubyte 2 images, expected as many; take both from one data set"));
  EXPECT_TRUE(
      contains(message(kLabels, kLabels),
               "train-images-idx3-ubyte: sizes [2], expected three: count, height, width; put"));
  EXPECT_TRUE(contains(message(kImages, kImages), "sizes [2, 1, 3], expected one: count; put"));
  EXPECT_TRUE(
      contains(message(make_idx({0, 28, 28}, {}), make_idx({0}, {})),
               "sizes [0, 28, 28], expected at least one image of at least one pixel; copy"));
  EXPECT_TRUE(
      contains(message(make_idx({2, 0, 28}, {}), kLabels), "sizes [2, 0, 28], expected at"));
  EXPECT_TRUE(contains(message(kImages, make_idx({5}, {1, 2})), "the header declares [5] bytes"));
}

TEST(ImageDataset, TheDigitsOfTheRepository) {
  const ImageDataset train = load_idx_folder(digits().string(), true);
  const ImageDataset test = load_idx_folder(digits().string(), false);
  EXPECT_EQ(train.images.sizes(), IntArrayRef({1437, 8, 8}));
  EXPECT_EQ(test.images.sizes(), IntArrayRef({360, 8, 8}));
  EXPECT_EQ(train.classes, 10);
  EXPECT_EQ(test.classes, 10);
  EXPECT_EQ(train.name, "digits");
  // The first row of the table: 0, 0, 5, 13, 9, 1, 0, 0, ... and the digit 0.
  const float* pixels = train.images.data_ptr<float>();
  const int first[] = {0, 0, 5, 13, 9, 1, 0, 0};
  for (int i = 0; i < 8; ++i) EXPECT_NEAR(pixels[i], first[i] / 16.0, 0.5 / 255) << i;
  const int64_t* labels = train.targets.data_ptr<int64_t>();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(labels[i], i);
}

TEST(ImageDataset, FashionMnist) {
  const char* folder = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "the package dataset-fashion-mnist is not installed";
  const ImageDataset train = load_idx_folder(folder, true);
  const ImageDataset test = load_idx_folder(folder, false);
  EXPECT_EQ(train.images.sizes(), IntArrayRef({60000, 28, 28}));
  EXPECT_EQ(test.images.sizes(), IntArrayRef({10000, 28, 28}));
  EXPECT_EQ(train.classes, 10);
  int64_t of_class[10] = {};
  for (int64_t i = 0; i < test.size(); ++i) ++of_class[test.targets.data_ptr<int64_t>()[i]];
  for (const int64_t count : of_class) EXPECT_EQ(count, 1000);
}

}  // namespace
}  // namespace gradus::data
