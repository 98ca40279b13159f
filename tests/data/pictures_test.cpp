// Pictures of every kind have the pixels that Pillow reads, and what is refused says why.
// tests/data/files/make_pictures.py wrote pictures.txt.
#include <fstream>
#include <sstream>

#include <zlib.h>

#include "tests/data/broken_files.h"
#include "tests/support.h"

namespace gradus::data {
namespace {

Bytes of_hex(const std::string& text) {
  Bytes out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out.push_back(static_cast<uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return out;
}

struct Variant {
  std::string name;
  Bytes file;
  std::string sums[3];  // of gray, RGB and RGBA; "-": Pillow does not convert
};

std::vector<Variant> variants() {
  std::ifstream in(std::string(GRADUS_SOURCE_DIR) + "/tests/data/files/pictures.txt");
  std::vector<Variant> out;
  std::string name, hex;
  while (in >> name >> hex) {
    out.push_back({name, of_hex(hex), {}});
    for (std::string& sum : out.back().sums) in >> sum;
  }
  EXPECT_GT(out.size(), 80U);
  return out;
}

const Variant& variant(const std::vector<Variant>& all, const std::string& name) {
  for (const Variant& one : all)
    if (one.name == name) return one;
  ADD_FAILURE() << name;
  return all[0];
}

std::string sum_of(const Tensor& picture) {
  const Tensor rows = picture.permute({1, 2, 0}).contiguous();
  std::ostringstream out;
  out << std::hex << std::setw(8) << std::setfill('0')
      << crc32(0, rows.data_ptr<uint8_t>(), static_cast<uInt>(rows.numel()));
  return out.str();
}

// Whether the build decodes the format.
bool is_read(const Variant& picture) {
  try {
    decode_image(picture.file, picture.name);
    return true;
  } catch (const NotImplementedError& error) {
    EXPECT_TRUE(contains(error.what(), "this build has no lib")) << picture.name << error.what();
    return false;
  }
}

TEST(Pictures, HaveThePixelsOfPillow) {
  for (const Variant& picture : variants()) {
    SCOPED_TRACE(picture.name);
    if (!is_read(picture)) continue;
    const ImageMode modes[] = {ImageMode::kGray, ImageMode::kRgb, ImageMode::kRgba};
    for (int i = 0; i < 3; ++i)
      if (picture.sums[i] != "-") {
        EXPECT_EQ(sum_of(decode_image(picture.file, picture.name, modes[i])), picture.sums[i]) << i;
      }
  }
}

std::string refusal(const Bytes& file) {
  try {
    decode_image(file, "some.file");
    return "it was read";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Pictures, SayWhyTheyAreDamaged) {
  const std::vector<Variant> all = variants();
  if (is_read(all[0])) {
    Bytes file = variant(all, "png-2-8").file;
    const std::string chunks(file.begin(), file.end());
    file[chunks.find("IDAT") + 20] ^= 1;  // the checksum of the chunk does not fit
    EXPECT_TRUE(contains(refusal(file), "some.file: the PNG file is damaged: IDAT: CRC error"));
    file = variant(all, "png-2-8").file;
    file[25] = 1;  // a color type that there is not
    EXPECT_FALSE(contains(refusal(file), "damaged: ;")) << refusal(file);
    EXPECT_TRUE(contains(refusal(file), "damaged: ")) << refusal(file);
  }
  const Variant plain = variant(all, "jpeg-optimized");
  if (!is_read(plain)) return;
  const std::string text(plain.file.begin(), plain.file.end());
  const size_t frame = text.find("\xff\xc0"), data = text.find("\xff\xda");
  Bytes file = plain.file;
  file[frame + 4] = 12;  // bits
  EXPECT_TRUE(contains(refusal(file), "libjpeg-turbo does not decode this kind of JPEG file: "));
  EXPECT_TRUE(contains(refusal(file), "save it again as a baseline JPEG of 8 bits"));
  file = plain.file;
  file[frame + 1] = 0xc3;  // lossless
  EXPECT_TRUE(contains(refusal(file), "libjpeg-turbo does not decode this kind of JPEG file: "));
  // Where pixels are lost it is an error: the data end early, or hold no code of the table.
  file.assign(plain.file.begin(), plain.file.end() - 30);
  file.insert(file.end(), {0xff, 0xd9});
  EXPECT_TRUE(
      contains(refusal(file), "the JPEG file is damaged: Corrupt JPEG data: premature end"));
  file = plain.file;
  std::fill(file.begin() + static_cast<std::ptrdiff_t>(data) + 16, file.end() - 4, 0xfe);
  EXPECT_TRUE(contains(refusal(file), "the JPEG file is damaged: Corrupt JPEG data"))
      << refusal(file);
}

}  // namespace
}  // namespace gradus::data
