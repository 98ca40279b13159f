// What all optimizers share: groups of parameters with options of their own, and zero_grad.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "gradus/autograd/functions.h"
#include "gradus/tensor/option.h"

namespace gradus::optim {

// Options of an optimizer, known to the base class by their learning rate alone.
struct OptimizerOptions {
  virtual ~OptimizerOptions() = default;
  virtual std::unique_ptr<OptimizerOptions> clone() const = 0;
  virtual double get_lr() const = 0;
  virtual void set_lr(double lr) = 0;
};

// Parameters that share options; without options of its own a group takes the optimizer's.
class OptimizerParamGroup {
 public:
  OptimizerParamGroup(Tensors params, std::unique_ptr<OptimizerOptions> options = nullptr)
      : params_(std::move(params)), options_(std::move(options)) {}
  OptimizerParamGroup(const OptimizerParamGroup& other)
      : params_(other.params_), options_(other.options_ ? other.options_->clone() : nullptr) {}
  OptimizerParamGroup(OptimizerParamGroup&&) = default;

  const Tensors& params() const { return params_; }
  Tensors& params() { return params_; }
  bool has_options() const { return options_ != nullptr; }
  const OptimizerOptions& options() const { return *options_; }
  OptimizerOptions& options() { return *options_; }
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }

 private:
  Tensors params_;
  std::unique_ptr<OptimizerOptions> options_;
};

class Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;

  // Errors: ValueError for no parameters, one given twice, or one that is not a leaf.
  Optimizer(std::vector<OptimizerParamGroup> groups, std::unique_ptr<OptimizerOptions> defaults);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Updates the parameters that have a gradient. With a closure, which clears the gradients,
  // computes the loss and calls backward, that is run first and its result returned.
  virtual Tensor step(LossClosure closure = nullptr) = 0;
  // set_to_none: grad() becomes undefined, and the next backward stores instead of adding.
  void zero_grad(bool set_to_none = true);
  void add_param_group(OptimizerParamGroup group);
  std::vector<OptimizerParamGroup>& param_groups() { return groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const { return groups_; }
  const OptimizerOptions& defaults() const { return *defaults_; }
  Tensors parameters() const;

 private:
  std::vector<OptimizerParamGroup> groups_;
  std::unique_ptr<OptimizerOptions> defaults_;
};

}  // namespace gradus::optim
