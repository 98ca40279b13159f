// Untrusted files: any bytes give an error that names the file, or valid tensors.
#include <sys/stat.h>

#include <cstring>

#include "gradus/serialize/safetensors.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

using serialize::SafetensorsContents;

SafetensorsContents parse(const std::string& bytes) {
  return serialize::read_safetensors(
      [&](uint64_t position, void* to, size_t count) {
        if (position > bytes.size() || count > bytes.size() - position)
          throw std::out_of_range("beyond the file");
        std::memcpy(to, bytes.data() + position, count);
      },
      bytes.size(), "the file");
}

std::string with_length(uint64_t length, const std::string& rest) {
  std::string out;
  for (int b = 0; b < 8; ++b) out += static_cast<char>(length >> (8 * b) & 0xff);
  return out + rest;
}
std::string file(const std::string& header, const std::string& data = "") {
  return with_length(header.size(), header + data);
}

bool names_a_fix(const std::string& message) {
  for (const char* fix : {"; save the file again", "copy it again", "copy the file again",
                          "; load it by serialize::load_pt", ", give one that save_file wrote",
                          "and save it again", "; convert it to one of BOOL U8 I8 "})
    if (message.find(fix) != std::string::npos) return true;
  return false;
}

template <class E = ValueError>
void refused(const std::string& bytes, const std::string& why) {
  SCOPED_TRACE(bytes.substr(0, 200));
  try {
    parse(bytes);
    FAIL() << "nothing was thrown; expected a message with: " << why;
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(typeid(error), typeid(E)) << message;
    EXPECT_TRUE(message.starts_with("the file: ")) << message;
    EXPECT_NE(message.find(why), std::string::npos) << message << "\nexpected in it: " << why;
    EXPECT_TRUE(names_a_fix(message)) << message;
  }
}
// Of one tensor, x.
template <class E = ValueError>
void refused_entry(const std::string& fields, const std::string& data, const std::string& why) {
  refused<E>(file("{\"x\":{" + fields + "}}", data), why);
}
std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "\"dtype\":\"" + dtype + "\",\"shape\":[" + shape + "],\"data_offsets\":[" + offsets + "]";
}

// A small file with every entry that a header can have.
std::string sample() {
  serialize::NamedTensors tensors;
  tensors.insert("a", arange(3));
  tensors.insert("weight", ones({2, 2}));
  tensors.insert("mask", tensor({true, false}));
  tensors.insert("none", zeros({0, 4}));
  std::string bytes;
  serialize::write_safetensors(
      [&](const void* from, size_t count) { bytes.append(static_cast<const char*>(from), count); },
      tensors, {{"k", "v"}});
  return bytes;
}

TEST(SafetensorsRefusals, TruncatedAtAnyByte) {
  const std::string whole = sample();
  parse(whole);
  for (size_t size = 0; size < whole.size(); ++size) refused(whole.substr(0, size), "");
  refused(whole + '\0', "bytes were appended");
}

TEST(SafetensorsRefusals, AnyBitOfTheHeaderFlipped) {
  const std::string whole = sample();
  const SafetensorsContents expected = parse(whole);
  const size_t header = 8 + static_cast<uint8_t>(whole[0]) + 256 * static_cast<uint8_t>(whole[1]);
  int taken = 0;
  for (size_t byte = 0; byte < header; ++byte)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = whole;
      bytes[byte] = static_cast<char>(bytes[byte] ^ (1 << bit));
      try {
        // Accepted files differ in one name or text, or in a space between others.
        const SafetensorsContents got = parse(bytes);
        ++taken;
        ASSERT_EQ(got.tensors.size(), expected.tensors.size());
        int differing = got.metadata != expected.metadata;
        for (size_t i = 0; i < expected.tensors.size(); ++i) {
          const Tensor a = got.tensors.values()[i], b = expected.tensors.values()[i];
          EXPECT_EQ(a.dtype(), b.dtype());
          EXPECT_EQ(a.numel(), b.numel());  // a zero among its sizes leaves the others free
          EXPECT_TRUE(a.numel() == 0 || equal(a, b));
          differing += got.tensors.keys()[i] != expected.tensors.keys()[i];
        }
        EXPECT_LE(differing, 1);
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("the file: "), std::string::npos);
      }
    }
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, 200);
}

