// The rows of modules: what is tested of each (tests/nn/rows.h).
#include "tests/nn/rows.h"

#include "gradus/autograd/tools/gradcheck.h"
#include "tests/conformance/golden/golden.h"

namespace gradus::test {
namespace {

// Sums of some hundred products, in another order than PyTorch's.
constexpr double slack = 400;

Tensors leaves_of(const Tensors& inputs) {
  Tensors out;
  for (const Tensor& x : inputs) {
    out.push_back(x.detach().clone());
    if (out.back().is_floating_point()) out.back().requires_grad_();
  }
  return out;
}

// The sum of all results, each element weighted with 1, 2, 3, ... over their number.
Tensor weighted_sum(const Tensors& results) {
  Tensor sum;
  for (const Tensor& y : results) {
    if (!y.defined() || !y.requires_grad()) continue;
    const Tensor weights = arange(1, y.numel() + 1, y.options()).view(y.sizes()) / y.numel();
    sum = sum.defined() ? sum + (y * weights).sum() : (y * weights).sum();
  }
  return sum;
}

class RowTest : public ::testing::Test {
 public:
  RowTest(const ModuleRow& row, const Golden& golden) : row_(row), golden_(golden) {}

  void TestBody() override {
    const std::shared_ptr<nn::Module> module = made();
    expect_golden(*module);
    if (HasFailure()) return;
    expect_trained(*made());
    expect_derivatives(*made());
    expect_clone(*made());
    expect_cuda(*made());
    expect_in_place(*made());
    expect_refusal(*made());
  }

 private:
  std::string key(const std::string& part) const { return std::string(row_.name) + "." + part; }
  bool has(const std::string& name) const { return golden_.lets.contains(name); }
  Tensor at(const std::string& part) const { return golden_[key(part)]; }

  // With PyTorch's parameters and buffers.
  std::shared_ptr<nn::Module> made() const {
    const std::shared_ptr<nn::Module> module = row_.make();
    module->to(kDouble);
    OrderedDict<std::string, Tensor> state;
    const std::string prefix = key("state.");
    for (const auto& [name, value] : golden_.lets)
      if (name.starts_with(prefix)) state.insert(name.substr(prefix.size()), value);
    module->load_state_dict(state);
    return module;
  }

  Tensors inputs() const {
    Tensors out;
    while (has(key("x" + std::to_string(out.size()))))
      out.push_back(at("x" + std::to_string(out.size())));
    return out;
  }

  void expect_golden(nn::Module& module) const {
    const Tensors x = leaves_of(inputs()), y = row_.call(module, x);
    size_t count = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      const std::string name = "y" + std::to_string(i);
      EXPECT_EQ(y[i].defined(), has(key(name))) << name;
      if (!y[i].defined() || !has(key(name))) continue;
      EXPECT_TRUE(same(y[i], at(name), slack)) << name;
      ++count;
    }
    EXPECT_GT(count, 0u);
    for (const auto& buffer : module.named_buffers()) {
      if (!buffer.value().defined()) continue;
      EXPECT_TRUE(same(buffer.value(), at("after." + buffer.key()), slack)) << buffer.key();
    }
    const Tensor sum = weighted_sum(y);
    EXPECT_EQ(sum.defined(), has(key("differentiable")));
    if (!sum.defined()) return;
    sum.backward();
    for (size_t i = 0; i < x.size(); ++i) expect_gradient("x" + std::to_string(i), x[i]);
    for (const auto& parameter : module.named_parameters())
      expect_gradient(parameter.key(), parameter.value());
  }

  // After 100 steps of SGD that bring the results to 0.5: the loss, and of each parameter the sum,
  // and the sum with the weights 1, 2, 3, ... over their number.
  void expect_trained(nn::Module& module) const {
    EXPECT_EQ(has(key("trained")), !module.parameters().empty() && has(key("differentiable")));
    if (!has(key("trained"))) return;
    optim::SGD sgd(module.parameters(), optim::SGDOptions(0.05).momentum(0.5));
    Tensor loss;
    for (int step = 0; step < 100; ++step) {
      sgd.zero_grad();
      loss = zeros({}, kDouble);
      for (const Tensor& y : row_.call(module, inputs()))
        if (y.defined() && y.requires_grad()) loss = loss + (y - 0.5).square().mean();
      loss.backward();
      sgd.step();
    }
    Tensors numbers{loss.detach()};
    for (const Tensor& p : module.parameters()) {
      const Tensor flat = p.detach().flatten();
      numbers.push_back(flat.sum());
      numbers.push_back((flat * arange(1, flat.numel() + 1)).sum() / flat.numel());
    }
    // Each step adds its roundings to those before it.
    EXPECT_TRUE(same(stack(numbers), at("trained"), 1e4 * slack));
  }

  void expect_gradient(const std::string& of, const Tensor& leaf) const {
    const std::string name = "grad." + of;
    if (!has(key(name))) {
      EXPECT_FALSE(leaf.grad().defined()) << name << " is undefined in PyTorch";
      return;
    }
    ASSERT_TRUE(leaf.grad().defined()) << name;
    EXPECT_TRUE(same(leaf.grad(), at(name), slack)) << name;
  }

