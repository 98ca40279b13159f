// Errors that are raised inside modules and backward passes say where.
#include <typeinfo>

#include "tests/support.h"

namespace gradus {
namespace error_path {

struct BlockImpl : nn::Cloneable<BlockImpl> {
  BlockImpl() { BlockImpl::reset(); }
  void reset() override {
    fc1 = register_module("fc1", nn::Linear(4, 4));
    fc2 = register_module("fc2", nn::Linear(3, 4));
  }
  Tensor forward(const Tensor& x) { return fc2(fc1(x)); }
  nn::Linear fc1{nullptr}, fc2{nullptr};
};
GRADUS_MODULE(Block);

struct ListsImpl : nn::Module {
  ListsImpl() {
    list = register_module("list", nn::ModuleList(nn::ReLU(), Block()));
    dict = register_module("dict", nn::ModuleDict());
    dict->insert("left", Block().ptr());
  }
  Tensor forward(const Tensor& x, bool of_list) {
    return call(of_list ? list->at<BlockImpl>(1) : dict->at<BlockImpl>("left"), x);
  }
  nn::ModuleList list{nullptr};
  nn::ModuleDict dict{nullptr};
};
GRADUS_MODULE(Lists);

// Calls a module that it does not hold under a name.
struct StrangerImpl : nn::Module {
  Tensor forward(const Tensor& x) { return block(x); }
  Block block;
};
GRADUS_MODULE(Stranger);

struct RaisingImpl : nn::Module {
  explicit RaisingImpl(std::function<void()> f) : raise(std::move(f)) {}
  Tensor forward(const Tensor& x) {
    raise();
    return x;
  }
  std::function<void()> raise;
};
GRADUS_MODULE(Raising);

template <class F>
std::string path_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    const std::string message = error.what();
    const size_t at = message.find("\nin ");
    return at == std::string::npos ? message : message.substr(at + 1);
  }
  return "nothing was thrown";
}

TEST(ErrorPath, NamesTheModuleInEveryContainer) {
  const Tensor x = ones({2, 4});
  const Block block;
  EXPECT_EQ(path_of([&] { block->fc2(x); }), "in Linear");
  EXPECT_EQ(path_of([&] { block(x); }), "in fc2 (Linear) of Block");
  nn::Sequential row(nn::Linear(4, 4), nn::ReLU(), nn::Sequential({{"first", Block()}}));
  EXPECT_EQ(path_of([&] { row(x); }), "in 2.first.fc2 (Linear) of Sequential");
  Lists lists;
  EXPECT_EQ(path_of([&] { lists(x, true); }), "in list.1.fc2 (Linear) of Lists");
  EXPECT_EQ(path_of([&] { lists(x, false); }), "in dict.left.fc2 (Linear) of Lists");
  const nn::AnyModule any(block);
  EXPECT_EQ(path_of([&] { any.forward(x); }), "in fc2 (Linear) of Block");
  Stranger stranger;
  EXPECT_EQ(path_of([&] { stranger(x); }), "in fc2 (Linear) of Block\nin Stranger");
  // forward() that is called directly is no call of the module, and its own name is not known.
  EXPECT_EQ(path_of([&] { block->forward(x); }), "in Linear");
  // A layer of the library that calls others.
  nn::TransformerEncoder encoder(nn::TransformerEncoderLayer(4, 2), 2);
  encoder->layers->at<nn::TransformerEncoderLayerImpl>(1).linear1->weight = ones({2, 2});
  const std::string path = path_of([&] { encoder(ones({3, 1, 4})); });
  EXPECT_EQ(path, "in layers.1.linear1 (Linear) of TransformerEncoder");
}

TEST(ErrorPath, NamesTheModuleOfAReplica) {
  nn::Sequential net(nn::Linear(4, 4), Block());
  nn::DataParallel<nn::SequentialImpl> parallel(net, {kCPU, kCPU});
  EXPECT_EQ(path_of([&] {
              parallel(ones({4, 4}));
            }),
            "in 1.fc2 (Linear) of Sequential (in replica 0 on cpu)\nin DataParallel");
}

TEST(ErrorPath, KeepsTheTypeAndTheMessage) {
  struct Mine : IndexError {
    using IndexError::IndexError;
    int number = 7;
  };
  const auto raises = [](auto error) {
    nn::Sequential inner(Raising([=] { throw error; }));
    nn::Sequential net({{"inner", inner}});
    net(ones({1}));
  };
  const std::string place = "\nin inner.0 (Raising) of Sequential";
  expect_error<ValueError>([&] { raises(ValueError("bad")); }, "bad" + place);
  expect_error<OutOfMemoryError>([&] { raises(OutOfMemoryError("full")); }, "full" + place);
  try {
    raises(Mine("mine"));
    FAIL();
  } catch (const Mine& error) {
    EXPECT_EQ(error.number, 7);
    EXPECT_EQ(error.msg(), "mine" + place);
  }
  EXPECT_THROW(raises(std::logic_error("foreign")), std::logic_error);
}

TEST(ErrorPath, StandsOnceInEachError) {
  // Errors of one text, one after the other; and one that was caught on the way and raised anew.
  nn::Sequential net(Raising([] { fail<ValueError>("again"); }));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(path_of([&] { net(ones({1})); }), "in 0 (Raising) of Sequential");
  nn::Sequential outer(Raising([&] {
    try {
      net(ones({1}));
    } catch (const Error& error) {
      fail<TypeError>("from below: ", error.msg());
    }
  }));
  EXPECT_EQ(path_of([&] { outer(ones({1})); }),
            "in 0 (Raising) of Sequential\nin 0 (Raising) of Sequential");
  // Hooks are part of the call.
  nn::Linear layer(1, 1);
  layer->register_forward_pre_hook([](nn::Module&, const Tensor& x) {
    fail<ValueError>("in a hook");
    return x;
  });
  nn::Sequential above(layer);
  EXPECT_EQ(path_of([&] { above(ones({1, 1})); }), "in 0 (Linear) of Sequential");
}

TEST(ErrorPath, NamesTheNodeOfABackwardPass) {
  const Tensor x = ones({2}, TensorOptions().requires_grad(true));
  const Tensor y = x.exp();
  y.register_hook([](const Tensor&) {});
  struct Failing : autograd::Function<Failing> {
    static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 2; }
    static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list) {
      fail<ValueError>("no gradient today");
    }
  };
  try {
    Failing::apply(y).sum().backward();
    FAIL();
  } catch (const ValueError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find("no gradient today\nin the backward of "), 0u) << message;
    EXPECT_NE(message.find("Failing"), std::string::npos) << message;
    EXPECT_EQ(message.find("in the backward", message.find("in the backward") + 1),
              std::string::npos)
        << message;
  }
  y.sum().backward();
  expect_error<Error>([&] { y.sum().backward(); }, "in the backward of ExpBackward0");
}

}  // namespace error_path
}  // namespace gradus
