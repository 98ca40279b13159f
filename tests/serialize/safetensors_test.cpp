// Safetensors files of every dtype and layout, written and read here and by Python.
#include "gradus/serialize/safetensors.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/random.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

using serialize::load_file, serialize::Metadata, serialize::NamedTensors, serialize::save_file;
using serialize::SafetensorsContents;

const ScalarType kAll[] = {kBool, kByte, kChar,     kShort, kInt,
                           kLong, kHalf, kBFloat16, kFloat, kDouble};

// The same dtype, shape and bits.
void expect_same(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.dtype(), expected.dtype());
  ASSERT_EQ(got.sizes(), expected.sizes());
  ASSERT_TRUE(got.is_contiguous());
  const Tensor a = raw::to(got, Device(kCPU));
  const Tensor b = raw::contiguous(raw::to(expected, Device(kCPU)));
  if (a.numel() > 0) {
    EXPECT_EQ(std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()), 0);
  }
}

SafetensorsContents through_file(const NamedTensors& tensors, const Metadata& metadata = {}) {
  const TemporaryFolder folder;
  save_file(tensors, folder / "x.safetensors", metadata);
  return load_file(folder / "x.safetensors");
}

Tensor with_random_bits(IntArrayRef sizes, ScalarType dtype) {
  const Tensor out = raw::contiguous(test::random_tensor(sizes, dtype));
  auto* bytes = static_cast<uint8_t*>(out.data_ptr());
  for (size_t i = 0; i < out.nbytes(); ++i)
    bytes[i] = static_cast<uint8_t>(test::pick(0, dtype == kBool ? 1 : 255));
  return out;
}

TEST(Safetensors, EveryDtypeKeepsItsBits) {
  NamedTensors tensors;
  for (const ScalarType dtype : kAll)
    for (const Dims& sizes : {Dims{}, Dims{0}, Dims{2, 0, 3}, Dims{7}, Dims{3, 1, 5}})
      tensors.insert("x" + std::to_string(tensors.size()), with_random_bits(sizes, dtype));
  tensors.insert("", with_random_bits({3}, kFloat));
  tensors.insert("large", with_random_bits({300, 1001}, kFloat));
  tensors.insert("complex", view_as_complex(with_random_bits({4, 5, 2}, kFloat)).transpose(0, 1));
  const SafetensorsContents got = through_file(tensors);
  EXPECT_EQ(got.tensors.keys(), tensors.keys());
  for (const auto& item : tensors) expect_same(got.tensors[item.key()], item.value());
}

// The format has no name for complex128: other programs read pairs, and the metadata have a mark.
TEST(Safetensors, Complex128IsWrittenAsMarkedPairs) {
  NamedTensors tensors;
  const Tensor z = view_as_complex(with_random_bits({4, 5, 2}, kDouble));
  tensors.insert("z", z.t());
  tensors.insert("number", z[0][0]);
  tensors.insert("none", empty({0, 3}, kComplexDouble));
  tensors.insert("pairs", view_as_real(z));
  std::string bytes;
  serialize::write_safetensors(
      [&](const void* from, size_t count) { bytes.append(static_cast<const char*>(from), count); },
      tensors, {{"by", "me"}, {"gradus.complex128:none of them", "text"}});
  EXPECT_NE(bytes.find(R"("z":{"dtype":"F64","shape":[5,4,2],)"), std::string::npos);
  EXPECT_NE(bytes.find(R"("gradus.complex128:z":)"), std::string::npos);
  const auto read = serialize::read_safetensors(
      [&](uint64_t from, void* to, size_t count) { std::memcpy(to, bytes.data() + from, count); },
      bytes.size(), "bytes");
  for (const auto& item : tensors) expect_same(read.tensors[item.key()], item.value());
  EXPECT_EQ(read.metadata,
            (serialize::Metadata{{"by", "me"}, {"gradus.complex128:none of them", "text"}}));
}

TEST(Safetensors, AnyLayoutIsWrittenAsItReads) {
  for (int i = 0; i < 60; ++i) {
    NamedTensors tensors;
    for (const ScalarType dtype : kAll)
      tensors.insert(std::string(short_name(dtype)),
                     test::random_tensor(test::random_sizes(4, 5), dtype));
    const SafetensorsContents got = through_file(tensors);
    for (const auto& item : tensors) expect_same(got.tensors[item.key()], item.value());
  }
}

TEST(Safetensors, EveryTensorIsAligned) {
  NamedTensors tensors;
  for (int i = 0; i < 40; ++i) {
    const ScalarType dtype = kAll[test::pick(0, 9)];
    tensors.insert(std::to_string(i), test::random_tensor({test::pick(0, 7)}, dtype));
  }
  std::string bytes;
  serialize::write_safetensors(
      [&](const void* from, size_t count) { bytes.append(static_cast<const char*>(from), count); },
      tensors);
  uint64_t length;
  std::memcpy(&length, bytes.data(), sizeof length);
  EXPECT_EQ(length % 8, 0u);
  const auto header =
      serialize::parse_header(bytes.substr(8, length), bytes.size() - 8 - length, "bytes");
  for (const auto& entry : header.entries)
    EXPECT_EQ(entry.begin % element_size(entry.dtype), 0u) << entry.name;
}