TEST(SafetensorsRefusals, TheLengthOfTheHeader) {
  refused("", "0 bytes, too few for the 8");
  refused("1234567", "7 bytes, too few");
  refused(with_length(0, ""), "does not begin with {");
  refused(with_length(1, ""),
          "given as 1 bytes, and 0 follow; the file is truncated, copy it again");
  refused(with_length(100'000'000, "{}"), "and 2 follow");
  refused(with_length(100'000'001, "{}"), "at most 100000000 are read");
  refused(with_length(UINT64_MAX, "{}"), "given as 18446744073709551615 bytes");
  refused(with_length(uint64_t{1} << 63, "{}"), "not a safetensors file");
}

TEST(SafetensorsRefusals, FilesOfPyTorch) {
  refused(std::string("PK\3\4\0\0\10\10\0\0", 10), "load it by serialize::load_pt");
  refused("\x80\2\x8a\nl\xfc\x9c\x46\xf9\x20", "this is a pickle file");
  refused("\x80\6\x8a\nl\xfc\x9c\x46\xf9\x20", "not a safetensors file, give one that save_file");
}

TEST(SafetensorsRefusals, WhatIsNoJson) {
  refused(file("[]"), "does not begin with {");
  refused(file(" {}"), "does not begin with {");
  refused(file("{"), "not valid JSON");
  refused(file("{}}"), "not valid JSON: it goes wrong at byte 3");
  refused(file("{} x"), "not valid JSON");
  refused(file("{}" + std::string(6, '\0')), "not valid JSON: it goes wrong at byte 3");
  refused(file("{'x':1}"), "not valid JSON");
  refused(file("{\"\xff\":{}}"), "not valid JSON");
  refused(file("{\"a\n\":{}}"), "not valid JSON");
  refused(file("{\"\\ud800\":{}}"), "not valid JSON");
  refused(file("{,}"), "not valid JSON");
  refused(file("{\"x\":{" + entry("U8", "0", "0,0") + "},}"), "not valid JSON");
  refused(file("{\"x\":" + std::string(100'000, '[')), "a list where none belongs");
  refused(file("{\"x\":" + std::string(100'000, '{')), "");
  EXPECT_TRUE(parse(file("{}   \n\t ")).tensors.is_empty());
}

TEST(SafetensorsRefusals, OtherKindsOfValues) {
  for (const char* value : {"1", "-1", "1.5", "null", "true", "\"text\"", "[]"})
    refused(file("{\"x\":" + std::string(value) + "}"), "where none belongs: \"x\"");
  for (const char* value : {"1", "null", "{}", "[]"})
    refused(file("{\"__metadata__\":{\"a\":" + std::string(value) + "}}"), "where none belongs");
  refused(file("{\"__metadata__\":1}"), "a number where none belongs");
  refused_entry("\"dtype\":1", "", "a number where none belongs: tensor \"x\", field dtype");
  refused_entry("\"dtype\":[]", "", "a list where none belongs");
  refused_entry("\"dtype\":{}", "", "an object where none belongs");
  refused_entry("\"shape\":1", "", "a number where none belongs");
  refused_entry("\"shape\":\"1\"", "", "a text where none belongs");
  refused_entry("\"shape\":[\"1\"]", "", "a text where none belongs");
  refused_entry("\"shape\":[[1]]", "", "a list where none belongs");
  refused_entry("\"shape\":[{}]", "", "an object where none belongs");
  refused_entry("\"shape\":[null]", "", "null where none belongs");
  refused_entry("\"shape\":[true]", "", "true or false where none belongs");
  refused_entry("\"data_offsets\":{}", "", "an object where none belongs");
}

TEST(SafetensorsRefusals, NamesAndFields) {
  const std::string x = "\"x\":{" + entry("U8", "1", "0,1") + "}";
  refused(file("{" + x + "," + x + "}", "a"), "the name \"x\" stands in the header twice");
  refused(file("{\"__metadata__\":{},\"__metadata__\":{}}"), "stands in the header twice");
  refused(file("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}"), "have the name \"a\" twice");
  refused_entry(entry("U8", "1", "0,1") + ",\"dtype\":\"U8\"", "a", "has the field dtype twice");
  refused_entry(entry("U8", "1", "0,1") + ",\"strides\":[1]", "a", "has the field \"strides\"");
  refused_entry("\"shape\":[1],\"data_offsets\":[0,1]", "a", "tensor \"x\" has no dtype");
  refused_entry("\"dtype\":\"U8\",\"data_offsets\":[0,1]", "a", "has no shape");
  refused_entry("\"dtype\":\"U8\",\"shape\":[1]", "a", "has no data_offsets");
  refused_entry("", "", "has no dtype");
  // A name cannot send control codes to a terminal, nor fill it.
  const std::string name(5000, 'n');
  expect_error<ValueError>([&] { parse(file("{\"\\u001b[2J\\n" + name + "\":{}}")); },
                           "tensor \"\\u001b[2J\\nnnn");
  try {
    parse(file("{\"" + name + "\":{}}"));
  } catch (const ValueError& error) {
    EXPECT_LT(std::string(error.what()).size(), 300u);
  }
}

TEST(SafetensorsRefusals, Dtypes) {
  for (const char* dtype : {"U16", "U32", "U64", "F8_E4M3", "F8_E5M2", "C128", "f32", "", "F32 "})
    refused_entry<NotImplementedError>(entry(dtype, "0", "0,0"), "",
                                       "has dtype \"" + std::string(dtype) + "\", which gradus");
}

TEST(SafetensorsRefusals, Shapes) {
  refused_entry(entry("U8", "-1", "0,0"), "", "a negative number where none belongs");
  refused_entry(entry("U8", "1.0", "0,1"), "a", "not whole");
  refused_entry(entry("U8", "1e0", "0,1"), "a", "not whole");
  refused_entry(entry("U8", "18446744073709551616", "0,1"), "a", "not whole");
  refused_entry(entry("U8", "9223372036854775808", "0,1"), "a", "beyond an int64");
  refused_entry(entry("U8", "4294967296,4294967296", "0,0"), "", "more bytes than an int64");
  refused_entry(entry("F64", "1152921504606846976", "0,0"), "", "more bytes than an int64");
  refused_entry(entry("U8", "0,4294967296,4294967296", "0,0"), "", "more bytes than an int64");
  refused_entry(entry("U8", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "0,1"), "a",
                "shape has more than 16 numbers");
  EXPECT_EQ(
      parse(file("{\"x\":{" + entry("U8", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "0,1") + "}}", "a"))
          .tensors["x"]
          .dim(),
      16);
}

TEST(SafetensorsRefusals, Places) {
  refused_entry(entry("F32", "2", "0,4"), "abcd", "takes 8 bytes");
  refused_entry(entry("F32", "1", "4,0"), "abcd", "takes 4 bytes");
  refused_entry(entry("F32", "1", "0"), "abcd", "data_offsets has 1 numbers, expected 2");
  refused_entry(entry("F32", "1", "0,4,8"), "abcd", "data_offsets has more than 2 numbers");
  refused_entry(entry("F32", "1", ""), "abcd", "data_offsets has 0 numbers");
  refused_entry(entry("F32", "1", "-4,0"), "abcd", "a negative number");
  refused_entry(entry("F32", "1", "18446744073709551612,0"), "abcd", "takes 4 bytes");
  refused_entry(entry("U8", "1", "1,2"), "ab", "there is a gap");
  refused_entry(entry("U8", "1", "0,1"), "ab", "bytes were appended");
  refused_entry(entry("U8", "2", "0,2"), "a",
                "the file: the header names 2 bytes of data, and 1 follow it; the file is "
                "truncated, copy it again");
  refused_entry(entry("U8", "1099511627776", "0,1099511627776"), "a", "the file is truncated");
  const auto two = [](const std::string& a, const std::string& b) {
    return "{\"a\":{" + entry("U8", "2", a) + "},\"b\":{" + entry("U8", "2", b) + "}}";
  };
  refused(file(two("0,2", "1,3"), "abc"), "overlap");
  refused(file(two("0,2", "0,2"), "ab"), "overlap");
  refused(file(two("0,2", "3,5"), "abcde"), "there is a gap");
  expect_values(parse(file(two("2,4", "0,2"), "abcd")).tensors["a"], {'c', 'd'});
  refused("{\"a\":1}12345678", "given as");
}

TEST(SafetensorsRefusals, AByteThatIsNoBool) {
  refused_entry(entry("BOOL", "3", "0,3"), std::string("\0\1\2", 3),
                "tensor \"x\" of bool has the byte 2 at element 2");
}

TEST(SafetensorsRefusals, WhatIsNoFile) {
  const TemporaryFolder folder;
  const auto load = [](const std::string& path) { serialize::load_file(path); };
  expect_error<Error>([&] { load(folder / "none"); },
                      "/none: cannot be opened: No such file or directory; check the path and");
  expect_error<Error>([&] { load(folder.path()); }, "not a regular file; give the path of one");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_error<Error>([&] { load(folder / "pipe"); }, "/pipe: not a regular file");
  folder.write("empty", {});
  expect_error<ValueError>(
      [&] { load(folder / "empty"); },
      "/empty: 0 bytes, too few for the 8 that begin a safetensors file; copy it again");
}

}  // namespace
}  // namespace gradus
