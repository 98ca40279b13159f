// All optimizers but SGD and Adam, which have tests of their own: defaults, state, devices, and
// what is refused.
#include "tests/support.h"

namespace gradus {
namespace {

using namespace optim;

struct Algorithm {
  const char* name;
  std::function<std::unique_ptr<Optimizer>(const Tensors&)> make;
};
const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> all = {
      {"SGD",
       [](const Tensors& p) { return std::make_unique<SGD>(p, SGDOptions(0.01).momentum(0.9)); }},
      {"Adam", [](const Tensors& p) { return std::make_unique<Adam>(p, 0.05); }},
      {"AdamW", [](const Tensors& p) { return std::make_unique<AdamW>(p, 0.05); }},
      {"Adagrad", [](const Tensors& p) { return std::make_unique<Adagrad>(p, 0.5); }},
      {"RMSprop", [](const Tensors& p) { return std::make_unique<RMSprop>(p, 0.02); }},
      {"RMSprop with momentum",
       [](const Tensors& p) {
         return std::make_unique<RMSprop>(p, RMSpropOptions(0.005).momentum(0.8));
       }},
      {"RMSprop, centered",
       [](const Tensors& p) {
         return std::make_unique<RMSprop>(
             p, RMSpropOptions(0.02).eps(0.1).momentum(0.5).centered(true));
       }},
      {"Lion", [](const Tensors& p) { return std::make_unique<Lion>(p, 0.02); }},
      {"Adadelta",
       [](const Tensors& p) {
         return std::make_unique<Adadelta>(p, AdadeltaOptions(2).eps(1e-5));
       }},
      {"Adamax", [](const Tensors& p) { return std::make_unique<Adamax>(p, 0.05); }},
      {"NAdam", [](const Tensors& p) { return std::make_unique<NAdam>(p, 0.05); }},
      {"RAdam", [](const Tensors& p) { return std::make_unique<RAdam>(p, 0.05); }},
      {"LBFGS",
       [](const Tensors& p) {
         return std::make_unique<LBFGS>(p, LBFGSOptions(0.2).max_iter(3).history_size(2));
       }},
      {"LBFGS with a line search",
       [](const Tensors& p) {
         return std::make_unique<LBFGS>(
             p, LBFGSOptions().max_iter(4).line_search_fn(std::string("strong_wolfe")));
       }},
      {"Muon", [](const Tensors& p) {
         return std::make_unique<Muon>(
             p, MuonOptions(0.1).adjust_lr_fn(std::string("match_rms_adamw")));
       }}};
  return all;
}

Tensors matrices(Device device, ScalarType dtype = kDouble) {
  Tensors out;
  for (const int64_t rows : {2, 4})
    out.push_back(linspace(-1, 2, rows * 3, dtype).view({rows, 3}).to(device).requires_grad_());
  return out;
}
// Of both matrices; not the same in all directions.
Tensor descend(Optimizer& optimizer, const Tensors& p) {
  return optimizer.step([&] {
    optimizer.zero_grad();
    const Tensor factors = arange(1, 4, p[0].detach().options());
    const Tensor loss =
        ((p[0] - 0.5) * factors).square().sum() + (p[1].tanh() * factors).square().sum();
    loss.backward();
    return loss;
  });
}

TEST(Algorithms, GoOnExactlyFromTheirStateDict) {
  for (const Algorithm& algorithm : algorithms()) {
    SCOPED_TRACE(algorithm.name);
    const Tensors a = matrices(kCPU);
    const auto first = algorithm.make(a);
    for (int i = 0; i < 3; ++i) descend(*first, a);
    Tensors b;
    for (const Tensor& p : a) b.push_back(p.detach().clone().requires_grad_());
    const auto second = algorithm.make(b);
    second->load_state_dict(first->state_dict());
    EXPECT_EQ(second->state_dict().keys(), first->state_dict().keys());
    const auto& kept = *second->state().at(b[0].unsafeGetTensorImpl());
    EXPECT_TRUE(kept == *first->state().at(a[0].unsafeGetTensorImpl()));
    for (int i = 0; i < 3; ++i) descend(*first, a), descend(*second, b);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(equal(a[i], b[i]));
    descend(*first, a);
    EXPECT_FALSE(kept == *first->state().at(a[0].unsafeGetTensorImpl()));
    EXPECT_TRUE(first->param_groups()[0].options() == second->param_groups()[0].options());
    second->param_groups()[0].options().set_lr(7);
    EXPECT_EQ(second->param_groups()[0].options().get_lr(), 7);
    EXPECT_FALSE(first->param_groups()[0].options() == second->param_groups()[0].options());
  }
}

TEST(Algorithms, GiveTheSameOnAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  for (const Algorithm& algorithm : algorithms()) {
    SCOPED_TRACE(algorithm.name);
    const Tensors a = matrices(kCPU), b = matrices(kCUDA);
    const auto here = algorithm.make(a), there = algorithm.make(b);
    for (int i = 0; i < 20; ++i) descend(*here, a), descend(*there, b);
    // Muon's bfloat16 may be rounded the other way.
    const double tolerance = std::string(algorithm.name) == "Muon" ? 1e-3 : 1e-10;
    for (size_t i = 0; i < a.size(); ++i) expect_values(b[i], to_vector(a[i]), tolerance);
  }
}

TEST(Algorithms, LowerTheLossInFloatToo) {
  for (const Algorithm& algorithm : algorithms()) {
    SCOPED_TRACE(algorithm.name);
    const Tensors p = matrices(kCPU, kFloat);
    const auto optimizer = algorithm.make(p);
    const double before = descend(*optimizer, p).item<double>();
    for (int i = 0; i < 200; ++i) descend(*optimizer, p);
    EXPECT_LT(descend(*optimizer, p).item<double>(), 0.05 * before);
  }
}

TEST(Algorithms, AStepThatFailsChangesNothing) {
  for (const Algorithm& algorithm : algorithms()) {
    SCOPED_TRACE(algorithm.name);
    const Tensors p = matrices(kCPU);
    const auto optimizer = algorithm.make(p);
    for (const Tensor& one : p) one.mutable_grad() = ones_like(one.detach());
    p[1].mutable_grad() = ones({1}, kDouble);
    const Tensor before = p[0].detach().clone();
    const auto loss = [] { return ones({}); };
    expect_error<ValueError>([&] { optimizer->step(loss); },
                             "a parameter has shape [4, 3] on cpu, and its gradient [1] on cpu");
    EXPECT_TRUE(equal(p[0].detach(), before));
  }
}

TEST(Algorithms, HaveTheDefaultsOfPyTorch) {
  const AdagradOptions adagrad;
  EXPECT_EQ(adagrad.lr(), 1e-2);
  EXPECT_EQ(adagrad.lr_decay() + adagrad.weight_decay() + adagrad.initial_accumulator_value(), 0);
  EXPECT_EQ(adagrad.eps(), 1e-10);
  const RMSpropOptions rmsprop;
  EXPECT_EQ(rmsprop.lr(), 1e-2);
  EXPECT_EQ(rmsprop.alpha(), 0.99);
  EXPECT_EQ(rmsprop.eps(), 1e-8);
  EXPECT_EQ(rmsprop.weight_decay() + rmsprop.momentum() + rmsprop.centered(), 0);
  const AdadeltaOptions adadelta;
  EXPECT_EQ(adadelta.lr(), 1);
  EXPECT_EQ(adadelta.rho(), 0.9);
  EXPECT_EQ(adadelta.eps(), 1e-6);
  EXPECT_EQ(adadelta.weight_decay() + adadelta.maximize(), 0);
  const auto as_adam = [](const auto& options, double lr) {
    EXPECT_EQ(options.lr(), lr);
    EXPECT_EQ(options.betas(), std::make_tuple(0.9, 0.999));
    EXPECT_EQ(options.eps(), 1e-8);
    EXPECT_EQ(options.weight_decay() + options.maximize(), 0);
  };
  as_adam(AdamOptions(), 1e-3);
  as_adam(AdamaxOptions(), 2e-3);
  as_adam(NAdamOptions(), 2e-3);
  as_adam(RAdamOptions(), 1e-3);
  EXPECT_EQ(NAdamOptions().momentum_decay(), 4e-3);
  EXPECT_FALSE(NAdamOptions().decoupled_weight_decay() || RAdamOptions().decoupled_weight_decay());
  const LBFGSOptions lbfgs;
  EXPECT_EQ(lbfgs.lr(), 1);
  EXPECT_EQ(lbfgs.max_iter(), 20);
  EXPECT_FALSE(lbfgs.max_eval() || lbfgs.line_search_fn());
  EXPECT_EQ(lbfgs.tolerance_grad(), 1e-7);
  EXPECT_EQ(lbfgs.tolerance_change(), 1e-9);
  EXPECT_EQ(lbfgs.history_size(), 100);
}

TEST(Algorithms, RefuseOptionsThatMakeNoSense) {
  const Tensor p = ones({1, 1}, requires_grad());
  const auto refuses = [&]<class O, class Options>(std::type_identity<O>, const Options& options,
                                                   const char* why) {
    expect_error<ValueError>([&] { O({p}, options); }, why);
  };
  const std::type_identity<Adagrad> adagrad;
  refuses(adagrad, AdagradOptions(-1), "Adagrad: lr = -1, expected 0 or more");
  refuses(adagrad, AdagradOptions().lr_decay(-1), "Adagrad: lr_decay = -1, expected 0 or more");
  refuses(adagrad, AdagradOptions().weight_decay(NAN), "Adagrad: weight_decay = nan, expected 0");
  refuses(adagrad, AdagradOptions().initial_accumulator_value(-1),
          "initial_accumulator_value = -1");
  refuses(adagrad, AdagradOptions().eps(-1), "Adagrad: eps = -1, expected 0 or more");
  const std::type_identity<RMSprop> rmsprop;
  refuses(rmsprop, RMSpropOptions(-1), "RMSprop: lr = -1, expected 0 or more");
  refuses(rmsprop, RMSpropOptions().alpha(-1), "RMSprop: alpha = -1, expected 0 or more");
  refuses(rmsprop, RMSpropOptions().eps(-1), "RMSprop: eps = -1, expected 0 or more");
  refuses(rmsprop, RMSpropOptions().momentum(-1), "RMSprop: momentum = -1, expected 0 or more");
  refuses(rmsprop, RMSpropOptions().weight_decay(-1), "RMSprop: weight_decay = -1, expected 0");
  const std::type_identity<Lion> lion;
  refuses(lion, LionOptions(-1), "Lion: lr = -1, expected 0 or more");
  refuses(lion, LionOptions().betas({0.5, 1}), "Lion: betas.1 = 1, expected 0 or more and below 1");
  refuses(lion, LionOptions().weight_decay(-1), "Lion: weight_decay = -1, expected 0 or more");
  const std::type_identity<Adadelta> adadelta;
  refuses(adadelta, AdadeltaOptions().rho(1), "Adadelta: rho = 1, expected 0 or more and below 1");
  refuses(adadelta, AdadeltaOptions().eps(-1), "Adadelta: eps = -1, expected 0 or more");
  const std::type_identity<NAdam> nadam;
  refuses(nadam, NAdamOptions().betas({1, 0}),
          "NAdam: betas.0 = 1, expected 0 or more and below 1");
  refuses(nadam, NAdamOptions().momentum_decay(-1),
          "NAdam: momentum_decay = -1, expected 0 or more");
  refuses(std::type_identity<Adamax>(), AdamaxOptions(-1), "Adamax: lr = -1, expected 0 or more");
  refuses(std::type_identity<RAdam>(), RAdamOptions(-1), "RAdam: lr = -1, expected 0 or more");
  const std::type_identity<LBFGS> lbfgs;
  refuses(lbfgs, LBFGSOptions(-1), "LBFGS: lr = -1, expected 0 or more");
  refuses(lbfgs, LBFGSOptions().history_size(0), "LBFGS: history_size = 0, expected 1 or more");
  refuses(lbfgs, LBFGSOptions().line_search_fn(std::string("armijo")),
          "LBFGS: line_search_fn = \"armijo\"; only 'strong_wolfe' is supported");
  const std::type_identity<Muon> muon;
  refuses(muon, MuonOptions(-1), "Muon: lr = -1, expected 0 or more");
  refuses(muon, MuonOptions().momentum(-1), "Muon: momentum = -1, expected 0 or more");
  refuses(muon, MuonOptions().weight_decay(-1), "Muon: weight_decay = -1, expected 0 or more");
  refuses(muon, MuonOptions().ns_steps(100), "Muon: ns_steps = 100, expected 0 or more and below");
  refuses(muon, MuonOptions().adjust_lr_fn(std::string("best")), "Muon: adjust_lr_fn = \"best\"");
  expect_error<ValueError>([] { Muon({ones({3}, requires_grad())}); },
                           "Muon: a parameter has shape [3], expected 2 dimensions; give it to");
}

TEST(Algorithms, LbfgsTakesOneGroupAndAClosure) {
  const Tensor p = ones({1}, requires_grad()), q = ones({1}, requires_grad());
  LBFGS lbfgs({p});
  expect_error<ValueError>([&] { lbfgs.step(nullptr); }, "LBFGS: step() has no closure");
  const std::vector<OptimizerParamGroup> two = {Tensors{p}, Tensors{q}};
  expect_error<ValueError>([&] { LBFGS{two}; },
                           "LBFGS doesn't support per-parameter options (parameter groups)");
  lbfgs.add_param_group(OptimizerParamGroup(Tensors{q}));
  expect_error<ValueError>([&] { lbfgs.step([] { return ones({}); }); }, "per-parameter options");
}

TEST(Algorithms, LbfgsNeedsAllOfAStateThatIsLoaded) {
  const Tensors p = matrices(kCPU);
  LBFGS lbfgs(p, LBFGSOptions(0.1).max_iter(4));
  descend(lbfgs, p);
  const auto whole = lbfgs.state_dict();
  EXPECT_TRUE(whole.contains("state.0.old_dirs.1"));
  for (const char* name : {"state.0.d", "state.0.ro.2"}) {
    OrderedDict<std::string, Tensor> part;
    for (const auto& item : whole)
      if (item.key() != name) part.insert(item.key(), item.value());
    lbfgs.load_state_dict(part);
    expect_error<ValueError>([&] { descend(lbfgs, p); },
                             "LBFGS: the state lacks tensors after 4 iterations");
  }
  auto odd = whole;
  odd["state.0.old_dirs.0"] = ones({3}, kDouble);
  expect_error<ValueError>([&] { lbfgs.load_state_dict(odd); },
                           "state.0.old_dirs.0 is float64 of shape [3], expected float64 of shape "
                           "[18]");
}

TEST(Algorithms, AdagradHasStateFromTheStart) {
  const Tensor p = ones({1}, requires_grad());
  Adagrad adagrad({p}, AdagradOptions().initial_accumulator_value(0.5));
  auto& state = static_cast<AdagradParamState&>(*adagrad.state().at(p.unsafeGetTensorImpl()));
  EXPECT_EQ(state.step(), 0);
  (p * 2).sum().backward();
  adagrad.step();
  EXPECT_EQ(state.step(), 1);
  expect_values(state.sum(), {4.5});
}

TEST(Algorithms, RmspropKeepsWhatItsOptionsNeed) {
  const auto kept = [](const RMSpropOptions& options) {
    const Tensor p = ones({1}, requires_grad());
    RMSprop optimizer({p}, options);
    p.mutable_grad() = ones({1});
    optimizer.step();
    const auto& state = static_cast<RMSpropParamState&>(*optimizer.state().at(&p.impl()));
    EXPECT_TRUE(state.square_avg().defined());
    return std::make_pair(state.momentum_buffer().defined(), state.grad_avg().defined());
  };
  EXPECT_EQ(kept(RMSpropOptions()), std::make_pair(false, false));
  EXPECT_EQ(kept(RMSpropOptions().momentum(0.5)), std::make_pair(true, false));
  EXPECT_EQ(kept(RMSpropOptions().centered(true)), std::make_pair(false, true));
  EXPECT_EQ(kept(RMSpropOptions().momentum(0.5).centered(true)), std::make_pair(true, true));
}

TEST(Algorithms, OptionalOptionsAreSaved) {
  const Tensor p = ones({1, 1}, requires_grad());
  LBFGS with({p}, LBFGSOptions().max_eval(7).line_search_fn(std::string("strong_wolfe")));
  LBFGS without({p});
  EXPECT_FALSE(without.state_dict().contains("param_groups.0.max_eval"));
  without.load_state_dict(with.state_dict());
  const auto& options = static_cast<const LBFGSOptions&>(without.param_groups()[0].options());
  EXPECT_EQ(options.max_eval(), 7);
  EXPECT_EQ(options.line_search_fn(), "strong_wolfe");
  auto changed = with.state_dict();
  changed["param_groups.0.line_search_fn"] = tensor({97, 98}, kByte);
  expect_error<ValueError>([&] { without.load_state_dict(changed); },
                           "param_groups.0: LBFGS: line_search_fn = \"ab\"");
}

TEST(Algorithms, MuonMakesAMatrixNearlyOrthogonal) {
  manual_seed(2);
  for (const auto& sizes : {std::vector<int64_t>{6, 20}, {20, 6}}) {
    const Tensor p = zeros(sizes, requires_grad());
    Muon muon({p}, MuonOptions(1).weight_decay(0).adjust_lr_fn(std::string("spectral_unclamped")));
    p.mutable_grad() = randn(sizes);
    muon.step();
    const Tensor step = p.detach() / std::sqrt(double(sizes[0]) / double(sizes[1]));
    const Tensor gram = sizes[0] < sizes[1] ? step.matmul(step.t()) : step.t().matmul(step);
    // Singular values between 0.68 and 1.13 have squares within 0.54 of 1.
    EXPECT_LT((gram - eye(6)).abs().max().item<double>(), 0.54);
  }
}

}  // namespace
}  // namespace gradus
