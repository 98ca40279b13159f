// Arrays of NumPy, which tests/data/files/make.py wrote, and files that are damaged.
#include "gradus/data/readers/npy.h"

#include "tests/data/broken_files.h"
#include "tests/support.h"

namespace gradus::data {
namespace {

Bytes npy(const std::string& dictionary, const Bytes& elements) {
  Bytes out = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<uint8_t>(dictionary.size()), 0};
  out.insert(out.end(), dictionary.begin(), dictionary.end());
  out.insert(out.end(), elements.begin(), elements.end());
  return out;
}

TEST(Npy, ReadsBothOrdersOfBytesAndDimensions) {
  const Tensor fortran = parse_npy(file_bytes("fortran.npy"), "some.file");
  EXPECT_EQ(fortran.scalar_type(), kFloat);
  EXPECT_EQ(fortran.sizes(), IntArrayRef({2, 3}));
  expect_values(fortran, {0, 1, 2, 3, 4, 5});
  const Tensor big = load_npy(std::string(GRADUS_SOURCE_DIR) + "/tests/data/files/big_endian.npy");
  EXPECT_EQ(big.scalar_type(), kShort);
  expect_values(big, {0, 1, 2, 3, 4, 5});
  const Tensor truth = parse_npy(
      npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }\n", {0, 7}), "some.file");
  EXPECT_EQ(truth.scalar_type(), kBool);
  expect_values(truth, {0, 1});
}

TEST(Npz, ReadsStoredAndDeflatedArrays) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const auto arrays = load_npz(std::string(GRADUS_SOURCE_DIR) + "/tests/data/files/" + name);
    ASSERT_EQ(arrays.size(), 4U);
    expect_values(arrays.at("x"), {0, 0.5, 1, 1.5, 2, 2.5});
    EXPECT_EQ(arrays.at("x").scalar_type(), kDouble);
    expect_values(arrays.at("flag"), {1, 0, 1, 0, 1, 0});
    EXPECT_EQ(arrays.at("flag").scalar_type(), kBool);
    EXPECT_EQ(arrays.at("empty").sizes(), IntArrayRef({0, 3}));
    EXPECT_EQ(arrays.at("number").dim(), 0);
    EXPECT_EQ(arrays.at("number").scalar_type(), kHalf);
    expect_values(arrays.at("number"), {1.5});
  }
}

TEST(Npy, NamesWhatIsWrong) {
  const auto message = [](const std::string& dictionary, const Bytes& elements) {
    return message_of<ValueError>([&] { parse_npy(npy(dictionary, elements), "some.file"); });
  };
  const std::string floats = "{'descr': '<f4', 'fortran_order': False, 'shape': ";
  EXPECT_EQ(
      message(floats + "(2, 3), }", Bytes(20)),
      "parse_npy: some.file: the header declares [2, 3] elements of 4 bytes, and 20 bytes are "
      "there; the file is truncated or has "
      "more in it, copy it again");
  EXPECT_TRUE(contains(message(floats + "(4611686018427387904, 4), }", {}), "some.file"));
  EXPECT_TRUE(
      contains(message(floats + "(9223372036854775807,), }", Bytes(4)), "the header declares"));
  EXPECT_TRUE(
      contains(message(floats + "(99999999999999999999,), }", {}), "is not one of NumPy's"));
  EXPECT_TRUE(contains(message(floats + "(-1,), }", {}), "is not one of NumPy's"));
  EXPECT_TRUE(contains(message(floats + "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }", Bytes(4)),
                       "more than 16 dimensions"));
  EXPECT_TRUE(contains(message("{'shape': (1,)}", {}), "is not one of NumPy's"));
  EXPECT_TRUE(contains(message("", {}), "is not one of NumPy's"));
  for (const char* dtype : {"'|O'", "'<U5'", "'<c8'", "'>u2'", "[('a', '<f4')]"})
    EXPECT_TRUE(contains(message_of<NotImplementedError>([&] {
                           parse_npy(npy(std::string("{'descr': ") + dtype +
                                             ", 'fortran_order': False, 'shape': (1,), }",
                                         {}),
                                     "some.file");
                         }),
                         "convert it by astype() in NumPy"));
}

// A directory that names the same bytes four times: a small archive would become large.
TEST(Npz, RefusesFilesThatOverlap) {
  Bytes file = file_bytes("stored.npz");
  const auto end = file.end() - 22;  // the record behind the directory
  const Bytes directory(file.begin() + (end[16] | end[17] << 8), end);
  for (int i = 0; i < 3; ++i) file.insert(file.end() - 22, directory.begin(), directory.end());
  file.end()[10 - 22] = static_cast<uint8_t>(4 * file.end()[10 - 22]);  // how many files
  EXPECT_TRUE(contains(message_of<ValueError>([&] { parse_npz(file, "some.file"); }),
                       "are larger than the zip archive"));
}

TEST(Npz, NeverGivesOtherData) {
  const auto expected = parse_npz(file_bytes("deflated.npz"), "some.file").at("x");
  const Bytes file = file_bytes("deflated.npz");
  for (size_t at = 0; at < file.size(); ++at) {
    Bytes changed = file;
    changed[at] = static_cast<uint8_t>(changed[at] ^ 0x10);
    try {
      const auto arrays = parse_npz(changed, "some.file");
      if (arrays.contains("x")) {
        EXPECT_TRUE(arrays.at("x").equal(expected)) << at;
      }
    } catch (const Error&) {
      continue;
    }
  }
}

}  // namespace
}  // namespace gradus::data
