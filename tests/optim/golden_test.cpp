// Steps of every optimizer against PyTorch's (tests/conformance/golden/make.py).
#include "tests/conformance/golden/golden.h"

namespace gradus::test {
namespace {

const Golden& golden() {
  static const Golden read(recorded("golden/optim.txt"));
  return read;
}

// sgd DTYPE LR MOMENTUM DAMPENING WEIGHT_DECAY NESTEROV MAXIMIZE, on sum((p - target)^4).
Tensor sgd(const Words& w) {
  const ScalarType dtype = w[1] == "float32" ? kFloat : kDouble;
  const Tensor p = golden()["start"].to(dtype).clone().requires_grad_();
  const Tensor target = golden()["target"].to(dtype);
  optim::SGD optimizer({p}, optim::SGDOptions(std::stod(w[2]))
                                .momentum(std::stod(w[3]))
                                .dampening(std::stod(w[4]))
                                .weight_decay(std::stod(w[5]))
                                .nesterov(w[6] == "1")
                                .maximize(w[7] == "1"));
  Tensor steps = empty({5, p.size(0)}, dtype);
  for (int64_t i = 0; i < 5; ++i) {
    optimizer.zero_grad();
    (p - target).square().square().sum().backward();
    optimizer.step();
    steps[i].copy_(p.detach());
  }
  return steps;
}

// adam[w] DTYPE LR BETA1 BETA2 EPS WEIGHT_DECAY AMSGRAD, on the same sum; the second half of the
// elements is a group of its own.
template <class Optimizer, class Options>
Tensor adam(const Words& w) {
  const ScalarType dtype = w[1] == "float32" ? kFloat : kDouble;
  const Tensor goal = golden()["goal"].to(dtype);
  Tensors halves;
  for (const Tensor& half : golden()["begin"].to(dtype).chunk(2))
    halves.push_back(half.clone().requires_grad_());
  const double lr = std::stod(w[2]);
  const Options options = Options(lr)
                              .betas({std::stod(w[3]), std::stod(w[4])})
                              .eps(std::stod(w[5]))
                              .weight_decay(std::stod(w[6]))
                              .amsgrad(w[7] == "1");
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(Tensors{halves[0]});
  groups.emplace_back(Tensors{halves[1]},
                      std::make_unique<Options>(Options(options).lr(lr / 2).amsgrad(false)));
  Optimizer optimizer(std::move(groups), options);
  Tensor steps = empty({10, goal.size(0)}, dtype);
  for (int64_t i = 0; i < 100; ++i) {
    optimizer.zero_grad();
    (cat(halves) - goal).square().square().sum().backward();
    optimizer.step();
    if (i % 10 == 9) steps[i / 10].copy_(cat(halves).detach());
  }
  return steps;
}

bool flag(const std::string& word) { return word == "1"; }

// The parameters after each tenth of the steps on a loss.
template <class Optimizer, class Options, class Loss>
Tensor descend(const Tensors& parameters, const Options& options, const Loss& loss, int steps,
               bool groups) {
  const auto two = [&] {
    const size_t first = groups ? 1 : parameters.size();
    std::vector<optim::OptimizerParamGroup> out;
    out.emplace_back(Tensors(parameters.begin(), parameters.begin() + first));
    if (groups)
      out.emplace_back(Tensors{parameters[1]},
                       std::make_unique<Options>(Options(options).lr(options.lr() / 2)));
    return out;
  };
  Optimizer optimizer(two(), options);
  Tensors kept;
  for (int i = 1; i <= steps; ++i) {
    optimizer.step([&] {
      optimizer.zero_grad();
      const Tensor value = loss();
      value.backward();
      return value;
    });
    if (i % (steps / 10) == 0) kept.push_back(nn::utils::parameters_to_vector(parameters).detach());
  }
  return stack(kept);
}

Tensors halves_of(const Tensor& start) {
  Tensors out;
  for (const Tensor& half : start.chunk(2)) out.push_back(half.clone().requires_grad_());
  return out;
}

// On the sum of adam.
template <class Optimizer, class Options>
Tensor elementwise(const Words& w, const Options& options) {
  const ScalarType dtype = w[1] == "float32" ? kFloat : kDouble;
  const Tensor goal = golden()["goal"].to(dtype);
  const Tensors halves = halves_of(golden()["begin"].to(dtype));
  const auto loss = [&] { return (cat(halves) - goal).square().square().sum(); };
  return descend<Optimizer>(halves, options, loss, 100, true);
}

// adagrad DTYPE LR LR_DECAY WEIGHT_DECAY INITIAL_ACCUMULATOR_VALUE EPS
Tensor adagrad(const Words& w) {
  return elementwise<optim::Adagrad>(w, optim::AdagradOptions(std::stod(w[2]))
                                            .lr_decay(std::stod(w[3]))
                                            .weight_decay(std::stod(w[4]))
                                            .initial_accumulator_value(std::stod(w[5]))
                                            .eps(std::stod(w[6])));
}

// rmsprop DTYPE LR ALPHA EPS WEIGHT_DECAY MOMENTUM CENTERED
Tensor rmsprop(const Words& w) {
  return elementwise<optim::RMSprop>(w, optim::RMSpropOptions(std::stod(w[2]))
                                            .alpha(std::stod(w[3]))
                                            .eps(std::stod(w[4]))
                                            .weight_decay(std::stod(w[5]))
                                            .momentum(std::stod(w[6]))
                                            .centered(flag(w[7])));
}

// sgd100 DTYPE LR MOMENTUM DAMPENING WEIGHT_DECAY NESTEROV
Tensor sgd100(const Words& w) {
  return elementwise<optim::SGD>(w, optim::SGDOptions(std::stod(w[2]))
                                        .momentum(std::stod(w[3]))
                                        .dampening(std::stod(w[4]))
                                        .weight_decay(std::stod(w[5]))
                                        .nesterov(flag(w[6])));
}

// lion DTYPE LR BETA1 BETA2 WEIGHT_DECAY
Tensor lion(const Words& w) {
  return elementwise<optim::Lion>(w, optim::LionOptions(std::stod(w[2]))
                                         .betas({std::stod(w[3]), std::stod(w[4])})
                                         .weight_decay(std::stod(w[5])));
}

// maxadam, maxadamw, adamax, nadam, radam: DTYPE LR BETA1 BETA2 EPS WEIGHT_DECAY MAXIMIZE, and more
// of the last two.
template <class Options>
Options with_betas(const Words& w) {
  return Options(std::stod(w[2]))
      .betas({std::stod(w[3]), std::stod(w[4])})
      .eps(std::stod(w[5]))
      .weight_decay(std::stod(w[6]))
      .maximize(flag(w[7]));
}
template <class Optimizer, class Options>
Tensor adaptive(const Words& w) {
  return elementwise<Optimizer>(w, with_betas<Options>(w));
}
// ... DECOUPLED_WEIGHT_DECAY MOMENTUM_DECAY
Tensor nadam(const Words& w) {
  return elementwise<optim::NAdam>(w, with_betas<optim::NAdamOptions>(w)
                                          .decoupled_weight_decay(flag(w[8]))
                                          .momentum_decay(std::stod(w[9])));
}
// ... DECOUPLED_WEIGHT_DECAY
Tensor radam(const Words& w) {
  return elementwise<optim::RAdam>(
      w, with_betas<optim::RAdamOptions>(w).decoupled_weight_decay(flag(w[8])));
}

// adadelta DTYPE LR RHO EPS WEIGHT_DECAY MAXIMIZE
Tensor adadelta(const Words& w) {
  return elementwise<optim::Adadelta>(w, optim::AdadeltaOptions(std::stod(w[2]))
                                             .rho(std::stod(w[3]))
                                             .eps(std::stod(w[4]))
                                             .weight_decay(std::stod(w[5]))
                                             .maximize(flag(w[6])));
}

std::optional<std::string> optional_text(const std::string& word) {
  return word == "None" ? std::nullopt : std::make_optional(word);
}

// lbfgs LR MAX_ITER MAX_EVAL TOLERANCE_GRAD TOLERANCE_CHANGE HISTORY_SIZE LINE_SEARCH_FN, on
// Rosenbrock's function.
Tensor lbfgs(const Words& w) {
  const Tensors halves = halves_of(golden()["begin"]);
  const auto loss = [&] {
    const Tensor x = cat(halves), left = x.slice(0, 0, 5), right = x.slice(0, 1, 6);
    return (100 * (right - left.square()).square() + (1 - left).square()).sum();
  };
  return descend<optim::LBFGS>(halves,
                               optim::LBFGSOptions(std::stod(w[1]))
                                   .max_iter(std::stoll(w[2]))
                                   .max_eval(std::stoll(w[3]))
                                   .tolerance_grad(std::stod(w[4]))
                                   .tolerance_change(std::stod(w[5]))
                                   .history_size(std::stoll(w[6]))
                                   .line_search_fn(optional_text(w[7])),
                               loss, 10, false);
}

// muon LR WEIGHT_DECAY MOMENTUM NESTEROV A B C EPS NS_STEPS ADJUST_LR_FN
Tensor muon(const Words& w) {
  Tensors matrices;
  for (const char* name : {"first", "second"})
    matrices.push_back(golden()[name].clone().requires_grad_());
  const auto loss = [&] {
    return (matrices[0] - 0.5).square().sum() + (matrices[1] - 0.5).square().sum();
  };
  return descend<optim::Muon>(
      matrices,
      optim::MuonOptions(std::stod(w[1]))
          .weight_decay(std::stod(w[2]))
          .momentum(std::stod(w[3]))
          .nesterov(flag(w[4]))
          .ns_coefficients({std::stod(w[5]), std::stod(w[6]), std::stod(w[7])})
          .eps(std::stod(w[8]))
          .ns_steps(std::stoll(w[9]))
          .adjust_lr_fn(optional_text(w[10])),
      loss, 100, true);
}

// A product of bfloat16 near the middle of two numbers may be rounded the other way where it is
// summed in another order: an update of lr = 0.02 then differs by up to 8e-5. Some may do so.
const double kMuonSlack = 5e-4 / 0x1p-52;

TEST(OptimGolden, MatchesPyTorch) {
  check_golden(golden(), {{"sgd", {sgd, 64}},
                          {"sgd100", {sgd100, 1000}},
                          {"adam", {adam<optim::Adam, optim::AdamOptions>, 1000}},
                          {"adamw", {adam<optim::AdamW, optim::AdamWOptions>, 1000}},
                          {"adagrad", {adagrad, 1000}},
                          {"rmsprop", {rmsprop, 1000}},
                          {"lion", {lion, 1000}},
                          {"maxadam", {adaptive<optim::Adam, optim::AdamOptions>, 1000}},
                          {"maxadamw", {adaptive<optim::AdamW, optim::AdamWOptions>, 1000}},
                          {"adamax", {adaptive<optim::Adamax, optim::AdamaxOptions>, 1000}},
                          {"nadam", {nadam, 1000}},
                          {"radam", {radam, 1000}},
                          {"adadelta", {adadelta, 1000}},
                          {"lbfgs", {lbfgs, 1e6}},
                          {"muon", {muon, kMuonSlack}}});
}

}  // namespace
}  // namespace gradus::test
