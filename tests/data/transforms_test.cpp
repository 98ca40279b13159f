// Transforms of pictures: sizes, crops, flips, erasing, affine maps.
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "tests/support.h"

namespace gradus {
namespace {

using namespace data::transforms;
using data::transforms::detail::draw_part;

const Tensor& ramp() {  // 0 to 11, in three rows
  static const Tensor image = arange(12, kFloat).view({1, 3, 4});
  return image;
}

TEST(Transforms, CropAndFlip) {
  expect_values(CenterCrop<>({1, 2})(ramp()), {5, 6});
  expect_values(RandomHorizontalFlip<>(1)(ramp()).narrow(1, 0, 1), {3, 2, 1, 0});
  expect_values(RandomVerticalFlip<>(1)(ramp()).select(2, 0), {8, 4, 0});
  EXPECT_TRUE(RandomHorizontalFlip<>(0)(ramp()).equal(ramp()));
  expect_error<ValueError>([] { RandomHorizontalFlip<>(1.5); }, "p = 1.5");
  // torchvision rounds half of what is left over to even: int(round((7 - 4) / 2.0)) = 2.
  const int64_t firsts[] = {0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6};
  for (int64_t margin = 0; margin < 12; ++margin) {
    const Tensor rows = arange(margin + 3).view({1, -1, 1}).expand({1, margin + 3, 5});
    EXPECT_EQ(CenterCrop<>({3, 5})(rows)[0][0][0].item<int64_t>(), firsts[margin]) << margin;
    EXPECT_EQ(CenterCrop<>({5, 3})(rows.transpose(1, 2))[0][0][0].item<int64_t>(), firsts[margin]);
  }
  expect_error<ValueError>([] { CenterCrop<>(4)(ramp()); }, "size 4 x 4 of a picture of 3 x 4");
  expect_error<ValueError>([] { CenterCrop<>(1)(ones({3})); },
                           "expected (channels, height, width)");
}

TEST(Transforms, RandomCropFindsEveryPlace) {
  manual_seed(1);
  RandomCrop<> crop({2, 3});
  std::set<double> corners;
  for (int i = 0; i < 200; ++i) {
    const Tensor part = crop(ramp());
    ASSERT_EQ(part.sizes(), IntArrayRef({1, 2, 3}));
    const double corner = part[0][0][0].item<double>();
    corners.insert(corner);
    expect_values(part, {corner, corner + 1, corner + 2, corner + 4, corner + 5, corner + 6});
  }
  EXPECT_EQ(corners, (std::set<double>{0, 1, 4, 5}));
  // With padding the whole picture moves.
  std::set<std::pair<double, double>> places;
  RandomCrop<> padded({3, 4}, {.padding = 1, .fill = -1});
  for (int i = 0; i < 300; ++i) {
    const Tensor part = padded(ramp());
    places.emplace(part.sum().item<double>(), part.max().item<double>());
  }
  EXPECT_EQ(places.size(), 9U);
  expect_error<ValueError>([] { RandomCrop<>(6, {.padding = 1})(ramp()); },
                           "size 6 x 6 of a picture of 5 x 6");
}

// By torchvision's rule, with one scale and one ratio alone.
TEST(Transforms, ResizedCropHasTheSizeOfItsAreaAndRatio) {
  const auto size_of = [](ImageSize picture, double scale, double ratio) {
    const auto drawn = draw_part(picture, {scale, scale}, {ratio, ratio});
    return std::pair(drawn.size.height, drawn.size.width);
  };
  const auto pair = [](int64_t h, int64_t w) { return std::pair(h, w); };
  EXPECT_EQ(size_of({20, 30}, 0.5, 1), pair(17, 17));     // sqrt(300) = 17.3
  EXPECT_EQ(size_of({20, 30}, 0.25, 1.5), pair(10, 15));  // 150 pixels, 3 : 2
  EXPECT_EQ(size_of({20, 30}, 0.0001, 1), pair(20, 20));  // no pixel: the middle
  EXPECT_EQ(size_of({1, 100}, 0.0625, 1), pair(1, 1));    // sqrt(6.25) = 2.5 is rounded to 2
  EXPECT_EQ(size_of({5, 5}, 0.25, 1), pair(2, 2));        // 2.5 to the even number
  // What does not fit: the largest part in the middle.
  const auto wide = draw_part({4, 4}, {1, 1}, {2, 2}), high = draw_part({4, 4}, {1, 1}, {0.5, 0.5});
  EXPECT_EQ(std::tuple(wide.top, wide.left, wide.size.height, wide.size.width),
            std::tuple(1, 0, 2, 4));
  EXPECT_EQ(std::tuple(high.top, high.left, high.size.height, high.size.width),
            std::tuple(0, 1, 4, 2));
  EXPECT_EQ(size_of({4, 4}, 2, 1), pair(4, 4));
}

TEST(Transforms, ResizedCropFindsEveryPlaceAndKeepsItsBounds) {
  manual_seed(7);
  std::set<std::pair<int64_t, int64_t>> places;
  double least = 1, greatest = 0, wide = 0, high = 2;
  for (int i = 0; i < 500; ++i) {
    const auto [top, left, size] = draw_part({60, 80}, {0.08, 1}, {3. / 4, 4. / 3});
    ASSERT_TRUE(top >= 0 && left >= 0 && top + size.height <= 60 && left + size.width <= 80);
    const auto h = static_cast<double>(size.height), w = static_cast<double>(size.width);
    least = std::min(least, h * w / 4800), greatest = std::max(greatest, h * w / 4800);
    wide = std::max(wide, w / h), high = std::min(high, w / h);
    const auto small = draw_part({3, 4}, {0.5, 0.5}, {1, 1});  // 2 x 2
    places.emplace(small.top, small.left);
  }
  EXPECT_TRUE(least > 0.07 && least < 0.12 && greatest > 0.9 && greatest <= 1);
  EXPECT_TRUE(high > 0.7 && high < 0.8 && wide > 1.28 && wide < 1.4);
  EXPECT_EQ(places.size(), 6U);
}

TEST(Transforms, ResizedCropIsACropThatIsResized) {
  manual_seed(8);
  const Tensor image = randn({3, 9, 12});
  RandomResizedCrop<> crop({4, 5}, {0.3, 0.6});
  for (int i = 0; i < 10; ++i) {
    const GeneratorScope draws(static_cast<uint64_t>(i));
    const Tensor out = crop(image);
    const GeneratorScope again(static_cast<uint64_t>(i));
    const auto [top, left, size] = draw_part({9, 12}, {0.3, 0.6}, {3. / 4, 4. / 3});
    const Tensor part = image.narrow(1, top, size.height).narrow(2, left, size.width);
    EXPECT_TRUE(out.equal(Resize<>({4, 5})(part)));
  }
  EXPECT_EQ(RandomResizedCrop<>(7)(image).sizes(), IntArrayRef({3, 7, 7}));
  // All of the picture, of the same size, is the picture.
  EXPECT_TRUE(RandomResizedCrop<>({9, 12}, {1, 1}, {4. / 3, 4. / 3})(image).allclose(image));
  expect_error<ValueError>([&] { RandomResizedCrop<>(0)(image); }, "RandomResizedCrop: size 0 x 0");
  expect_error<ValueError>([] { RandomResizedCrop<>(4, {0.5, 0.2}); }, "scale from 0.5 to 0.2");
  expect_error<ValueError>([] { RandomResizedCrop<>(4, {0.1, 1}, {0, 1}); }, "ratio from 0 to 1");
  expect_error<ValueError>([] { RandomResizedCrop<>(4)(ones({3})); },
                           "RandomResizedCrop: the data have 1");
}

TEST(Transforms, ErasesARectangleOfACopy) {
  manual_seed(1);
  const Tensor image = ones({3, 20, 30});
  RandomErasing<> erase(1.0, {.least_area = 0.1, .greatest_area = 0.3}, 7);
  for (int i = 0; i < 50; ++i) {
    const Tensor erased = erase(image), where = erased[0].eq(7);
    const double count = where.sum().item<double>(), area = count / 600;
    EXPECT_GT(area, 0.05);
    EXPECT_LT(area, 0.37);
    const double rows = where.any(1).sum().item<double>(),
                 columns = where.any(0).sum().item<double>();
    EXPECT_EQ(rows * columns, count);  // a rectangle
    EXPECT_TRUE(erased[1].equal(erased[0]));
  }
  EXPECT_TRUE(image.equal(ones({3, 20, 30})));
  EXPECT_TRUE(RandomErasing<>(0.0)(image).is_same(image));
  expect_error<ValueError>([] { RandomErasing<>(1, {.least_area = 0.5, .greatest_area = 0.2}); },
                           "areas from 0.5 to 0.2");
  expect_error<ValueError>([] { RandomErasing<>(1, {.least_ratio = 0}); }, "ratios from 0");
}

TEST(Transforms, AffineMapsKnownPlaces) {
  // Nothing drawn: the picture itself.
  EXPECT_TRUE(RandomAffine<>({})(ramp()).allclose(ramp()));
  // Every turn keeps the center of a picture, and turns back.
  const Tensor square = randn({2, 5, 5});
  manual_seed(4);
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(RandomAffine<>({.degrees = 180})(square).select(1, 2).select(1, 2).allclose(
        square.select(1, 2).select(1, 2)));
  // Twice as large: the middle of the picture fills it.
  const Tensor larger =
      RandomAffine<>({.least_scale = 2, .greatest_scale = 2})(arange(16, kFloat).view({1, 4, 4}));
  expect_values(larger[0][0], {3.75, 4.25, 4.75, 5.25});
  expect_error<ValueError>([] { RandomAffine<>({.least_scale = 0, .greatest_scale = 1}); },
                           "scales from 0");
  expect_error<TypeError>([] { RandomAffine<>({})(ones({1, 2, 2}, kByte)); }, "use to(kFloat)");
}

// A quarter turn and a shift by a pixel, by the seed that draws about that, would be luck: shifts
// are checked by where a dot goes.
TEST(Transforms, AffineShiftsAndTurnsADot) {
  const Tensor image = zeros({1, 9, 17});
  image[0][4][8].fill_(1);
  manual_seed(2);
  for (int i = 0; i < 20; ++i) {
    const Tensor moved = RandomAffine<>({.degrees = 90, .shift_x = 0.2, .shift_y = 0.2})(image);
    const Tensor y = arange(9, kFloat).view({9, 1}), x = arange(17, kFloat);
    const double mass = moved.sum().item<double>();
    EXPECT_NEAR(mass, 1, 0.35);  // of a dot between pixels
    EXPECT_LE(std::abs((moved[0] * x).sum().item<double>() / mass - 8), 0.2 * 17 + 0.5);
    EXPECT_LE(std::abs((moved[0] * y).sum().item<double>() / mass - 4), 0.2 * 9 + 0.5);
  }
}

TEST(Transforms, ResizeIsBilinear) {
  expect_values(Resize<>({3, 2}, /*antialias=*/false)(ramp()), {0.5, 2.5, 4.5, 6.5, 8.5, 10.5});
  // Smaller pictures average over all pixels, as torchvision's: here with weights 3, 3, 1 of 7.
  EXPECT_TRUE(Resize<>({1, 2})(ramp().narrow(1, 0, 1))
                  .allclose(tensor({5.f / 7, 16.f / 7}).view({1, 1, 2})));
  expect_values(Resize<>({1, 2})(ramp().narrow(1, 0, 1).to(kByte)), {1, 2});
  EXPECT_EQ(Resize<>(7)(ramp()).sizes(), IntArrayRef({1, 7, 7}));
  expect_error<ValueError>([] { Resize<>(0)(ramp()); }, "size 0 x 0");
}

}  // namespace
}  // namespace gradus
