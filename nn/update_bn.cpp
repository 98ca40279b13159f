// The state of modules around update_bn.
#include "gradus/nn/update_bn.h"

#include "gradus/nn/modules/batchnorm.h"

namespace gradus::optim::detail {

struct StatisticsAnew::State {
  struct Norm {
    nn::BatchNormOptions* options;
    std::optional<double> momentum;
  };
  std::vector<std::pair<nn::Module*, bool>> trained;  // all modules, and whether they did
  std::vector<Norm> norms;
};

StatisticsAnew::StatisticsAnew(nn::Module& module) : state_(std::make_unique<State>()) {
  module.apply([&](nn::Module& each) {
    state_->trained.emplace_back(&each, each.is_training());
    const auto note = [&](auto* norm) {
      if (!norm || !norm->running_mean.defined()) return;
      state_->norms.push_back({&norm->options, norm->options.momentum()});
      norm->reset_running_stats();
      norm->options.momentum(std::nullopt);
    };
    note(each.as<nn::BatchNorm1d>());
    note(each.as<nn::BatchNorm2d>());
    note(each.as<nn::BatchNorm3d>());
  });
  if (has_norms()) module.train();
}

StatisticsAnew::~StatisticsAnew() {
  for (const State::Norm& norm : state_->norms) norm.options->momentum(norm.momentum);
  // A module before those that it holds, which train() reaches, too.
  for (const auto& [module, trained] : state_->trained) module->train(trained);
}

bool StatisticsAnew::has_norms() const { return !state_->norms.empty(); }

}  // namespace gradus::optim::detail
