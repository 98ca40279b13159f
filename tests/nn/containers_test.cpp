// AnyModule, Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict and Functional.
#include <sstream>

#include "tests/support.h"

namespace gradus {
namespace {

struct AddImpl : nn::Module {
  Tensor forward(const Tensor& x, double times = 2) { return x * times; }

 protected:
  GRADUS_FORWARD_HAS_DEFAULT_ARGS({1, nn::AnyValue(2.0)})
};
GRADUS_MODULE(Add);

TEST(AnyModule, ChecksTheArgumentsAtRunTime) {
  const nn::AnyModule any{Add()};
  expect_values(any.forward(ones({1})), {2});
  expect_values(any.forward(ones({1}), 3.0), {3});
  expect_error<TypeError>([&] { any.forward(ones({1}), 3); },
                          "Expected argument #1 to be of type double, but received value of type "
                          "int; convert it before the call");
  expect_error<Error>([&] { any.forward(); },
                      "expects at least 1 argument(s) and at most 2 argument(s), but received 0.");
  expect_error<Error>([&] { any.forward(ones({1}), 1.0, 2.0); }, "Leave out 1 of them.");
  expect_error<TypeError>(
      [&] { any.forward<int>(ones({1})); },
      "Attempted to cast AnyValue to int, but its actual type is gradus::Tensor");
  expect_error<TypeError>([&] { any.get<nn::LinearImpl>(); }, "Attempted to cast module of type");
  expect_error<Error>([] { nn::AnyModule().ptr(); }, "Cannot call ptr() on an empty AnyModule");
}

TEST(AnyModule, ClonesDeeplyAndCopiesShare) {
  const nn::AnyModule any{nn::Linear(2, 2)}, same = any, copy = any.clone();
  EXPECT_EQ(same.ptr(), any.ptr());
  EXPECT_NE(copy.ptr(), any.ptr());
  expect_values(copy.forward(ones({1, 2})), to_vector(any.forward(ones({1, 2}))), 0);
  EXPECT_TRUE(nn::AnyModule().clone().is_empty());
}

struct PairImpl : nn::Module {
  std::pair<Tensor, Tensor> forward(const Tensor& x) { return {x, x + 1}; }
};
struct FirstImpl : nn::Module {
  Tensor forward(std::pair<Tensor, Tensor> x) { return x.second; }
};

TEST(Sequential, PassesOnValuesOfAnyType) {
  nn::Sequential net(PairImpl{}, FirstImpl{});
  expect_values(net->forward(ones({1})), {2});
  nn::Sequential upward(nn::Identity(), nn::ConvTranspose1d(2, 3, 3));  // output_size is left out
  EXPECT_EQ(upward->forward(ones({1, 2, 4})).sizes(), IntArrayRef({1, 3, 6}));
  net->extend(*net);  // four modules
  EXPECT_EQ(net->size(), 4u);
  expect_error<TypeError>([&] { nn::Sequential(PairImpl())->forward(ones({1})); },
                          "The type of the return value is");
  EXPECT_EQ(net[0]->as<PairImpl>(), &net->at<PairImpl>(0));
  EXPECT_EQ(net->named_children().keys(), (std::vector<std::string>{"0", "1", "2", "3"}));
}

TEST(ModuleList, InsertsAndKeepsNames) {
  nn::ModuleList list(nn::Linear(2, 3), nn::ReLU());
  list->insert(1, nn::Tanh());
  list->push_back(nn::LinearImpl(3, 1));
  EXPECT_EQ(list->size(), 4u);
  EXPECT_EQ(list->named_parameters().keys(),
            (std::vector<std::string>{"0.weight", "0.bias", "3.weight", "3.bias"}));
  EXPECT_NE(list[1]->as<nn::Tanh>(), nullptr);
  expect_error<IndexError>([&] { list->insert(5, nn::ReLU()); }, "Index out of range: 5 of 4");
  expect_error<TypeError>([&] { list->at<nn::ReLUImpl>(0); }, "Unable to cast module");
  EXPECT_EQ(list->size(), 4u);
  const auto copy = std::dynamic_pointer_cast<nn::ModuleListImpl>(list->clone());
  EXPECT_FALSE(copy->at<nn::LinearImpl>(0).weight.is_same(list->at<nn::LinearImpl>(0).weight));
}

TEST(ModuleDict, ReplacesInPlaceAndPops) {
  using Dict = nn::ModuleDictImpl::Dict;
  nn::ModuleDict dict(Dict{{"fc", nn::Linear(2, 3).ptr()}, {"act", nn::ReLU().ptr()}});
  dict->update(Dict{{"fc", nn::Linear(2, 5).ptr()}, {"last", nn::Tanh().ptr()}});
  EXPECT_EQ(dict->keys(), (std::vector<std::string>{"fc", "act", "last"}));
  EXPECT_EQ(dict->at<nn::LinearImpl>("fc").options.out_features(), 5);
  EXPECT_NE(dict->pop("act")->as<nn::ReLU>(), nullptr);
  expect_error<ValueError>([&] { dict->pop("act"); }, "Submodule 'act' is not defined");
  EXPECT_EQ(std::dynamic_pointer_cast<nn::ModuleDictImpl>(dict->clone())->keys(), dict->keys());
  dict->clear();
  EXPECT_TRUE(dict->empty());
}

TEST(ParameterContainers, HoldParameters) {
  nn::ParameterList list(ones({2}, requires_grad()), zeros({3}));
  list->append(ones({1}));
  *list += *list;
  EXPECT_EQ(list->size(), 6u);
  EXPECT_TRUE(list[3].requires_grad());
  EXPECT_FALSE(list[4].requires_grad());
  expect_error<IndexError>([&] { list->at(6); }, "Index out of range: 6 of 6");

  nn::ParameterDict dict;
  dict->insert("a", ones({2}));
  dict["a"] = zeros({1});
  expect_values(dict->named_parameters()["a"], {0});
  expect_error<ValueError>([&] { dict->get("b"); }, "Parameter 'b' is not defined");
  expect_error<ValueError>([&] { dict->insert("a", ones({1})); }, "'a' already defined");
  std::ostringstream out;
  out << dict;
  EXPECT_EQ(out.str(),
            "gradus::nn::ParameterDict(\n(a): Parameter containing: [Float of size [1]]\n)");
  const auto copy = std::dynamic_pointer_cast<nn::ParameterListImpl>(list->clone());
  EXPECT_EQ(copy->size(), 6u);
  EXPECT_TRUE(copy->at(3).requires_grad());
  EXPECT_FALSE(copy->at(0).is_same(list->at(0)));
}

TEST(Functional, IsAFunctionAsAModule) {
  nn::Sequential net(nn::Functional([](const Tensor& x) { return x + 1; }),
                     nn::Functional(gradus::elu, 1, 0, 1));
  expect_values(net->forward(ones({1})), {0});
  EXPECT_FALSE(net[0]->is_serializable());
  EXPECT_TRUE(net->is_serializable());
}

struct DeepImpl : nn::Module {
  DeepImpl() {
    inner = register_module("inner", nn::Sequential(nn::Linear(2, 2), nn::ReLU()));
    register_module("last", nn::ReLU());
  }
  nn::Sequential inner{nullptr};
};

TEST(Module, ListsAndVisitsAllBelow) {
  const auto deep = std::make_shared<DeepImpl>();
  EXPECT_EQ(
      deep->named_modules("net").keys(),
      (std::vector<std::string>{"net", "net.inner", "net.inner.0", "net.inner.1", "net.last"}));
  EXPECT_EQ(deep->modules(/*include_self=*/false).size(), 4u);
  std::vector<std::string> names;
  deep->apply([&](const std::string& name, nn::Module&) { names.push_back(name); }, "net");
  EXPECT_EQ(names, deep->named_modules("net").keys());
  deep->apply([](nn::Module& module) {
    if (auto* linear = module.as<nn::Linear>()) linear->weight.set_requires_grad(false);
  });
  EXPECT_FALSE(deep->inner->at<nn::LinearImpl>(0).weight.requires_grad());
  const DeepImpl on_the_stack;
  expect_error<Error>([&] { on_the_stack.modules(); }, "top-level module as a shared_ptr");
  EXPECT_EQ(on_the_stack.modules(false).size(), 4u);
}

TEST(Module, ReplacesAndUnregistersModules) {
  DeepImpl deep;
  deep.replace_module("inner", nn::Linear(3, 4));
  EXPECT_EQ(deep.named_parameters().keys(),
            (std::vector<std::string>{"inner.weight", "inner.bias"}));
  expect_error<ValueError>([&] { deep.replace_module("outer", nn::ReLU()); },
                           "Submodule 'outer' is not defined");
  expect_error<ValueError>([&] { deep.replace_module("inner", nn::ReLU(nullptr)); }, "is empty");
  deep.unregister_module("inner");
  EXPECT_EQ(deep.named_children().keys(), std::vector<std::string>{"last"});
  expect_error<ValueError>([&] { deep.unregister_module("inner"); },
                           "No Module with name `inner` is registered");
}

TEST(Module, RunsForwardHooks) {
  nn::Linear fc(1, 1);
  nn::Sequential net(fc);
  std::string order;
  const size_t before = fc->register_forward_pre_hook([&](nn::Module&, const Tensor& x) {
    order += 'a';
    return x * 0;
  });
  const size_t after =
      fc->register_forward_hook([&](nn::Module&, const Tensor& x, const Tensor& y) {
        order += 'b';
        return y - y.detach() + x;
      });
  expect_values(net(ones({1, 1})), {0});
  expect_values(fc(ones({1, 1})), {0});
  EXPECT_EQ(order, "abab");
  fc->remove_forward_pre_hook(before);
  expect_values(fc(full({1, 1}, 3.0)), {3});
  fc->remove_forward_hook(after);
  expect_error<IndexError>([&] { fc->remove_forward_hook(after); }, "has no hook 0");

  nn::AnyModule pair{PairImpl()};
  pair.ptr()->register_forward_hook([](nn::Module&, const Tensor&, const Tensor& y) { return y; });
  expect_error<TypeError>([&] { pair.forward(ones({1})); }, "its hooks take Tensors");
}

TEST(ParameterContainers, MayHoldUndefinedTensors) {
  nn::ParameterDict dict;
  dict->insert("a", Tensor());
  dict->insert("b", ones({2}, requires_grad()));
  std::ostringstream out;
  out << dict;
  EXPECT_EQ(out.str(),
            "gradus::nn::ParameterDict(\n(a): Parameter containing: [Undefined]\n"
            "(b): Parameter containing: [Float of size [2]]\n)");
  const auto copy = std::dynamic_pointer_cast<nn::ParameterDictImpl>(dict->clone(Device(kCPU)));
  EXPECT_FALSE(copy->get("a").defined());
  EXPECT_TRUE(copy->get("b").requires_grad());
}

TEST(Containers, KeepTheirHooksInACopy) {
  const auto five = [](nn::Module&, const Tensor&, const Tensor& y) { return y * 0 + 5; };
  nn::Sequential net{nn::Linear(1, 1)};
  const size_t hook = net->register_forward_hook(five);
  nn::Sequential copy(std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone()));
  expect_values(copy(ones({1, 1})), {5});
  EXPECT_NE(copy->register_forward_hook(five), hook);

  const auto expect_kept = [&](nn::Module& module) {
    const size_t number = module.register_forward_hook(five);
    EXPECT_NO_THROW(module.clone()->remove_forward_hook(number));
  };
  expect_kept(*nn::ModuleList(nn::ReLU()));
  expect_kept(*nn::ModuleDict());
  expect_kept(*nn::ParameterList(ones({1})));
  expect_kept(*nn::ParameterDict());
}

}  // namespace
}  // namespace gradus
