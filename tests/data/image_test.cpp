// Pictures: modes, damaged files, folders of them. tests/data/files/make.py wrote the files.
#include "gradus/data/readers/image.h"

#include <algorithm>

#include "gradus/tensor/base/warning.h"
#include "tests/data/broken_files.h"
#include "tests/support.h"

namespace gradus::data {
namespace {

Tensor picture_of(const std::string& name, ImageMode mode = ImageMode::kUnchanged) {
  return decode_image(file_bytes(name), "some.file", mode);
}

// The pixels that make.py writes.
Tensor pattern(int64_t channels) {
  const Tensor c = arange(channels).view({-1, 1, 1}), y = arange(4).view({-1, 1}), x = arange(5);
  return (c * 60 + y * 20 + x * 7).remainder(256).to(kByte);
}

bool reads(const char* name) {
  try {
    picture_of(name);
    return true;
  } catch (const NotImplementedError& error) {
    EXPECT_TRUE(contains(error.what(), "this build has no lib"));
    return false;
  }
}

TEST(Png, ReadsEveryKind) {
  if (!reads("gray.png")) GTEST_SKIP() << "built without libpng";
  const std::pair<const char*, int64_t> files[] = {{"gray.png", 1},    {"gray_alpha.png", 2},
                                                   {"rgb.png", 3},     {"rgba.png", 4},
                                                   {"palette.png", 3}, {"deep.png", 1}};
  for (const auto& [name, channels] : files) {
    const Tensor image = picture_of(name);
    EXPECT_EQ(image.scalar_type(), kByte);
    EXPECT_TRUE(image.equal(pattern(channels))) << name << image;
  }
}

TEST(Png, ConvertsToAMode) {
  if (!reads("gray.png")) GTEST_SKIP() << "built without libpng";
  EXPECT_TRUE(picture_of("rgba.png", ImageMode::kRgb).equal(pattern(3)));
  EXPECT_TRUE(picture_of("gray_alpha.png", ImageMode::kGray).equal(pattern(1)));
  EXPECT_TRUE(picture_of("gray.png", ImageMode::kRgb).equal(pattern(1).repeat({3, 1, 1})));
  EXPECT_TRUE(picture_of("rgb.png", ImageMode::kRgba)
                  .equal(cat({pattern(3), full({1, 4, 5}, 255, kByte)})));
  EXPECT_TRUE(picture_of("rgba.png", ImageMode::kRgba).equal(pattern(4)));
  // Pillow's convert("L") of rgb.png
  expect_values(picture_of("rgb.png", ImageMode::kGray)[0][0], {49, 56, 63, 70, 77});
}

TEST(Jpeg, ReadsGrayAndColors) {
  if (!reads("gray.jpg")) GTEST_SKIP() << "built without libjpeg-turbo";
  const Tensor colors = picture_of("rgb.jpg");
  ASSERT_EQ(colors.sizes(), IntArrayRef({3, 8, 16}));
  const Tensor left = colors.narrow(2, 0, 8), right = colors.narrow(2, 8, 8);
  const auto expect_color = [](const Tensor& part, const std::vector<double>& color) {
    for (int64_t c = 0; c < 3; ++c)
      for (const double value : to_vector(part[c]))
        EXPECT_NEAR(value, color[static_cast<size_t>(c)], 3);
  };
  expect_color(left, {200, 30, 40});
  expect_color(right, {10, 120, 250});
  EXPECT_EQ(picture_of("gray.jpg").sizes(), IntArrayRef({1, 8, 16}));
  EXPECT_EQ(picture_of("gray.jpg", ImageMode::kRgb).sizes(), IntArrayRef({3, 8, 16}));
  EXPECT_EQ(picture_of("rgb.jpg", ImageMode::kRgba).size(0), 4);
}

TEST(Image, RefusesOtherFormats) {
  using namespace std::string_view_literals;
  const std::pair<std::string_view, const char*> files[] = {
      {"RIFF\x1a\0\0\0WEBPVP8L"sv, ", but WebP"},
      {"GIF89a"sv, ", but GIF"},
      {"BM\x36"sv, ", but BMP"},
      {"II*\0\x08"sv, ", but TIFF"},
      {"MM\0*\0"sv, ", but TIFF"},
      {"\0\0\0\x1c"
       "ftypavif"sv,
       ", but AVIF"},
      {"\0\0\0\x18"
       "ftypheic"sv,
       ", but HEIC"},
      {"RIFF\x1a\0\0\0WAVE"sv, ""},
      {"RIFF"sv, ""},
      {"GIF"sv, ""},
      {""sv, ""}};
  for (const auto& row : files) {
    const Bytes file(row.first.begin(), row.first.end());
    EXPECT_EQ(message_of<NotImplementedError>([&] { decode_image(file, "some.file"); }),
              "decode_image: some.file: neither a PNG nor a JPEG file" + std::string(row.second) +
                  "; convert the picture");
  }
}

// A PNG file with another width and height in its header.
Bytes with_size(Bytes file, uint32_t size) {
  for (const size_t at : {16, 20})
    for (size_t i = 0; i < 4; ++i) file[at + i] = static_cast<uint8_t>(size >> (24 - 8 * i));
  const uLong crc = crc32(0, file.data() + 12, 17);
  for (size_t i = 0; i < 4; ++i) file[29 + i] = static_cast<uint8_t>(crc >> (24 - 8 * i));
  return file;
}

TEST(Image, BelievesNoSizeOfAHeader) {
  if (!reads("gray.png")) GTEST_SKIP() << "built without libpng";
  for (const auto& [size, message] :
       {std::pair(1U << 24, "some.file: "), {1U << 12, "do not fit into a file of 79 bytes"}})
    EXPECT_TRUE(contains(message_of<ValueError>([&] {
                           decode_image(with_size(file_bytes("gray.png"), size), "some.file");
                         }),
                         message));
  if (!reads("gray.jpg")) return;
  Bytes file = file_bytes("gray.jpg");
  const uint8_t mark[] = {0xff, 0xc0};  // then length, bits, height, width
  const auto frame = std::search(file.begin(), file.end(), std::begin(mark), std::end(mark));
  ASSERT_NE(frame, file.end());
  for (const int at : {5, 7}) frame[at] = 0x20;
  EXPECT_TRUE(contains(message_of<ValueError>([&] { decode_image(file, "some.file"); }),
                       "pixels do not fit into a file of 336 bytes"));
}

TEST(ImageFolder, FindsClassesAndPictures) {
  if (!reads("gray.png")) GTEST_SKIP() << "built without libpng";
  const TemporaryFolder folder;
  for (const char* name : {"dog", "cat"}) std::filesystem::create_directory(folder / name);
  folder.write("cat/b.png", file_bytes("rgb.png"));
  folder.write("cat/a.PNG", file_bytes("gray.png"));
  folder.write("cat/notes.txt", {});
  folder.write("cat/.hidden.png", {});
  folder.write("dog/1.png", {1, 2, 3});
  ImageFolder pictures(folder.path());
  EXPECT_EQ(pictures.classes(), (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(pictures.size(), 3U);
  expect_values(pictures.targets(), {0, 0, 1});
  EXPECT_TRUE(pictures.path(1).ends_with("cat/b.png"));
  const Example<> example = pictures.get(1);
  EXPECT_EQ(example.target.item<int64_t>(), 0);
  EXPECT_EQ(example.target.dim(), 0);
  EXPECT_TRUE(example.data.equal(pattern(3).to(kFloat) / 255));
  EXPECT_EQ(pictures.get(0).data.sizes(), IntArrayRef({3, 4, 5}));
  EXPECT_TRUE(contains(message_of<NotImplementedError>([&] { pictures.get(2); }),
                       "dog/1.png: neither a PNG nor a JPEG"));
  // A loader names the file and the sample.
  DataLoader loader(pictures, DataLoaderOptions(1).workers(2));
  EXPECT_TRUE(contains(message_of<WorkerException>([&] {
                         for ([[maybe_unused]] auto& batch : loader) continue;
                       }),
                       "sample 2 of the data set"));
  std::filesystem::create_directory(folder / "emu");
  EXPECT_TRUE(contains(message_of<Error>([&] { ImageFolder{folder.path()}; }),
                       "emu holds no .png, .jpg or .jpeg file"));
  EXPECT_TRUE(contains(message_of<Error>([&] { ImageFolder{folder / "cat"}; }),
                       "holds no folders, expected one for each class"));
  EXPECT_TRUE(contains(message_of<Error>([&] { ImageFolder{folder / "none"}; }), "none: "));
}

struct WarningsOfFolder : WarningHandler {
  WarningsOfFolder() { Warning::set_warning_handler(this); }
  ~WarningsOfFolder() override { Warning::set_warning_handler(nullptr); }
  void process(const SourceLocation&, const std::string& message, bool) override {
    texts.push_back(message);
  }
  std::vector<std::string> texts;
};

TEST(ImageFolder, LeavesOutWhatIsCorrupt) {
  if (!reads("gray.png")) GTEST_SKIP() << "built without libpng";
  const TemporaryFolder folder;
  for (const char* name : {"dog", "cat"}) std::filesystem::create_directory(folder / name);
  Bytes torn = file_bytes("rgb.png");
  torn.resize(torn.size() / 2);
  folder.write("cat/a.png", file_bytes("rgb.png"));
  folder.write("cat/b.png", torn);
  folder.write("cat/c.png", {'G', 'I', 'F'});
  folder.write("dog/a.png", {});
  folder.write("dog/b.png", file_bytes("gray.png"));
  WarningsOfFolder seen;
  ImageFolder pictures(folder.path(), ImageMode::kRgb, /*skip_corrupt=*/true);
  EXPECT_EQ(pictures.size(), 2U);
  expect_values(pictures.targets(), {0, 1});
  EXPECT_TRUE(pictures.path(1).ends_with("dog/b.png"));
  EXPECT_EQ(pictures.get(1).data.sizes(), IntArrayRef({3, 4, 5}));
  ASSERT_EQ(pictures.skipped().size(), 3U);
  EXPECT_TRUE(pictures.skipped()[2].ends_with("dog/a.png"));
  ASSERT_EQ(seen.texts.size(), 1U);
  EXPECT_TRUE(contains(seen.texts[0], "3 of 5 pictures are left out"));
  EXPECT_TRUE(contains(seen.texts[0], "cat/b.png: the PNG file ends early"));
  DataLoader loader(pictures, DataLoaderOptions(2).workers(2));
  EXPECT_EQ(loader.begin()->data.sizes(), IntArrayRef({2, 3, 4, 5}));
  // Nothing is left out, and nothing said, where all can be read.
  for (const char* name : {"cat/b.png", "cat/c.png", "dog/a.png"})
    std::filesystem::remove(folder / name);
  EXPECT_TRUE(ImageFolder(folder.path(), ImageMode::kRgb, true).skipped().empty());
  EXPECT_EQ(seen.texts.size(), 1U);
  for (const char* name : {"cat/a.png", "dog/b.png"}) folder.write(name, torn);
  EXPECT_TRUE(contains(message_of<Error>([&] {
                         ImageFolder{folder.path(), ImageMode::kRgb, true};
                       }),
                       "holds no picture that can be read:"));
}

}  // namespace
}  // namespace gradus::data
