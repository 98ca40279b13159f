// IDX files: sizes, gzip, and every way to be truncated or corrupt.
#include "gradus/data/datasets/idx.h"

#include <cstdlib>
#include <random>

#include "tests/data/idx_files.h"

namespace gradus::data {
namespace {

const Bytes kElements = {1, 2, 3, 40, 50, 255};
const Bytes kFile = make_idx({2, 3}, kElements);

// The message, which names its one fix.
std::string error_of(const Bytes& file) {
  const std::string message = message_of<ValueError>([&] { parse_idx(file, "some.idx"); });
  EXPECT_TRUE(message.ends_with("copy it again") || message.ends_with("copy the file again") ||
              message.ends_with("not an IDX file, give one"))
      << message;
  return message;
}

Bytes with(Bytes bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

std::mt19937_64 random_engine() {
  const char* set = std::getenv("GRADUS_TEST_SEED");
  const uint64_t seed = set ? std::strtoull(set, nullptr, 10) : std::random_device{}();
  std::printf("GRADUS_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return std::mt19937_64(seed);
}

TEST(Idx, ReadsKnownBytes) {
  const Bytes file = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 40, 50, 255};
  const IdxArray array = parse_idx(file, "known");
  EXPECT_EQ(array.sizes, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(array.bytes, kElements);
}

TEST(Idx, SizesAreBigEndian) {
  const Bytes elements(0x0102, 7);
  const IdxArray array = parse_idx(with({0, 0, 8, 1, 0, 0, 1, 2}, elements), "known");
  EXPECT_EQ(array.sizes, (std::vector<int64_t>{258}));
  EXPECT_EQ(array.bytes, elements);
}

TEST(Idx, ReadsGzipOfOneAndOfSeveralMembers) {
  EXPECT_EQ(parse_idx(gzip(kFile), "gz").bytes, kElements);
  const Bytes first(kFile.begin(), kFile.begin() + 9), second(kFile.begin() + 9, kFile.end());
  EXPECT_EQ(parse_idx(with(gzip(first), gzip(second)), "gz").bytes, kElements);
}

TEST(Idx, ReadsMoreThanOnePiece) {
  std::mt19937_64 engine = random_engine();
  Bytes elements((size_t{1} << 20) * 2 + 12345);
  for (uint8_t& element : elements) element = static_cast<uint8_t>(engine());
  const Bytes file = make_idx({static_cast<uint32_t>(elements.size())}, elements);
  EXPECT_EQ(parse_idx(file, "plain").bytes, elements);
  EXPECT_EQ(parse_idx(gzip(file), "gz").bytes, elements);
}

TEST(Idx, ASizeOfZeroIsAnEmptyArray) {
  const IdxArray array = parse_idx(make_idx({0xffffffff, 0xffffffff, 0}, {}), "empty");
  EXPECT_EQ(array.sizes, (std::vector<int64_t>{0xffffffff, 0xffffffff, 0}));
  EXPECT_TRUE(array.bytes.empty());
}

TEST(Idx, EveryTruncationIsAnError) {
  for (const Bytes& file : {kFile, gzip(kFile)})
    for (size_t length = 0; length < file.size(); ++length) {
      SCOPED_TRACE(length);
      EXPECT_TRUE(contains(error_of(Bytes(file.begin(), file.begin() + length)), "some.idx: "));
    }
}

TEST(Idx, EveryAppendedByteIsAnError) {
  for (int byte = 0; byte < 256; ++byte) {
    const Bytes extra = {static_cast<uint8_t>(byte)};
    EXPECT_TRUE(contains(error_of(with(kFile, extra)),
                         "1 bytes follow the data that the header declares, [2, 3]"));
    EXPECT_TRUE(contains(error_of(with(gzip(kFile), extra)), "1 bytes follow the gzip data"));
    EXPECT_TRUE(contains(error_of(gzip(with(kFile, extra))), "1 bytes follow the data that"));
  }
}

// A flip in the gzip header may be harmless (its time, for one); the data are never other ones.
TEST(Idx, AFlippedBitOfGzipNeverGivesOtherData) {
  const Bytes file = gzip(kFile);
  int errors = 0;
  for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
    Bytes flipped = file;
    flipped[bit / 8] = static_cast<uint8_t>(flipped[bit / 8] ^ (1 << bit % 8));
    try {
      EXPECT_EQ(parse_idx(flipped, "flipped").bytes, kElements) << "bit " << bit;
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GE(errors, static_cast<int>(8 * (file.size() - 10)));  // all behind the 10 bytes of header
}

// Corrupt data may inflate to too many bytes. The checksum detects that.
TEST(Idx, CorruptGzipIsCalledSo) {
  Bytes file = gzip(with(kFile, {1}));
  file[file.size() - 8] = static_cast<uint8_t>(file[file.size() - 8] ^ 1);
  EXPECT_TRUE(contains(error_of(file), "the gzip data are corrupt after 19 bytes inflated"));
}

TEST(Idx, NamesWhatIsWrongInTheHeader) {
  EXPECT_EQ(error_of({}),
            "parse_idx: some.idx: 0 bytes of data, too few for the 4 bytes that begin an IDX file; "
            "copy it again");
  EXPECT_TRUE(
      contains(error_of({'P', 'N', 'G', 1, 2}), "begins with bytes 0x50 0x4e, expected 0x00 0x00"));
  EXPECT_TRUE(contains(error_of({0, 0, 8, 0}), "0 dimensions, expected 1 to 16"));
  EXPECT_TRUE(contains(error_of({0, 0, 8, 17}), "17 dimensions, expected 1 to 16"));
  EXPECT_TRUE(contains(error_of({0, 0, 8, 3, 0, 0, 0, 1}),
                       "the header of 3 dimensions needs 16 bytes, and the data end after 8; "
                       "the file is truncated, copy it again"));
}

TEST(Idx, OtherElementTypesAreRefusedByName) {
  const std::pair<uint8_t, const char*> types[] = {
      {0x09, "0x09 (signed byte)"}, {0x0b, "0x0b (int16)"},   {0x0c, "0x0c (int32)"},
      {0x0d, "0x0d (float32)"},     {0x0e, "0x0e (float64)"}, {0x07, "0x07 (unknown)"}};
  for (const auto& [type, name] : types) {
    const Bytes file = make_idx({1}, {1}, type);
    EXPECT_TRUE(
        contains(message_of<NotImplementedError>([&] { parse_idx(file, "some.idx"); }),
                 "element type " + std::string(name) + ", expected 0x08 (unsigned byte); convert"));
  }
}

TEST(Idx, HeadersThatDeclareMoreThanTheFileHolds) {
  EXPECT_EQ(
      error_of(make_idx({2, 4}, kElements)),
      "parse_idx: some.idx: the header declares [2, 4] bytes of data, and at most 6 can follow "
      "it in this file; it is truncated or its header is wrong, copy it again");
  // The product is 2^64 and 2^64 + 2^32: nothing for a 64-bit product.
  EXPECT_TRUE(contains(error_of(make_idx({1u << 31, 1u << 31, 4}, kElements)), "at most 6"));
  EXPECT_TRUE(contains(error_of(make_idx({1u << 31, 1u << 31, 4, 1}, {})), "at most 0"));
  // Within gzip's best ratio: only the data show that the size is wrong.
  EXPECT_TRUE(contains(error_of(gzip(make_idx({2, 30}, kElements))),
                       "the header declares 60 bytes of data [2, 30], and 6 are there"));
  // Beyond it.
  EXPECT_TRUE(contains(error_of(gzip(make_idx({0xffffffff, 0xffff}, kElements))),
                       "[4294967295, 65535] bytes of data, and at most"));
}

TEST(Idx, RandomBytesGiveAnErrorOrAWholeArray) {
  std::mt19937_64 engine = random_engine();
  int errors = 0, arrays = 0;
  for (int run = 0; run < 20000; ++run) {
    const Bytes& base = kFile;
    Bytes file = run % 3 == 0 ? gzip(base) : base;
    for (size_t changes = engine() % 3; changes > 0; --changes)
      file[engine() % file.size()] = static_cast<uint8_t>(engine());
    if (run % 5 == 0) file.resize(engine() % (file.size() + 4));
    try {
      const IdxArray array = parse_idx(file, "fuzz");
      ASSERT_EQ(checked_numel("test", array.sizes), static_cast<int64_t>(array.bytes.size()));
      ++arrays;
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 1000);
  EXPECT_GT(arrays, 1000);
}

TEST(Idx, FilesThatCannotBeRead) {
  const TemporaryFolder folder;
  const std::string missing = folder / "missing.gz";
  EXPECT_EQ(message_of<Error>([&] { read_idx(missing); }),
            "read_idx: " + missing + ": there is no such file; check the path");
  EXPECT_EQ(message_of<Error>([&] { read_idx(folder.path()); }),
            "read_idx: " + folder.path() + ": not a regular file; give the path of one");
  EXPECT_TRUE(contains(message_of<Error>([&] { read_idx("/dev/zero"); }), "not a regular file"));
  EXPECT_EQ(read_idx(folder.write("some.gz", gzip(kFile))).bytes, kElements);
  EXPECT_EQ(read_idx(folder.write("misnamed.gz", kFile)).bytes, kElements);
}

}  // namespace
}  // namespace gradus::data
