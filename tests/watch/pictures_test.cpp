// PNG files, grids and SVG pictures.
#include <zlib.h>

#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

using watch::CaptionedImage, watch::encode_png, watch::make_grid, watch::Panel;
using watch::plot_confusion_matrix, watch::plot_curves, watch::plot_images;

uint32_t number_at(const std::string& bytes, size_t at) {
  uint32_t out = 0;
  for (size_t i = 0; i < 4; ++i) out = out << 8 | static_cast<uint8_t>(bytes[at + i]);
  return out;
}

struct Png {
  uint32_t width, height;
  int depth, colour;
  std::vector<int> rows;  // each after the number of its filter
};

// Reads a PNG file as its specification says, with all checksums.
Png decoded(const std::string& bytes) {
  EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
  Png out{};
  std::string data, kinds;
  for (size_t at = 8; at < bytes.size();) {
    const uint32_t length = number_at(bytes, at);
    const std::string kind = bytes.substr(at + 4, 4), text = bytes.substr(at + 8, length);
    const auto* begin = reinterpret_cast<const Bytef*>(bytes.data()) + at + 4;
    EXPECT_EQ(number_at(bytes, at + 8 + length), crc32(0, begin, length + 4)) << kind;
    if (kind == "IHDR")
      out = {number_at(text, 0), number_at(text, 4), text[8], text[9], {}};
    else
      data += text;
    kinds += kind + " ";
    at += length + 12;
  }
  EXPECT_EQ(kinds, "IHDR IDAT IEND ");
  std::string rows(out.height * (out.width * 4 + 1), '\0');
  uLongf size = rows.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                       reinterpret_cast<const Bytef*>(data.data()), data.size()),
            Z_OK);
  for (size_t i = 0; i < size; ++i) out.rows.push_back(static_cast<uint8_t>(rows[i]));
  return out;
}

