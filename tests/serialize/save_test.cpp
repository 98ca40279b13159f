// save and load of modules, tensors, optimizers and archives.
#include "gradus/serialize/save.h"

#include <sstream>

#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

using serialize::InputArchive, serialize::OutputArchive;

struct NetImpl : nn::Module {
  explicit NetImpl(int64_t hidden = 4)
      : first(register_module("first", nn::Linear(3, hidden))),
        second(register_module(
            "second",
            nn::Sequential(nn::ReLU(), nn::Linear(nn::LinearOptions(hidden, 2).bias(false))))) {
    counts = register_buffer("counts", zeros({2}, kLong));
  }
  Tensor forward(const Tensor& x) { return second(first(x)); }

  nn::Linear first;
  nn::Sequential second;
  Tensor counts;
};
GRADUS_MODULE(Net);

void expect_same_state(const nn::Module& a, const nn::Module& b) {
  const auto left = a.state_dict(), right = b.state_dict();
  ASSERT_EQ(left.keys(), right.keys());
  for (const auto& item : left) EXPECT_TRUE(equal(item.value(), right[item.key()])) << item.key();
}

TEST(Save, AModule) {
  const TemporaryFolder folder;
  Net a, b;
  a->counts.fill_(7);
  save(a, folder / "net");
  const Tensor weight = b->first->weight;
  load(b, folder / "net");
  expect_same_state(*a, *b);
  EXPECT_TRUE(weight.is_same(b->first->weight));  // who held it sees the new values
  EXPECT_TRUE(equal(weight, a->first->weight));
  EXPECT_TRUE(weight.requires_grad());
  EXPECT_FALSE(weight.is_alias_of(a->first->weight));
  b(ones({1, 3})).sum().backward();
  EXPECT_TRUE(weight.grad().defined());
}

TEST(Save, TwoModulesFromOneArchiveShareNothing) {
  std::stringstream stream;
  Net a, b;
  save(a, stream);
  InputArchive in;
  in.load_from(stream);
  a->load(in);
  b->load(in);
  EXPECT_FALSE(a->first->weight.is_alias_of(b->first->weight));
  expect_same_state(*a, *b);
}

TEST(Save, NamesAreThoseOfTheModule) {
  const TemporaryFolder folder;
  save(Net(), folder / "net");
  EXPECT_EQ(serialize::load_file(folder / "net").tensors.keys(),
            (std::vector<std::string>{"counts", "first.weight", "first.bias", "second.1.weight"}));
}

TEST(Save, APointerToAModule) {
  std::stringstream stream;
  const auto a = std::make_shared<NetImpl>();
  auto b = std::make_shared<NetImpl>();
  save(a, stream);
  load(b, stream);
  expect_same_state(*a, *b);
  const std::shared_ptr<nn::Module> none;
  expect_error<Error>([&] { save(none, stream); }, "the module is empty");
}

TEST(Save, AModuleThatDoesNotFitIsNotChanged) {
  const TemporaryFolder folder;
  save(Net(), folder / "net");
  Net wider(5), of_double;
  of_double->to(kDouble);
  const auto refused = [&](auto& into, const std::string& file, const std::string& why) {
    std::vector<Tensor> before;
    for (const auto& item : into->state_dict()) before.push_back(item.value().clone());
    expect_error<ValueError>([&] { load(into, folder / file); }, why);
    const auto after = into->state_dict().values();
    for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(equal(before[i], after[i]));
  };
  refused(wider, "net",
          "/net does not fit the gradus::(anonymous namespace)::NetImpl; nothing was loaded; give "
          "a file that was saved from one "
          "like it"
          "\n  \"first.weight\" is float32 of shape [4, 3], expected float32 of shape [5, 3]"
          "\n  \"first.bias\" is float32 of shape [4], expected float32 of shape [5]"
          "\n  \"second.1.weight\" is float32 of shape [2, 4], expected float32 of shape [2, 5]");
  refused(of_double, "net", "expected float64");
  Net without;
  serialize::NamedTensors tensors = serialize::load_file(folder / "net").tensors, fewer;
  for (const auto& item : tensors)
    if (item.key() != "second.1.weight") fewer.insert(item.key(), item.value());
  fewer.insert("third", zeros({1}));
  serialize::save_file(fewer, folder / "fewer");
  refused(without, "fewer", "\n  \"second.1.weight\" is missing\n  \"third\" is unknown");
  // Names that the module does not read are no error, as in libtorch.
  tensors.insert("third", zeros({1}));
  serialize::save_file(tensors, folder / "more");
  load(without, folder / "more");
}

