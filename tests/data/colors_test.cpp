// Colors of pictures: each step against torchvision's definition, and ColorJitter's draws.
#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "tests/support.h"

namespace gradus {
namespace {

using namespace data::transforms;
using ColorNumbers = std::vector<double>;
using ColorStep = Tensor (*)(const Tensor&, double);

// Two rows of two pixels: a red one, a green one; gray, blue.
const Tensor& picture() {
  static const Tensor image =
      tensor({0.9, 0.2, 0.5, 0., 0.1, 0.7, 0.5, 0.3, 0.4, 0.6, 0.5, 1.}).to(kFloat).view({3, 2, 2});
  return image;
}
const Tensor& picture_of_bytes() {
  static const Tensor image =
      tensor({230, 51, 128, 0, 26, 179, 128, 77, 102, 153, 128, 255}).to(kByte).view({3, 2, 2});
  return image;
}

struct ColorCase {
  const char* name;
  ColorStep step;
  double factor;
  ColorNumbers of_floats, of_bytes,
      of_gray;  // of picture(), picture_of_bytes(), the red channel of picture()
};
const ColorCase kColorCases[] = {
    {"brightness",
     functional::adjust_brightness,
     1.5,
     {1, 0.3, 0.75, 0, 0.15, 1, 0.75, 0.45, 0.6, 0.9, 0.75, 1},
     {255, 76, 192, 0, 39, 255, 192, 115, 153, 229, 192, 255},
     {1, 0.3, 0.75, 0}},
    {"less contrast",
     functional::adjust_contrast,
     0.25,
     {0.544207, 0.369208, 0.444207, 0.319207, 0.344207, 0.494208, 0.444207, 0.394207, 0.419207,
      0.469207, 0.444207, 0.569207},
     {138, 93, 113, 81, 87, 125, 113, 100, 106, 119, 113, 144},
     {0.525, 0.35, 0.425, 0.3}},
    {"contrast",
     functional::adjust_contrast,
     3,
     {1, 0, 0.64878, 0, 0, 1, 0.64878, 0.04878, 0.34878, 0.94878, 0.64878, 1},
     {255, 0, 167, 0, 0, 255, 167, 14, 89, 242, 167, 255},
     {1, 0, 0.7, 0}},
    {"less saturation",
     functional::adjust_saturation,
     0.5,
     {0.636655, 0.36954, 0.499975, 0.14505, 0.236655, 0.61954, 0.499975, 0.29505, 0.386655, 0.56954,
      0.499975, 0.64505},
     {162, 94, 127, 37, 60, 158, 127, 75, 98, 145, 127, 164},
     {0.9, 0.2, 0.5, 0}},
    {"saturation",
     functional::adjust_saturation,
     2,
     {1, 0, 0.50005, 0, 0, 0.86092, 0.50005, 0.3099, 0.42669, 0.66092, 0.50005, 1},
     {255, 0, 129, 0, 0, 221, 129, 80, 109, 169, 129, 255},
     {0.9, 0.2, 0.5, 0}},
    {"hue",
     functional::adjust_hue,
     0.25,
     {0.8, 0.35, 0.5, 1, 0.9, 0.2, 0.5, 0, 0.1, 0.7, 0.5, 0.8},
     {204, 89, 128, 255, 230, 51, 128, 0, 26, 179, 128, 205},
     {0.9, 0.2, 0.5, 0}},
    {"hue backwards",
     functional::adjust_hue,
     -0.4,
     {0.1, 0.7, 0.5, 0.7, 0.72, 0.4, 0.5, 1, 0.9, 0.2, 0.5, 0},
     {26, 179, 128, 179, 184, 102, 128, 255, 230, 51, 128, 0},
     {0.9, 0.2, 0.5, 0}},
    {"the opposite hue",
     functional::adjust_hue,
     0.5,
     {0.1, 0.7, 0.5, 1, 0.9, 0.2, 0.5, 0.7, 0.6, 0.3, 0.5, 0},
     {26, 179, 128, 255, 230, 51, 128, 178, 154, 77, 128, 0},
     {0.9, 0.2, 0.5, 0}},
};

TEST(Colors, EachStepIsTorchvisions) {
  for (const ColorCase& c : kColorCases) {
    SCOPED_TRACE(c.name);
    const auto expect_like = [&](const Tensor& image, const ColorNumbers& expected,
                                 double tolerance) {
      const Tensor out = c.step(image, c.factor);
      EXPECT_EQ(out.dtype(), image.dtype());
      EXPECT_TRUE(
          out.to(kDouble).allclose(tensor(expected, kDouble).view(image.sizes()), 0, tolerance))
          << out;
    };
    expect_like(picture(), c.of_floats, 2e-6);
    expect_like(picture().to(kDouble), c.of_floats, 2e-6);
    expect_like(picture_of_bytes(), c.of_bytes, 0);
    expect_like(picture().narrow(0, 0, 1), c.of_gray, 2e-6);
    // Pictures of a batch are changed as each of them.
    const Tensor batch = stack({picture(), picture().flip(0)});
    EXPECT_TRUE(c.step(batch, c.factor)[1].allclose(c.step(picture().flip(0), c.factor)));
  }
}

TEST(Colors, Grayscale) {
  const Tensor gray = functional::rgb_to_grayscale(picture());
  EXPECT_TRUE(gray.allclose(tensor({0.37331f, 0.53908f, 0.49995f, 0.2901f}).view({1, 2, 2})));
  expect_values(functional::rgb_to_grayscale(picture_of_bytes()), {95, 137, 127, 74});
  EXPECT_TRUE(functional::rgb_to_grayscale(picture(), 3).equal(cat({gray, gray, gray}, 0)));
}

TEST(Colors, FactorsThatChangeNothing) {
  for (const Tensor& image : {picture(), picture_of_bytes()}) {
    EXPECT_TRUE(functional::adjust_brightness(image, 1).equal(image));
    EXPECT_TRUE(functional::adjust_contrast(image, 1).equal(image));
    EXPECT_TRUE(functional::adjust_saturation(image, 1).equal(image));
    EXPECT_TRUE(functional::adjust_hue(image, 0).to(kFloat).allclose(image.to(kFloat)));
    EXPECT_TRUE(ColorJitter<>()(image).is_same(image));
  }
}

// With one bound alone the factor is known, and what is left out changes nothing.
TEST(Colors, JitterTakesEachOfItsNumbers) {
  const Tensor& x = picture();
  EXPECT_TRUE(ColorJitter<>({0.5, 0.5})(x).equal(functional::adjust_brightness(x, 0.5)));
  EXPECT_TRUE(ColorJitter<>(0, {2, 2})(x).equal(functional::adjust_contrast(x, 2)));
  EXPECT_TRUE(ColorJitter<>(0, 0, {2, 2})(x).equal(functional::adjust_saturation(x, 2)));
  EXPECT_TRUE(ColorJitter<>(0, 0, 0, {0.3, 0.3})(x).equal(functional::adjust_hue(x, 0.3)));
}

TEST(Colors, JitterDrawsFactorsBetweenItsBounds) {
  const Tensor dark = full({1, 1, 1}, 0.25);
  manual_seed(3);
  // The extents 0.5 and 2 stand for 0.5 to 1.5 and 0 to 3.
  for (const auto& [extent, least, greatest] : {std::tuple(0.5, 0.5, 1.5), {2., 0., 3.}}) {
    ColorJitter<> jitter(extent);
    ColorNumbers factors;
    for (int i = 0; i < 400; ++i) factors.push_back(jitter(dark).item<double>() / 0.25);
    const auto [low, high] = std::minmax_element(factors.begin(), factors.end());
    const double width = greatest - least;
    EXPECT_TRUE(*low >= least && *low < least + 0.05 * width) << *low;
    EXPECT_TRUE(*high <= greatest && *high > greatest - 0.05 * width) << *high;
    EXPECT_NEAR(std::accumulate(factors.begin(), factors.end(), 0.) / 400, (least + greatest) / 2,
                0.05 * width);
  }
}

TEST(Colors, JitterComesInEveryOrderAndBySeed) {
  const Tensor x = picture() * 0.5;
  const std::vector<std::pair<ColorStep, double>> steps = {{functional::adjust_brightness, 0.7},
                                                           {functional::adjust_contrast, 0.6},
                                                           {functional::adjust_saturation, 0.5},
                                                           {functional::adjust_hue, 0.2}};
  ColorJitter<> jitter({0.7, 0.7}, {0.6, 0.6}, {0.5, 0.5}, {0.2, 0.2});
  std::vector<Tensor> orders;
  std::vector<size_t> order = {0, 1, 2, 3};
  do {
    Tensor out = x;
    for (const size_t i : order) out = steps[i].first(out, steps[i].second);
    orders.push_back(out);
  } while (std::next_permutation(order.begin(), order.end()));
  manual_seed(5);
  std::set<size_t> seen;
  for (int i = 0; i < 300; ++i) {
    const Tensor out = jitter(x);
    const auto found = std::ranges::find_if(orders, [&](const Tensor& y) { return y.equal(out); });
    ASSERT_NE(found, orders.end());
    seen.insert(static_cast<size_t>(found - orders.begin()));
  }
  // Orders that differ in neighbours which give the same bits are one.
  std::set<size_t> different;
  for (const Tensor& y : orders)
    different.insert(static_cast<size_t>(
        std::ranges::find_if(orders, [&](const Tensor& z) { return z.equal(y); }) -
        orders.begin()));
  EXPECT_EQ(seen, different);
  EXPECT_GE(different.size(), 12U);

  manual_seed(6);
  const Tensor first = ColorJitter<>(0.4, 0.4, 0.4, 0.1)(x);
  manual_seed(6);
  EXPECT_TRUE(ColorJitter<>(0.4, 0.4, 0.4, 0.1)(x).equal(first));
}

TEST(Colors, ErrorsNameWhatIsWrong) {
  expect_error<ValueError>([] { ColorJitter<>(-0.1); }, "brightness is -0.1");
  expect_error<ValueError>(
      [] {
        ColorJitter<>(0, {2, 1});
      },
      "contrast from 2 to 1, expected factors from 0 on, the least first");
  expect_error<ValueError>([] { ColorJitter<>(0, 0, {-1, 1}); }, "saturation from -1 to 1");
  expect_error<ValueError>([] { ColorJitter<>(0, 0, 0, 0.6); },
                           "hue from -0.6 to 0.6, expected turns from -0.5 to 0.5");
  expect_error<ValueError>([] { functional::adjust_brightness(picture(), -1); },
                           "adjust_brightness: the factor is -1");
  expect_error<ValueError>([] { functional::adjust_hue(picture(), 0.7); }, "hue_factor is 0.7");
  expect_error<ValueError>([] { functional::rgb_to_grayscale(picture(), 2); }, "expected 1 or 3");
  for (const Tensor& image : {ones({2, 4, 4}), ones({4, 4}), Tensor()})
    expect_error<ValueError>([&] { ColorJitter<>(0.4)(image); },
                             "expected (channels, height, width) with 1 or 3");
  expect_error<TypeError>(
      [] {
        functional::adjust_contrast(ones({3, 2, 2}, kLong), 1);
      },
      "use to(kFloat)");
}

}  // namespace
}  // namespace gradus