TEST(Png, HoldsTheRows) {
  for (const Device device : cpu_and_cuda()) {
    const Png grey =
        decoded(encode_png(tensor({0.0, 0.5, 1.0, -1.0, 2.0, 0.25}).view({2, 3}).to(device)));
    EXPECT_EQ(grey.width, 3u);
    EXPECT_EQ(grey.height, 2u);
    EXPECT_EQ(grey.depth, 8);
    EXPECT_EQ(grey.colour, 0);
    EXPECT_EQ(grey.rows, (std::vector<int>{0, 0, 128, 255, 0, 0, 255, 64}));
  }
  const Tensor bytes = arange(12, kByte).view({3, 2, 2});
  const Png colour = decoded(encode_png(bytes));
  EXPECT_EQ(colour.colour, 2);
  EXPECT_EQ(colour.rows, (std::vector<int>{0, 0, 4, 8, 1, 5, 9, 0, 2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(decoded(encode_png(arange(4, kByte).view({4, 1, 1}))).colour, 6);
  EXPECT_EQ(decoded(encode_png(rand({3, 300, 200}).to(kHalf))).rows.size(), 300u * 601);
}

TEST(Png, SaysWhatIsWrong) {
  expect_error<TypeError>(
      [] {
        encode_png(arange(4).view({2, 2}));
      },
      "encode_png: the image has dtype int64, expected uint8, or fractions");
  expect_error<ValueError>(
      [] {
        encode_png(tensor({NAN}).view({1, 1}));
      },
      "encode_png: a pixel is NaN");
  expect_error<ValueError>([] { encode_png(rand({3})); }, "the image has the shape [3]");
  expect_error<ValueError>([] { encode_png(rand({1, 0, 3})); }, "which has no pixels");
}

TEST(Grid, SetsImagesSideBySide) {
  const Tensor images = tensor({1, 2, 3}).view({3, 1, 1, 1});
  const Tensor grid = make_grid(images, {.nrow = 2, .padding = 1, .pad_value = 9});
  EXPECT_EQ(grid.sizes(), IntArrayRef({3, 5, 5}));
  for (int64_t c = 0; c < 3; ++c)
    expect_values(grid[c],
                  {9, 9, 9, 9, 9, 9, 1, 9, 2, 9, 9, 9, 9, 9, 9, 9, 3, 9, 9, 9, 9, 9, 9, 9, 9});
  expect_values(
      make_grid(tensor({2.0, 3.0, 4.0}).view({3, 1, 1, 1}), {.padding = 0, .normalize = true})[0],
      {0, 0.5, 1});
  EXPECT_EQ(make_grid(rand({4, 5})).sizes(), IntArrayRef({3, 4, 5}));
  EXPECT_EQ(make_grid(rand({3, 4, 5})).sizes(), IntArrayRef({3, 4, 5}));
  expect_error<ValueError>([] { make_grid(rand({0, 3, 2, 2})); }, "which has no pixels");
  expect_error<ValueError>([] { make_grid(rand({2, 2}), {.nrow = 0}); }, "nrow is 0");
}

TEST(Grid, BecomesAFile) {
  const TemporaryFolder folder;
  const Tensor images = rand({5, 1, 4, 4});
  watch::save_image(images, folder / "grid.png", {.nrow = 3});
  std::ifstream in(folder / "grid.png", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(bytes, encode_png(make_grid(images, {.nrow = 3})));
  // In a folder that it makes, but not below a file.
  watch::save_image(images, folder / "new/folder/grid.png");
  watch::save_svg("<svg/>", folder / "other/grid.svg");
  EXPECT_TRUE(std::filesystem::exists(folder / "new/folder/grid.png"));
  EXPECT_TRUE(std::filesystem::exists(folder / "other/grid.svg"));
  expect_error<Error>([&] { watch::save_image(images, folder / "grid.png/grid.png"); },
                      "save_image: the folder");
  expect_error<Error>([&] { watch::save_svg("<svg/>", folder / "grid.png/grid.svg"); },
                      "save_svg: the folder");
  // Nor in the place of a folder.
  expect_error<Error>([&] { watch::save_image(images, folder.path()); }, "save_image: ");
  expect_error<Error>([&] { watch::save_svg("<svg/>", folder.path()); }, "save_svg: ");
}

// Whether every element is closed, and how often one is opened.
int elements(const std::string& svg, const std::string& name) {
  int open = 0, found = 0;
  for (size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const size_t end = svg.find('>', at);
    EXPECT_NE(end, std::string::npos);
    if (svg[at + 1] == '/')
      --open;
    else if (svg[end - 1] != '/')
      ++open;
    found += svg.compare(at + 1, name.size(), name) == 0 ? 1 : 0;
  }
  EXPECT_EQ(open, 0);
  return found;
}

TEST(Curves, HaveAxesALegendAndEscapedNames) {
  const std::string svg =
      plot_curves("a < b & c", "epoch",
                  {{"loss", {{"train", {3, 2, 1}}, {"test", {3.5, NAN, 2, INFINITY, 1.5, 1.25}}}},
                   {"accuracy", {{"test", {0.5, 0.6}, {10, 20}}}}});
  EXPECT_EQ(elements(svg, "polyline"), 1 + 3 + 1);  // NaN and infinity cut a line
  EXPECT_EQ(elements(svg, "circle"), 3 + 4 + 2);
  EXPECT_NE(svg.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
  EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
  for (const std::string name : {">train<", ">test<", ">epoch<", ">accuracy<", ">20<"})
    EXPECT_NE(svg.find(name), std::string::npos) << name;
}

TEST(Curves, OfOnePointOrNoneAreDrawnToo) {
  for (const std::vector<double>& y :
       {std::vector<double>{}, {NAN}, {2}, {0}, {-1e300, 1e300}, {1e-300, 2e-300}, {5, 5, 5}}) {
    const std::string svg = plot_curves("t", "x", {{"p", {{"c", y}}}});
    EXPECT_EQ(elements(svg, "svg"), 1);
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
  }
  expect_error<ValueError>([] { plot_curves("t", "x", {}); }, "panels is empty");
  expect_error<ValueError>(
      [] {
        plot_curves("t", "x", {{"p", {}}});
      },
      "the panel 'p' has no curves");
  expect_error<ValueError>(
      [] {
        plot_curves("t", "x", {{"p", {{"c", {1, 2}, {1}}}}});
      },
      "the curve 'c' has 1 x and 2 y");
}

TEST(MatrixPicture, ShowsEveryCount) {
  const Tensor matrix = tensor({5, 1, 0, 27}).view({2, 2});
  const std::string svg = plot_confusion_matrix("digits", matrix, {"cat", "dog"});
  EXPECT_EQ(elements(svg, "rect"), 1 + 4);
  for (const std::string text : {">5<", ">1<", ">0<", ">27<", ">cat<", ">dog<", ">predicted<"})
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  EXPECT_NE(svg.find("#08519c"), std::string::npos) << "27 of 27";
  EXPECT_EQ(elements(plot_confusion_matrix("t", zeros({3, 3})), "rect"), 10);
  expect_error<ValueError>(
      [&] {
        plot_confusion_matrix("t", ones({2, 3}));
      },
      "matrix has the shape [2, 3], expected (classes, classes)");
  expect_error<ValueError>([&] { plot_confusion_matrix("t", matrix, {"cat"}); },
                           "class_names has 1 names for 2 classes");
}

TEST(ImagePicture, HoldsEveryImageWithItsCaption) {
  const std::string svg =
      plot_images("t", {{rand({4, 4}), "a<b"}, {rand({3, 2, 2}), "bad", false}}, 1);
  EXPECT_EQ(elements(svg, "image"), 2);
  EXPECT_NE(svg.find("href=\"data:image/png;base64,iVBORw0KGgo"), std::string::npos);
  EXPECT_NE(svg.find("#d55e00\">bad<"), std::string::npos) << svg;
  EXPECT_NE(svg.find(">a&lt;b<"), std::string::npos);
  expect_error<ValueError>([] { plot_images("t", {}, 0); }, "across is 0");
}

}  // namespace
}  // namespace gradus
