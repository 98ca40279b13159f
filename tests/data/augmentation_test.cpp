// Grayscale, Pad, RandomRotation, GaussianBlur, MixUp: torchvision's formulas, by hand.
#include "tests/support.h"

namespace gradus {
namespace {

using namespace data::transforms;

const Tensor& square() {  // 0 to 8, in three rows
  static const Tensor image = arange(9, kFloat).view({1, 3, 3});
  return image;
}

TEST(Augmentation, GrayscaleIsTheBrightness) {
  const Tensor image = rand({3, 2, 2});
  EXPECT_TRUE(Grayscale<>()(image).equal(functional::rgb_to_grayscale(image)));
  EXPECT_EQ(Grayscale<>(3)(image).size(0), 3);
}

TEST(Augmentation, PadAddsPixels) {
  // NumPy's pad of [0, 1, 2] by 2 and 2, in its modes of the same names.
  const Tensor row = arange(3, kFloat).view({1, 1, 3});
  const std::pair<Border, std::vector<double>> modes[] = {
      {Border::kConstant, {7, 7, 0, 1, 2, 7, 7}},
      {Border::kEdge, {0, 0, 0, 1, 2, 2, 2}},
      {Border::kReflect, {2, 1, 0, 1, 2, 1, 0}},
      {Border::kSymmetric, {1, 0, 0, 1, 2, 2, 1}}};
  for (const auto& [mode, expected] : modes)
    for (const ScalarType dtype : {kFloat, kByte}) {
      const Tensor out = Pad<>({2, 0, 2, 0}, 7, mode)(row.to(dtype));
      EXPECT_EQ(out.scalar_type(), dtype);
      expect_values(out, expected);
      expect_values(Pad<>({0, 2, 0, 2}, 7, mode)(row.to(dtype).transpose(1, 2)), expected);
    }
  EXPECT_EQ(Pad<>({1, 2, 3, 4})(square()).sizes(), IntArrayRef({1, 9, 7}));
  expect_values(Pad<>({1, 2, 3, 4})(square())[0][2], {0, 0, 1, 2, 0, 0, 0});
  EXPECT_EQ(Pad<>(1)(square()).sizes(), IntArrayRef({1, 5, 5}));
  expect_error<ValueError>([] { Pad<>(-1); }, "padding = -1, expected 0 or more");
  expect_error<ValueError>([] { Pad<>(3, 0, Border::kReflect)(square()); },
                           "3 pixels beyond the border of a picture with 3 along this side, "
                           "expected at most 2");
  expect_error<ValueError>([] { Pad<>(1)(ones({3})); }, "expected (channels, height, width)");
}

TEST(Augmentation, RotationTurnsCounterclockwise) {
  const auto turned = [](double degrees, RotationOptions how = {}) {
    return RandomRotation<>({degrees, degrees}, how);
  };
  for (const bool bilinear : {false, true}) {
    for (const ScalarType dtype : {kFloat, kByte}) {
      const Tensor image = square().to(dtype);
      EXPECT_TRUE(turned(0, {bilinear})(image).equal(image));
      for (int quarter = 1; quarter < 4; ++quarter) {
        const Tensor out = turned(90 * quarter, {bilinear})(image);
        EXPECT_EQ(out.scalar_type(), dtype);
        EXPECT_TRUE(out.to(kFloat).allclose(image.to(kFloat).rot90(quarter, {1, 2}), 0, 1e-5));
      }
    }
  }
  // A corner of a turned square lies outside of the picture.
  const Tensor filled = turned(45, {false, 9})(zeros({2, 4, 4}));
  EXPECT_EQ(filled[1][0][0].item<double>(), 9);
  EXPECT_EQ(filled[1][2][2].item<double>(), 0);
  manual_seed(1);
  RandomRotation<> random(30);
  const Tensor wide = rand({1, 8, 8});
  EXPECT_FALSE(random(wide).equal(random(wide)));
  expect_error<ValueError>([] { RandomRotation<>(-1); }, "RandomRotation: degrees from 1 to -1");
}

// The sizes are torchvision's, which counts pixels from the old corner.
TEST(Augmentation, RotationMayExpandAndTurnAboutAnyPoint) {
  const auto turned = [](double degrees, RotationOptions how) {
    return RandomRotation<>({degrees, degrees}, how);
  };
  const RotationOptions expand{.expand = true};
  const Tensor image = arange(16, kFloat).view({1, 4, 4});
  EXPECT_TRUE(turned(90, expand)(image).equal(image.rot90(1, {1, 2})));
  const auto pixels = [](const Tensor& x) { return x.sum().item<double>(); };
  const Tensor tilted = turned(45, expand)(ones({1, 8, 8}));
  EXPECT_EQ(tilted.sizes().vec(), (std::vector<int64_t>{1, 12, 12}));
  EXPECT_NEAR(pixels(tilted), 64, 4);  // the corners are there
  EXPECT_LT(pixels(turned(45, {})(ones({1, 8, 8}))), 56);
  EXPECT_EQ(turned(90, expand)(ones({2, 3})).sizes().vec(), (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(turned(0, expand)(ones({2, 3})).sizes().vec(), (std::vector<int64_t>{2, 3}));
  // About the middle of the upper left quarter the quarter alone is turned in its place.
  const Tensor about = turned(180, {.center = std::pair(1.0, 1.0)})(image);
  const Tensor quarter = image.narrow(1, 0, 2).narrow(2, 0, 2);
  EXPECT_TRUE(about.narrow(1, 0, 2).narrow(2, 0, 2).equal(quarter.flip({1, 2})));
  EXPECT_EQ(about.narrow(1, 2, 2).abs().sum().item<double>(), 0);
}

TEST(Augmentation, BlurAveragesByTheNormalDistribution) {
  // exp(-d^2 / 2 sigma^2) at -1, 0 and 1, divided by the sum.
  const double side = std::exp(-0.5 / (0.7 * 0.7)), sum = 1 + 2 * side;
  const double weights[] = {side / sum, 1 / sum, side / sum};
  Tensor point = zeros({1, 5, 5});
  point[0][2][2] = 1;
  const Tensor out = GaussianBlur<>(3, {0.7, 0.7})(point);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 3; ++x)
      EXPECT_NEAR(out[0][1 + y][1 + x].item<double>(), weights[y] * weights[x], 1e-6);
  EXPECT_NEAR(out.sum().item<double>(), 1, 1e-6);
  // The border is mirrored, so a picture of one value stays as it is; channels stay apart.
  const Tensor flat = stack({full({4, 5}, 3), full({4, 5}, 200)}).to(kByte);
  EXPECT_TRUE(GaussianBlur<>({3, 5})(flat).equal(flat));
  expect_error<ValueError>([] { GaussianBlur<>(2); }, "kernel_size 2 x 2, expected odd");
  expect_error<ValueError>([] { GaussianBlur<>(3, {0, 0}); }, "sigma from 0 to 0");
  expect_error<ValueError>([&] { GaussianBlur<>(11, {1, 1})(flat); }, "expected at most 3");
}

TEST(Augmentation, MixUpMixesABatchWithItselfRolled) {
  manual_seed(2);
  const Tensor x = rand({4, 1, 2, 2}), y = tensor({0, 1, 2, 1});
  const auto [mixed, shares] = MixUp(3, 0.4)({x, y});
  const Tensor classes = nn::functional::one_hot(y, 3).to(kFloat);
  // One lambda for the batch, in data and targets.
  const double lambda = shares[0][0].item<double>();
  EXPECT_GT(lambda, 0);
  EXPECT_LT(lambda, 1);
  EXPECT_TRUE(shares.allclose(classes * lambda + classes.roll(1, 0) * (1 - lambda), 0, 1e-6));
  EXPECT_TRUE(mixed.allclose(x * lambda + x.roll(1, 0) * (1 - lambda), 0, 1e-6));
  // Shares are mixed again.
  EXPECT_NEAR(MixUp(3)({mixed, shares}).target.sum().item<double>(), 4, 1e-5);
  // As a transform of batches.
  data::DataLoader loader(data::TensorPairDataset(x, y).map(Stack<>()).map(MixUp(3)), 2);
  EXPECT_EQ(loader.begin()->target.sizes(), IntArrayRef({2, 3}));
  // Beta(a, a) has the mean 1/2 and the variance 1 / (8 a + 4).
  for (const double alpha : {0.2, 1.0, 5.0}) {
    constexpr int kDraws = 20000;
    double sum = 0, squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double draw = data::transforms::detail::beta(alpha) - 0.5;
      sum += draw;
      squares += draw * draw;
    }
    const double variance = 1 / (8 * alpha + 4);
    EXPECT_NEAR(sum / kDraws, 0, 5 * std::sqrt(variance / kDraws));  // five standard deviations
    EXPECT_NEAR(squares / kDraws, variance, 0.05 * variance);
  }
  expect_error<ValueError>([] { MixUp(0); }, "num_classes = 0");
  expect_error<ValueError>([] { MixUp(3, 0); }, "alpha = 0");
  expect_error<TypeError>([&] { MixUp(3)({x.to(kByte), y}); }, "expected floating point");
  expect_error<ValueError>([&] { MixUp(3)({x, y.narrow(0, 0, 3)}); }, "as many of both");
  expect_error<ValueError>([&] { MixUp(2)({x, rand({4, 3})}); }, "or shares (N, 2)");
}

TEST(Augmentation, DrawsDependOnTheSeedAlone) {
  const auto all = [](size_t workers) {
    manual_seed(3);
    const auto pictures = data::TensorPairDataset(rand({12, 3, 6, 6}), arange(12))
                              .map(RandomRotation<>(20))
                              .map(GaussianBlur<>(3))
                              .map(Pad<>(1))
                              .map(Stack<>())
                              .map(MixUp(12));
    data::DataLoader loader(pictures, data::DataLoaderOptions(4).workers(workers));
    std::vector<double> out;
    for (auto& [x, y] : loader)
      for (const Tensor& part : {x, y})
        for (const double value : to_vector(part)) out.push_back(value);
    return out;
  };
  EXPECT_EQ(all(3), all(0));
}

TEST(StratifiedSplit, GivesEachPartItsShareOfEachClass) {
  manual_seed(4);
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < 100; ++i) classes.push_back(i < 70 ? 0 : i < 90 ? 5 : -1);
  const Tensor targets = tensor(classes, kLong);
  const data::TensorPairDataset rows(arange(100), targets);
  const auto parts = data::stratified_split(rows, targets, {0.5, 0.3, 0.2});
  std::set<size_t> seen;
  const int64_t expected[3][3] = {{35, 10, 5}, {21, 6, 3}, {14, 4, 2}};
  for (size_t p = 0; p < 3; ++p) {
    int64_t counts[3] = {};
    for (const size_t index : parts[p].indices()) {
      EXPECT_TRUE(seen.insert(index).second);
      ++counts[classes[index] == 0 ? 0 : classes[index] == 5 ? 1 : 2];
    }
    for (int c = 0; c < 3; ++c) EXPECT_EQ(counts[c], expected[p][c]) << p << c;
  }
  EXPECT_EQ(seen.size(), 100U);
  // Another draw of the same seed is the same, of another one another.
  const auto indices_of = [&](uint64_t seed) {
    auto generator = make_generator<CPUGeneratorImpl>(seed);
    return data::stratified_split(rows, targets, {0.5, 0.5}, generator)[0].indices();
  };
  EXPECT_EQ(indices_of(1), indices_of(1));
  EXPECT_NE(indices_of(1), indices_of(2));
  expect_error<ValueError>(
      [&] {
        data::stratified_split(rows, arange(3), {0.5, 0.5});
      },
      "targets have the shape [3] for 100 examples");
  expect_error<TypeError>(
      [&] {
        data::stratified_split(rows, rand({100}), {0.5, 0.5});
      },
      "expected whole numbers");
  expect_error<ValueError>(
      [&] {
        data::stratified_split(rows, targets, {0.5, 0.4});
      },
      "add up to 0.9");
}

}  // namespace
}  // namespace gradus