TEST(Save, SaysTheLikelyCauseInTenLines) {
  const TemporaryFolder folder;
  const auto deep = [](int layers) {
    nn::Sequential out;
    for (int i = 0; i < layers; ++i) out->push_back(nn::Linear(2, 2));
    return out;
  };
  nn::Sequential small = deep(2), large = deep(40);
  optim::SGD of_small(small->parameters(), 0.1), of_large(large->parameters(), 0.1);
  serialize::save_checkpoint(folder / "checkpoint", *large, of_large);
  save(large, folder / "large");
  save(of_large, folder / "optimizer");
  save(ones({2}), folder / "tensor");
  const auto message_of = [](const auto& f) -> std::string {
    try {
      f();
      return "nothing was thrown";
    } catch (const ValueError& error) {
      EXPECT_LE(std::count(error.msg().begin(), error.msg().end(), '\n'), 9) << error.msg();
      return error.msg();
    }
  };
  const auto expect = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(message_of([&] { load(small, folder / "checkpoint"); }),
         "/checkpoint is a checkpoint and not a Sequential; nothing was loaded; read it "
         "by serialize::load_checkpoint");
  expect(message_of([&] { load(of_small, folder / "checkpoint"); }),
         "/checkpoint is a checkpoint and not the state of a gradus::optim::SGD");
  expect(message_of([&] { load(small, folder / "optimizer"); }),
         "/optimizer is the state of an optimizer and not a Sequential");
  expect(message_of([&] { load(large, folder / "tensor"); }),
         ": no name of it is one of the module's; nothing was loaded; give a file that was saved "
         "from one like it\n  \"0.weight\" is missing");
  expect(message_of([&] { load(large, folder / "tensor"); }), "\n  ... and 75 more");
  save(small, folder / "small");
  expect(message_of([&] { load(large, folder / "small"); }), "\n  ... and 70 more");
  expect(message_of([&] { load(of_large, folder / "large"); }),
         "holds no state of an optimizer, but \"0\" \"1\"");
  expect(message_of([&] { serialize::load_checkpoint(folder / "checkpoint", *small, of_small); }),
         "model:\n  ");
  expect(message_of([&] { serialize::load_checkpoint(folder / "checkpoint", *small, of_small); }),
         "optimizer:\n  ");
  expect(message_of([&] { serialize::load_checkpoint(folder / "large", *large, of_large); }),
         "this is not a checkpoint, give one that save_checkpoint wrote");
}

TEST(Save, AFileOfAnotherKindSaysWhatItHolds) {
  const TemporaryFolder folder;
  Net net;
  optim::SGD sgd(net->parameters(), 0.1);
  save(net, folder / "net");
  save(sgd, folder / "sgd");
  expect_error<ValueError>([&] { load(sgd, folder / "net"); },
                           "/net holds no state of an optimizer, but \"counts\" \"first\" "
                           "\"second\"; give a file that was saved from a gradus::optim::SGD");
  expect_error<ValueError>(
      [&] { load(net, folder / "sgd"); },
      "/sgd is the state of an optimizer and not a gradus::(anonymous namespace)::NetImpl; nothing "
      "was loaded; load it into a \"gradus::optim::SGD\"");
  Tensor x;
  expect_error<ValueError>([&] { load(x, folder / "net"); },
                           "/net: there is no tensor \"0\"; keys() lists what there is");
}

TEST(Save, AModuleOnAnotherDevice) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const TemporaryFolder folder;
  Net a, b;
  a->to(kCUDA);
  save(a, folder / "net");
  load(b, folder / "net");
  EXPECT_TRUE(b->first->weight.is_cpu());
  EXPECT_TRUE(equal(b->first->weight, a->first->weight.cpu()));
  Net c;
  c->to(kCUDA);
  load(c, folder / "net");
  EXPECT_TRUE(c->first->weight.is_cuda());
  expect_same_state(*a, *c);
  Tensor x;
  save(ones({2}), folder / "x");
  load(x, folder / "x", kCUDA);
  EXPECT_TRUE(x.is_cuda());
}

// A module that chooses what is saved.
struct CounterImpl : nn::Module {
  void save(OutputArchive& archive) const override { archive.write("twice", tensor({2 * count})); }
  void load(InputArchive& archive) override {
    Tensor twice;
    archive.read("twice", twice);
    count = twice.item<int64_t>() / 2;
  }
  int64_t count = 0;
};

TEST(Save, AModulesOwnWay) {
  std::stringstream stream;
  nn::Sequential a(nn::Linear(1, 1)), b(nn::Linear(1, 1));
  const auto counter = std::make_shared<CounterImpl>(), other = std::make_shared<CounterImpl>();
  a->register_module("counter", counter);
  b->register_module("counter", other);
  counter->count = 21;
  save(a, stream);
  load(b, stream);
  EXPECT_EQ(other->count, 21);
}