TEST(Safetensors, AliasesAreWrittenEach) {
  const Tensor x = arange(6.0).view({2, 3});
  NamedTensors tensors;
  tensors.insert("x", x);
  tensors.insert("transposed", x.t());
  tensors.insert("row", x[1]);
  tensors.insert("again", x);
  const SafetensorsContents got = through_file(tensors);
  for (const auto& item : tensors) expect_same(got.tensors[item.key()], item.value());
  EXPECT_FALSE(got.tensors["x"].is_alias_of(got.tensors["again"]));
}

TEST(Safetensors, ATensorWithAGraphIsWrittenAsItsValue) {
  const Tensor x = tensor({1.0, 2.0}, requires_grad());
  NamedTensors tensors;
  tensors.insert("y", x * 3);
  const Tensor got = through_file(tensors).tensors["y"];
  expect_values(got, {3, 6});
  EXPECT_FALSE(got.requires_grad());
}

TEST(Safetensors, MetadataAndNamesAreAnyUnicode) {
  std::string text;
  for (char c = 1; c > 0; ++c) text += c;
  text += std::string(1, '\0') + "\u00e9\u6f22\U0001f600\ufffd";
  const Metadata metadata = {{"a", ""}, {"", "b"}, {text, text}, {"__metadata__", "x"}};
  NamedTensors tensors;
  tensors.insert(text, ones({2}));
  const SafetensorsContents got = through_file(tensors, metadata);
  EXPECT_EQ(got.metadata, metadata);
  EXPECT_EQ(got.tensors.keys(), tensors.keys());
}

TEST(Safetensors, NothingIsAFileToo) {
  const SafetensorsContents got = through_file({});
  EXPECT_TRUE(got.tensors.is_empty());
  EXPECT_TRUE(got.metadata.empty());
}

TEST(Safetensors, WhatCannotBeWritten) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  const auto save = [&](const std::string& name, const Tensor& x, const Metadata& metadata = {}) {
    NamedTensors tensors;
    tensors.insert(name, x);
    save_file(tensors, path, metadata);
  };
  expect_error<ValueError>([&] { save("x", {}); }, "tensor \"x\" is undefined");
  expect_error<ValueError>([&] { save("\xff", ones({1})); }, "is not UTF-8");
  expect_error<ValueError>([&] { save("x", ones({1}), {{"a", "\xc3"}}); }, "is not UTF-8");
  expect_error<ValueError>([&] { save("__metadata__", ones({1})); }, "named __metadata__");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Safetensors, LoadsToADevice) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  NamedTensors tensors;
  const Tensor x = arange(12.0).view({3, 4});
  tensors.insert("here", x);
  tensors.insert("there", x.to(kCUDA).t());
  const TemporaryFolder folder;
  save_file(tensors, folder / "x.safetensors");
  const SafetensorsContents got = load_file(folder / "x.safetensors", kCUDA);
  for (const auto& item : tensors) {
    EXPECT_EQ(got.tensors[item.key()].device(), Device("cuda:0"));
    expect_same(got.tensors[item.key()], item.value());
  }
}

// Whether the bytes of x belong to a mapped file.
bool is_mapped(const Tensor& x, const std::string& path) {
  const auto address = reinterpret_cast<uintptr_t>(x.data_ptr());
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2 && begin <= address &&
        address < end)
      return line.find(path) != std::string::npos;
  }
  return false;
}

TEST(Safetensors, AMappedFileIsReadWithoutACopy) {
  NamedTensors tensors;
  for (const ScalarType dtype : kAll)
    for (const Dims& sizes : {Dims{}, Dims{0}, Dims{7}, Dims{3, 1, 5}})
      tensors.insert("x" + std::to_string(tensors.size()), with_random_bits(sizes, dtype));
  const TemporaryFolder folder;
  const std::string path = folder / "mapped.safetensors";
  save_file(tensors, path, {{"k", "v"}});
  const SafetensorsContents got = load_file(path, kCPU, true);
  EXPECT_EQ(got.metadata, (Metadata{{"k", "v"}}));
  EXPECT_EQ(got.tensors.keys(), tensors.keys());
  for (const auto& item : tensors) {
    expect_same(got.tensors[item.key()], item.value());
    EXPECT_EQ(is_mapped(got.tensors[item.key()], path), item.value().numel() > 0);
  }
  EXPECT_FALSE(is_mapped(load_file(path).tensors["x2"], path));
}