  void expect_derivatives(nn::Module& module) const {
    if (!has(key("differentiable"))) return;
    const autograd::CheckedFunction f = [&](const Tensors& x) {
      Tensors out;
      for (const Tensor& y : row_.call(module, x))
        if (y.defined() && y.requires_grad()) out.push_back(y);
      return out;
    };
    const Tensors x = leaves_of(inputs());
    if (std::none_of(x.begin(), x.end(), [](const Tensor& t) { return t.requires_grad(); })) return;
    EXPECT_TRUE(autograd::gradcheck(f, x));
    EXPECT_TRUE(autograd::gradgradcheck(f, x));
  }

  void expect_clone(nn::Module& module) const {
    const std::shared_ptr<nn::Module> copy = module.clone();
    const Tensors y = row_.call(module, inputs()), z = row_.call(*copy, inputs());
    ASSERT_EQ(y.size(), z.size());
    for (size_t i = 0; i < y.size(); ++i) {
      if (!y[i].defined()) continue;
      EXPECT_TRUE(equal(y[i], z[i])) << "y" << i << " of a clone";
    }
  }

  void expect_cuda(nn::Module& module) const {
    if (!cuda::is_available()) return;
    module.to(kFloat);
    const std::shared_ptr<nn::Module> there = module.clone(Device(kCUDA));
    Tensors x, x_there;
    for (const Tensor& input : leaves_of(inputs())) {
      x.push_back(input.is_floating_point() ? input.detach().to(kFloat).requires_grad_() : input);
      x_there.push_back(x.back().detach().to(kCUDA).set_requires_grad(x.back().requires_grad()));
    }
    const Tensors y = row_.call(module, x), y_there = row_.call(*there, x_there);
    for (size_t i = 0; i < y.size(); ++i)
      if (y[i].defined()) expect_near(y_there[i], y[i], "y" + std::to_string(i));
    if (!has(key("differentiable"))) return;
    weighted_sum(y).backward();
    weighted_sum(y_there).backward();
    for (size_t i = 0; i < x.size(); ++i)
      expect_near(x_there[i].grad(), x[i].grad(), "grad.x" + std::to_string(i));
    const OrderedDict<std::string, Tensor> parameters_there = there->named_parameters();
    for (const auto& parameter : module.named_parameters())
      expect_near(parameters_there[parameter.key()].grad(), parameter.value().grad(),
                  "grad." + parameter.key());
  }

  // What comes of a result that changes in place.
  struct Changed {
    std::vector<bool> views, refused;  // by result
    Tensors grads;                     // none where what had been saved has changed
  };
  Changed changed(nn::Module& module, Device device) const {
    Tensors leaves, x;
    for (const Tensor& input : inputs()) {
      leaves.push_back(input.to(device).detach());
      if (leaves.back().is_floating_point()) leaves.back().requires_grad_();
      x.push_back(leaves.back().clone());
    }
    Changed out;
    const Tensors results = row_.call(module, x);
    for (Tensor y : results) {
      if (!y.defined() || !y.requires_grad()) continue;
      out.views.push_back(y.is_view());
      try {
        y.mul_(2);
        out.refused.push_back(false);
      } catch (const Error&) {
        out.refused.push_back(true);
      }
    }
    try {
      weighted_sum(results).backward();
      for (const Tensor& leaf : leaves) out.grads.push_back(leaf.grad());
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("modified by an inplace"), std::string::npos)
          << error.what();
    }
    return out;
  }

  // A result is a view on each device or on none, and may change in place accordingly.
  void expect_in_place(nn::Module& module) const {
    if (!cuda::is_available() || !has(key("differentiable"))) return;
    const Changed here = changed(module, kCPU);
    const Changed there = changed(*module.clone(Device(kCUDA)), Device(kCUDA, 0));
    EXPECT_EQ(here.views, there.views) << "views on CUDA";
    EXPECT_EQ(here.refused, there.refused) << "refused in place on CUDA";
    for (size_t i = 0; i < std::min(here.grads.size(), there.grads.size()); ++i)
      expect_near(there.grads[i], here.grads[i], "grad.x" + std::to_string(i) + " in place");
  }

  // Two computations in float32 differ by the rounding of some hundred sums.
  static void expect_near(const Tensor& there, const Tensor& here, const std::string& name) {
    ASSERT_EQ(there.defined(), here.defined()) << name << " on CUDA";
    if (!here.defined()) return;
    EXPECT_TRUE(allclose(there.to(kCPU).to(kDouble), here.to(kDouble), 1e-4, 1e-5))
        << name << " on CUDA is\n"
        << there << "\nand on the CPU\n"
        << here;
  }

  void expect_refusal(nn::Module& module) const {
    if (dynamic_cast<nn::IdentityImpl*>(&module)) return;  // it returns what it gets
    Tensors x = inputs();
    x[0] = Tensor();
    EXPECT_THROW(row_.call(module, x), Error) << "an undefined input";
  }

  const ModuleRow& row_;
  const Golden& golden_;
};

const bool registered = [] {
  for (const ModuleFamily& family : module_families()) {
    // Read when the first test of the family runs: most processes run one test of another.
    const auto values = std::make_shared<std::optional<Golden>>();
    for (const ModuleRow& row : family.rows)
      ::testing::RegisterTest(
          "ModuleRows", (std::string(family.name) + "_" + row.name).c_str(), nullptr, nullptr,
          __FILE__, __LINE__, [&row, &family, values]() -> ::testing::Test* {
            if (!*values)
              values->emplace(recorded("golden/rows/" + std::string(family.name) + ".txt"));
            return new RowTest(row, **values);
          });
  }
  return true;
}();

}  // namespace
}  // namespace gradus::test
