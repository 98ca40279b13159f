// Files of torch.save (tests/data/files/make_pt.py), and pickles that no state dict is.
#include "gradus/serialize/pt.h"

#include <fstream>

#include "gradus/data/readers/byte_reader.h"
#include "gradus/nn/modules/linear.h"
#include "gradus/serialize/pickle.h"
#include "gradus/serialize/save.h"
#include "gradus/tensor/raw/raw.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

using serialize::load_pt, serialize::SafetensorsContents;

std::string pt_file(const std::string& name) {
  return std::string(GRADUS_SOURCE_DIR) + "/tests/data/files/" + name;
}

TEST(Pt, ReadsWhatACheckpointHolds) {
  const SafetensorsContents got = load_pt(pt_file("checkpoint.pt"));
  EXPECT_EQ(got.tensors.keys(),
            (std::vector<std::string>{"model.w", "model.tied", "model.t", "model.row", "state.0"}));
  const Tensor w = got.tensors["model.w"], t = got.tensors["model.t"];
  expect_values(w, {0, 1, 2, 3, 4, 5});
  expect_values(t, {0, 3, 1, 4, 2, 5});
  EXPECT_EQ(t.strides(), IntArrayRef({1, 3}));
  expect_values(got.tensors["model.row"], {3, 4, 5});
  expect_values(got.tensors["state.0"], {1, 4});
  for (const auto& item : got.tensors) EXPECT_TRUE(item.value().is_alias_of(w)) << item.key();
  const serialize::Metadata expected = {{"epoch", "3"},
                                        {"lr", "0.5"},
                                        {"groups.0.lr", "1e-08"},
                                        {"groups.0.betas.0", "0.5"},
                                        {"groups.0.betas.1", "1"},
                                        {"groups.0.params.0", "0"},
                                        {"groups.0.params.1", "-2"},
                                        {"groups.0.params.2", "300"},
                                        {"groups.0.params.3", "1099511627776"},
                                        {"name", "net"},
                                        {"none", "None"},
                                        {"on", "True"},
                                        {"seed", "18446744073709551615"},
                                        {"size.0", "2"},
                                        {"size.1", "3"}};
  EXPECT_EQ(got.metadata, expected);
}

TEST(Pt, ReadsEveryDtype) {
  const SafetensorsContents got = load_pt(pt_file("dtypes.pt"));
  size_t count = 0;
  const auto expect = [&](const char* name, ScalarType dtype) {
    SCOPED_TRACE(name);
    ++count;
    const Tensor x = got.tensors[name];
    EXPECT_EQ(x.dtype(), dtype);
    expect_values(isComplexType(dtype) ? view_as_real(x).select(1, 0) : x, {0, 1, 1});
  };
#define DTYPE(Name, type, short_name, ...) expect(#short_name, k##Name);
#define COMPLEX(Name, type, short_name, ...) expect(#short_name, k##Name);
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
  EXPECT_EQ(got.tensors.size(), count + 1);
  EXPECT_EQ(got.tensors["empty"].sizes(), IntArrayRef({2, 0}));
}

TEST(Pt, LoadGivesAModuleItsValues) {
  nn::Linear linear(2, 1);
  load(linear, pt_file("linear.pt"));
  expect_values(linear->weight, {1, 2});
  expect_values(linear->bias, {3});
  EXPECT_TRUE(linear->weight.requires_grad());
  linear->weight.data().fill_(7);  // tensors of a file are leaves, and not views
  nn::Linear other(3, 1);
  expect_error<ValueError>([&] { load(other, pt_file("linear.pt")); }, "does not fit the");
}

TEST(Pt, LoadsToADevice) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const SafetensorsContents got = load_pt(pt_file("checkpoint.pt"), kCUDA);
  for (const auto& item : got.tensors) {
    EXPECT_TRUE(item.value().is_cuda());
    EXPECT_TRUE(item.value().is_alias_of(got.tensors["model.w"])) << item.key();
  }
  expect_values(got.tensors["model.t"].cpu(), {0, 3, 1, 4, 2, 5});
}

// --- What is refused

template <class E>
void pickle_refused(const std::string& pickle, const std::string& why) {
  SCOPED_TRACE(why);
  const auto read = [&] {
    const serialize::Pickle got = serialize::parse_pickle(
        {reinterpret_cast<const uint8_t*>(pickle.data()), pickle.size()}, "load_pt: some.pt",
        [](const std::string&, ScalarType dtype, int64_t numel) {
          return raw::empty({numel}, dtype, Device(kCPU));
        });
    serialize::named_values(got, pickle.size(), "load_pt: some.pt");
  };
  expect_error<E>(read, "load_pt: some.pt: ");
  expect_error<E>(read, why);
}