TEST(Safetensors, WritesToMappedTensorsStayHere) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  NamedTensors tensors;
  tensors.insert("x", arange(4000.0));
  save_file(tensors, path);
  Tensor x = load_file(path, kCPU, true).tensors["x"];  // outlives the contents
  x.mul_(-1);
  expect_same(x, arange(4000.0) * -1);
  expect_same(load_file(path, kCPU, true).tensors["x"], arange(4000.0));
  x.set_requires_grad(true);
  (x * x).sum().backward();
  expect_same(x.grad(), arange(4000.0) * -2);
  expect_error<Error>([&] { x.detach().resize_({5000}); }, "resize");
}

TEST(Safetensors, AMappedFileThatIsReplacedKeepsItsTensors) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  NamedTensors tensors;
  tensors.insert("x", arange(4000.0));
  save_file(tensors, path);
  const SafetensorsContents old = load_file(path, kCPU, true);
  tensors["x"] = zeros({4000});
  save_file(tensors, path);
  expect_same(old.tensors["x"], arange(4000.0));
  save_file(old.tensors, path);  // what was mapped, under the name of its file
  expect_same(load_file(path).tensors["x"], arange(4000.0));
  expect_same(old.tensors["x"], arange(4000.0));
  std::filesystem::remove(path);
  expect_same(old.tensors["x"], arange(4000.0));
}

// Another program may leave any place to the data.
TEST(Safetensors, UnalignedTensorsOfAMappedFileAreCopied) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  const std::string header =
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F32","shape":[1],)"
      R"("data_offsets":[1,5]}})";
  std::ofstream(path, std::ios::binary) << static_cast<char>(header.size()) << std::string(7, '\0')
                                        << header << std::string("\7\0\0\200\77", 5);
  const SafetensorsContents got = load_file(path, kCPU, true);
  expect_values(got.tensors["a"], {7});
  expect_values(got.tensors["b"], {1});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(got.tensors["b"].data_ptr()) % alignof(float), 0u);
}

TEST(Safetensors, AMappedFileThatIsTruncatedIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  NamedTensors tensors;
  tensors.insert("x", arange(10.0));
  tensors.insert("flags", tensor({true, false}));
  save_file(tensors, path);
  for (auto size = std::filesystem::file_size(path); size-- > 0;) {
    std::filesystem::resize_file(path, size);
    expect_error<ValueError>([&] { load_file(path, kCPU, true); }, path.c_str());
  }
  expect_error<Error>([&] { load_file(folder / "none", kCPU, true); }, "cannot be opened");
}

NamedTensors golden() {
  NamedTensors out;
  out.insert("bool", tensor({true, false, true}));
  out.insert("uint8", test::tensor({2, 2}, {0, 1, 128, 255}, kByte));
  out.insert("int8", test::tensor({2}, {-128, 127}, kChar));
  out.insert("int16", test::tensor({1, 2, 1}, {-32768, 32767}, kShort));
  out.insert("int32", test::tensor({2}, {-2147483648.0, 2147483647.0}, kInt));
  out.insert("int64", tensor({INT64_MIN, INT64_MAX}));
  out.insert("float16", test::tensor({3}, {0.5, -65504, INFINITY}, kHalf));
  out.insert("bfloat16", test::tensor({2}, {1.5, -2}, kBFloat16));
  out.insert("float32", test::tensor({2, 3}, {0, 1, 2, -3.5, 0x1p100, NAN}, kFloat));
  out.insert("float64", test::tensor({}, {M_PI}, kDouble));
  out.insert("empty", test::empty({2, 0, 3}));
  out.insert("gr\u00f6\u00dfe \"\u6f22\" \n", test::tensor({1}, {7}, kByte));
  return out;
}
const Metadata kGoldenMetadata = {
    {"format", "pt"},
    {"n\u00e4me", "line\nbreak, \"quotes\", \\, tab\t, \u0001, \u6f22\u5b57, \U0001f600"}};

TEST(Safetensors, ReadsWhatPythonWrote) {
  const SafetensorsContents got =
      load_file(GRADUS_SOURCE_DIR "/tests/serialize/golden.safetensors");
  const NamedTensors expected = golden();
  EXPECT_EQ(got.metadata, kGoldenMetadata);
  EXPECT_EQ(got.tensors.keys(), expected.keys());
  for (const auto& item : expected) expect_same(got.tensors[item.key()], item.value());
}

TEST(Safetensors, PythonReadsWhatWasWritten) {
  if (std::system("python3 -c pass 2> /dev/null") != 0) GTEST_SKIP() << "there is no python3";
  const TemporaryFolder folder;
  save_file(golden(), folder / "x.safetensors", kGoldenMetadata);
  const std::string command = "python3 '" GRADUS_SOURCE_DIR "/tests/serialize/golden.py' check '" +
                              folder / "x.safetensors" + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace gradus
