// EvalMode: a model in eval mode until the end of the scope.
#pragma once

#include <utility>
#include <vector>

#include "gradus/nn/module.h"

namespace gradus::watch::detail {

// Each module goes back into its own mode.
class EvalMode {
 public:
  explicit EvalMode(nn::Module& model) {
    model.apply([this](nn::Module& module) { modes_.emplace_back(&module, module.is_training()); });
    model.eval();
  }
  ~EvalMode() {
    for (const auto& [module, training] : modes_) module->train(training);  // from the top down
  }
  EvalMode(const EvalMode&) = delete;
  EvalMode& operator=(const EvalMode&) = delete;

 private:
  std::vector<std::pair<nn::Module*, bool>> modes_;
};

}  // namespace gradus::watch::detail
