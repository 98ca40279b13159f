// Modules below themselves, and modules that are nested deeply.
#include <sstream>

#include "tests/support.h"

namespace gradus {
namespace nesting {

struct NodeImpl : nn::Module {
  using nn::Module::replace_module;
};

TEST(Nesting, AModuleIsNeverBelowItself) {
  const auto a = std::make_shared<NodeImpl>(), b = std::make_shared<NodeImpl>(),
             c = std::make_shared<NodeImpl>();
  a->register_module("b", b);
  b->register_module("c", c);
  expect_error<ValueError>([&] { a->register_module("self", a); },
                           "register_module: the module 'self'");
  expect_error<ValueError>([&] { c->register_module("top", a); },
                           "a module cannot be below itself");
  expect_error<ValueError>([&] { b->replace_module("c", a); }, "replace_module: the module 'c'");
  EXPECT_EQ(a->modules().size(), 3u);
  const auto d = std::make_shared<NodeImpl>();
  a->register_module("d", d);  // the same one in two places is no circle
  b->register_module("d", d);
  EXPECT_TRUE(c->children().empty());
  nn::Sequential list;
  expect_error<ValueError>([&] { list->push_back(list); }, "a module cannot be below itself");
}

TEST(Nesting, DeepModulesAreVisitedOrRefused) {
  for (const int depth : {500, 20'000}) {
    const auto top = std::make_shared<NodeImpl>();
    auto last = top;
    for (int i = 0; i < depth; ++i) {
      const auto next = std::make_shared<NodeImpl>();
      last->register_module("x", next);
      last = next;
    }
    last->register_parameter("weight", ones({1}));
    const std::vector<std::function<void()>> calls = {
        [&] { EXPECT_EQ(top->parameters().size(), 1u); },
        [&] { top->named_buffers(); },
        [&] { top->modules(); },
        [&] { top->eval(); },
        [&] { top->zero_grad(); },
        [&] { top->to(kDouble); },
        [&] { top->state_dict(); },
        [&] { top->apply([](nn::Module&) {}); },
        [&] { top->apply([](const std::string&, nn::Module&) {}); }};
    for (const auto& call : calls)
      if (depth < 1'000)
        call();
      else
        expect_error<Error>(call, "modules are nested more than 1000 deep");
    std::ostringstream out;
    if (depth > 1'000)
      expect_error<Error>([&] { out << *top; }, "modules are nested more than 1000 deep");
    // From the inside, so that no destructor goes down all of it.
    std::vector<std::shared_ptr<nn::Module>> all{top};
    while (!all.back()->children().empty()) all.push_back(all.back()->children()[0]);
    while (all.size() > 1) {
      all.pop_back();
      all.back()->unregister_module("x");
    }
  }
}

}  // namespace nesting
}  // namespace gradus