TEST(Save, Tensors) {
  const TemporaryFolder folder;
  const Tensor x = arange(6).view({2, 3});
  save(x, folder / "x");
  Tensor y, z = ones({1}, requires_grad());
  load(y, folder / "x");
  EXPECT_TRUE(equal(x, y));
  save(x.to(kFloat), folder / "x");
  const Tensor handle = z;
  load(z, folder / "x");
  EXPECT_TRUE(handle.is_same(z));
  EXPECT_TRUE(z.requires_grad());
  EXPECT_EQ(handle.sizes(), x.sizes());

  Tensors many;
  for (int64_t i = 0; i < 12; ++i) many.push_back(full({i}, i));
  save(many, folder / "many");
  Tensors got = {ones({1})};
  load(got, folder / "many");
  ASSERT_EQ(got.size(), 13u);
  for (size_t i = 0; i < many.size(); ++i) EXPECT_TRUE(equal(got[i + 1], many[i]));
  Tensors none;
  save(none, folder / "many");
  load(none, folder / "many");
  EXPECT_TRUE(none.empty());
  expect_error<ValueError>([&] { load(y, folder / "many"); }, "there is no tensor \"0\"");
}

TEST(Save, AnOptimizer) {
  const TemporaryFolder folder;
  const auto train = [](Net& net, optim::Optimizer& sgd) {
    sgd.zero_grad();
    net(arange(6.0f).view({2, 3})).square().sum().backward();
    sgd.step();
  };
  Net a, b;
  optim::SGD first(a->parameters(), optim::SGDOptions(0.01).momentum(0.9).nesterov(true));
  optim::SGD second(b->parameters(), optim::SGDOptions(0.5));
  train(a, first);
  save(a, folder / "net");
  save(first, folder / "sgd");
  load(b, folder / "net");
  load(second, folder / "sgd");
  for (int i = 0; i < 3; ++i) train(a, first), train(b, second);
  expect_same_state(*a, *b);
}

TEST(Save, ArchivesWithinArchives) {
  std::stringstream stream;
  OutputArchive out, inner, innermost;
  innermost.write("x", ones({2}));
  innermost.write("text", std::string("hello"));
  inner("deep", innermost);
  inner("y", zeros({1}), true);
  out("inner", inner);
  out("z", full({1}, 3));
  expect_error<ValueError>([&] { out.write("z", ones({1})); }, "already defined");
  expect_error<ValueError>([&] { out.write("w", Tensor()); }, "tensor \"w\" is undefined");
  out.save_to(stream);

  InputArchive in, found, deep;
  in.load_from(stream);
  EXPECT_EQ(in.keys(), (std::vector<std::string>{"inner", "z"}));
  in("inner", found);
  EXPECT_EQ(found.keys(), (std::vector<std::string>{"deep", "y"}));
  EXPECT_EQ(found.tensors().keys(), (std::vector<std::string>{"deep.x", "y"}));
  EXPECT_TRUE(found.try_read("deep", deep));
  Tensor x;
  EXPECT_TRUE(deep.try_read("x", x));
  expect_values(x, {1, 1});
  std::string text;
  deep.read("text", text);
  EXPECT_EQ(text, "hello");
  EXPECT_FALSE(deep.try_read("z", x));
  EXPECT_FALSE(in.try_read("inn", found));
  EXPECT_FALSE(in.try_read("text", text));
  expect_error<ValueError>([&] { deep.read("none", x); }, "there is no tensor \"inner.deep.none\"");
  expect_error<ValueError>([&] { in.read("none", found); }, "there is no archive \"none\"");
  expect_error<ValueError>([&] { in.read("none", text); }, "there is no text \"none\"");
}

TEST(Save, OtherPlacesThanFiles) {
  OutputArchive out;
  out.write("x", arange(3));
  std::string bytes;
  out.save_to([&](const void* from, size_t count) {
    bytes.append(static_cast<const char*>(from), count);
    return count;
  });
  expect_error<Error>([&] { out.save_to([](const void*, size_t) { return size_t{3}; }); }, "3 of ");
  const auto check_x = [](InputArchive& in) {
    Tensor x;
    in.read("x", x);
    expect_values(x, {0, 1, 2});
  };
  InputArchive in;
  in.load_from(bytes.data(), bytes.size());
  check_x(in);
  const auto size = [&] { return bytes.size(); };
  in.load_from([&](uint64_t position, void* to,
                   size_t count) { return bytes.copy(static_cast<char*>(to), count, position); },
               size);
  check_x(in);
  expect_error<Error>(
      [&] { in.load_from([](uint64_t, void*, size_t) { return size_t{0}; }, size); },
      "0 of 8 bytes came from position 0");
  std::ostringstream full;
  full.setstate(std::ios::badbit);
  expect_error<Error>([&] { out.save_to(full); }, "bytes were taken");
  std::istringstream truncated(bytes.substr(0, bytes.size() - 1));
  expect_error<ValueError>([&] { in.load_from(truncated); }, "the file is truncated");
  check_x(in);
}

}  // namespace
}  // namespace gradus