std::string text(const std::string& s) {
  return std::string("X") + static_cast<char>(s.size()) + std::string(3, '\0') + s;
}

TEST(PtRefusals, WhatWouldRunCode) {
  const std::string why = "nothing of a file is run; save the state dict in Python";
  pickle_refused<NotImplementedError>("\x80\2cos\nsystem\nX\2\0\0\0ls\x85R.", why);
  pickle_refused<NotImplementedError>("c__main__\nNet\n)\x81.", "\"__main__.Net\" before byte 14");
  pickle_refused<NotImplementedError>("cbuiltins\neval\n.", "\"builtins.eval\"");
  pickle_refused<NotImplementedError>("ctorch._utils\n_rebuild_tensor_v3\n.", why);
  pickle_refused<NotImplementedError>("ctorch\nQUInt8Storage\n.", why);
  pickle_refused<NotImplementedError>("ctorch\nFloatStorage\n)R.", "a call of torch.FloatStorage");
  pickle_refused<NotImplementedError>("ccollections\nOrderedDict\n)\x81.",
                                      "the opcode 0x81 at byte 26, which no state dict has");
  // A class as a value, which a dict may not name either.
  pickle_refused<NotImplementedError>("}" + text("f") + "ctorch\nSize\ns.",
                                      "\"f\" is a class or a bare storage");
}

TEST(PtRefusals, OtherProtocolsNumbersAndKeys) {
  pickle_refused<NotImplementedError>("\x80\4N.", "protocol 4, expected 2");
  pickle_refused<NotImplementedError>(std::string("\x8a\x0a\0\0\0\0\0\0\0\0\0\1.", 13),
                                      "a number beyond 64 bits");
  pickle_refused<NotImplementedError>("}NNs.", "a key that is no text and no int");
  pickle_refused<ValueError>("}(" + text("a.b") + "N" + text("a") + "}" + text("b") + "Nsu.",
                             "two values have the name \"a.b\"");
}

TEST(PtRefusals, DamagedPickles) {
  for (const char* pickle :
       {"",    "\x80", ".",    "K",     "(",    "(.",    "a.",     "]a.",      "e.",
        "(e.", "Na.",  "NNs.", "}(Nu.", "h\7.", "NN.",   "N.N",    "Q.",       ")Q.",
        "R.",  "NR.",  "Nb.",  "((Nt.", "t.",   "\x85.", "ctorch", "(K\1\x85."})
    pickle_refused<ValueError>(pickle, "the file is damaged, copy it again");
}

TEST(PtRefusals, ValuesWithinThemselvesAndEndlessOnes) {
  pickle_refused<ValueError>("]q\1h\1a.", "nested too deep or in themselves");
  std::string many = "]q\1";  // 20 lists, each twice in the next: a million values
  for (char i = 2; i < 22; ++i)
    many +=
        std::string("](h") + static_cast<char>(i - 1) + 'h' + static_cast<char>(i - 1) + "eq" + i;
  pickle_refused<ValueError>("](" + many + "e.", "nested too deep or in themselves");
}

// A tensor of this geometry over a storage of 6 elements.
void tensor_refused(const std::string& geometry, const std::string& why) {
  pickle_refused<ValueError>("ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") +
                                 "ctorch\nFloatStorage\n" + text("0") + text("cpu") + "K\6tQ" +
                                 geometry + "\x89}tR.",
                             why);
}

TEST(PtRefusals, TensorsBeyondTheirStorage) {
  const std::string zero("K\0", 2);
  const std::string beyond = "a tensor beyond its storage";
  tensor_refused("K\1(K\2K\3t(K\3K\1t", beyond);
  tensor_refused("K\7))", beyond);
  tensor_refused("J\xff\xff\xff\xff))", beyond);
  tensor_refused("K\6))", beyond);
  const std::string huge = "\x8a\x8\xff\xff\xff\xff\xff\xff\xff\x7f";
  tensor_refused(zero + "(" + huge + huge + "t(K\1K\1t", beyond);
  tensor_refused(huge + "))", beyond);
  tensor_refused(zero + "(K\2K\3t(K\3t", "a tensor with too few strides");
  tensor_refused(zero + "(J\xff\xff\xff\xfft(K\3t", "a negative size or stride");
}

}  // namespace
}  // namespace gradus
