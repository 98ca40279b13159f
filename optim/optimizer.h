// The base of all optimizers: groups of parameters with their own options, the step, and the state.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <vector>

#include "gradus/autograd/functions.h"
#include "gradus/optim/fields.h"
#include "gradus/tensor/base/option.h"
#include "gradus/tensor/base/ordered_dict.h"
#include "gradus/tensor/table/optimizers.h"

namespace gradus {

struct UpdatedParameter;

namespace cuda {
class Graph;
}

namespace serialize {
class OutputArchive;
class InputArchive;
}  // namespace serialize

namespace optim {

// Options of an optimizer, known to the base class by their learning rate alone.
struct OptimizerOptions {
  virtual ~OptimizerOptions() = default;
  virtual std::unique_ptr<OptimizerOptions> clone() const = 0;
  virtual double get_lr() const = 0;
  virtual void set_lr(double lr) = 0;
  // All options, for state_dict(), which refuses a class that lists none; none is a tensor.
  virtual Fields fields() { return {}; }
  // Errors: ValueError for a value out of its field's range, or that the algorithm cannot take.
  virtual void validate() const;
};

// Whether both are of one class and all their fields are equal.
bool operator==(const OptimizerOptions& a, const OptimizerOptions& b);

// Options that clone themselves, and have the learning rate in lr().
template <class Derived>
struct OptimizerCloneableOptions : OptimizerOptions {
  std::unique_ptr<OptimizerOptions> clone() const override {
    // Not by make_unique: a compiler takes long for each kind of pointer.
    return std::unique_ptr<OptimizerOptions>(new Derived(static_cast<const Derived&>(*this)));
  }
  double get_lr() const override { return static_cast<const Derived&>(*this).lr(); }
  void set_lr(double value) override { static_cast<Derived&>(*this).lr(value); }
};

// The state that an algorithm keeps of one parameter from step to step.
struct OptimizerParamState {
  virtual ~OptimizerParamState() = default;
  // All of it, for state_dict(). A tensor has the dtype that the parameter's numbers are computed
  // with, or is undefined. Optimizer::step counts an int64 up.
  virtual Fields fields() = 0;
};

// Compares as for options; tensors are equal where their values are.
bool operator==(const OptimizerParamState& a, const OptimizerParamState& b);

// Parameters that share options; without options of its own a group takes the optimizer's.
class OptimizerParamGroup {
 public:
  OptimizerParamGroup(Tensors params, std::unique_ptr<OptimizerOptions> options = nullptr)
      : params_(std::move(params)), options_(std::move(options)) {}
  OptimizerParamGroup(const OptimizerParamGroup& other)
      : params_(other.params_),
        options_(other.options_ ? other.options_->clone() : nullptr),
        initial_lr_(other.initial_lr_) {}
  OptimizerParamGroup(OptimizerParamGroup&&) = default;

  const Tensors& params() const { return params_; }
  Tensors& params() { return params_; }
  bool has_options() const { return options_ != nullptr; }
  const OptimizerOptions& options() const { return *options_; }
  OptimizerOptions& options() { return *options_; }
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }
  // The learning rate before schedules changed it; set by the first schedule.
  const std::optional<double>& initial_lr() const { return initial_lr_; }
  void set_initial_lr(double lr) { initial_lr_ = lr; }

 private:
  Tensors params_;
  std::unique_ptr<OptimizerOptions> options_;
  std::optional<double> initial_lr_;
};

class Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;

  // Errors: ValueError for a parameter given twice, one that is not a leaf, and options out of
  // range; TypeError for a group with options of another class than the defaults'.
  Optimizer(std::vector<OptimizerParamGroup> groups, std::unique_ptr<OptimizerOptions> defaults);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Updates the parameters that have a gradient. A closure clears the gradients, computes the loss
  // and calls backward. step() runs it first and returns its result.
  // Errors: ValueError for no parameters, and where a gradient has another shape or device than its
  // parameter, or the state another shape; TypeError as the constructor. Nothing is changed then.
  // Captured for a cuda::Graph, it takes the options and counts of each replay, and needs a step
  // before that makes the state (Error); the optimizer must then outlive the graph.
  virtual Tensor step(LossClosure closure = nullptr);
  // Steps, unless `found_inf` (one number, Double) is not 0. The host waits for `found_inf`, except
  // where all parameters with gradients are on its GPU and have their state. Such a step can be
  // captured. state() and functions like it wait and are exact; call them anew after each step.
  // Errors: those of step().
  Tensor step_unless(const Tensor& found_inf);
  // set_to_none: grad() becomes undefined, and the next backward stores instead of adding.
  void zero_grad(bool set_to_none = true);
  void add_param_group(OptimizerParamGroup group);
  // Adds to the first group.
  void add_parameters(const Tensors& parameters);
  size_t size() const { return parameters().size(); }
  std::vector<OptimizerParamGroup>& param_groups() { return groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const { return groups_; }
  const OptimizerOptions& defaults() const { return *defaults_; }
  OptimizerOptions& defaults() { return *defaults_; }
  Tensors parameters() const;
  // Keyed by TensorImpl. A parameter has an entry from its first update on.
  const std::unordered_map<void*, std::unique_ptr<OptimizerParamState>>& state() const {
    settle();
    return state_;
  }
  std::unordered_map<void*, std::unique_ptr<OptimizerParamState>>& state() {
    settle();
    return state_;
  }

  // All that the next step depends on beside parameters and gradients: options under
  // "param_groups.0.lr", state under "state.NAME.momentum_buffer", and under "group_of.NAME" the
  // group of a parameter. `names` are those of parameters(), in order; without them these are
  // numbered. The tensors share the optimizer's memory.
  // Errors: NotImplementedError where the algorithm does not list its fields.
  OrderedDict<std::string, Tensor> state_dict(const std::vector<std::string>& names = {}) const;
  // Takes copies of the values.
  // Errors: ValueError that lists all names that are missing, unknown, or of another shape, dtype
  // or value than fits; nothing is changed then.
  void load_state_dict(const OrderedDict<std::string, Tensor>& values,
                       const std::vector<std::string>& names = {});
  // The objections of load_state_dict to these values: one line for each, after a line break.
  std::string misfits(const OrderedDict<std::string, Tensor>& values,
                      const std::vector<std::string>& names = {}) const;

  // state_dict() under its names, and the class; defined in serialize/.
  virtual void save(serialize::OutputArchive& archive) const;
  // Errors: ValueError for the state of another class, and as load_state_dict.
  virtual void load(serialize::InputArchive& archive);

 protected:
  // How one parameter is stepped.
  struct Step {
    UpdateOp op;
    int states;        // so many of the tensors in the state's fields(), in order,
    unsigned without;  // but not those with a bit in here
    CoefficientList coefficients;
  };

  // The closure's result, with the graph on; undefined without a closure.
  static Tensor evaluate(const LossClosure& closure);
  // Errors: those of step() for the gradient of one parameter.
  void check_gradient(const Tensor& parameter) const;
  // Whether step() heeds step_unless() by itself: that of this class does. False for one that
  // overrides it without calling it.
  virtual bool heeds_found_inf() const { return false; }

  // An algorithm without one keeps nothing.
  virtual std::unique_ptr<OptimizerParamState> new_state() const { return nullptr; }
  // Made by new_state() at first.
  OptimizerParamState& state_of(const Tensor& parameter);
  // The options are of the class of the defaults, and the state is of new_state()'s.
  // Errors: NotImplementedError where a class has neither this nor step().
  virtual Step step_of(const OptimizerOptions& options, const OptimizerParamState& state) const;

 private:
  struct Due;
  struct Batch;
  struct Loaded;
  void check_options(const OptimizerParamGroup& group) const;
  // Errors: those of the constructor for more parameters.
  void check_new(const Tensors& added) const;
  // The parameters that have gradients. Errors: those of step().
  std::vector<Due> check_step() const;
  // Returns the arguments of one call of the backend. REQUIRES: they go with one another.
  Batch prepare(std::vector<Due*> due) const;
  void step_together(Batch& batch);
  void capture(cuda::Graph& graph, const std::vector<Due*>& batch,
               const std::vector<UpdatedParameter>& updated);
  // Whether the step can leave it to the device whether it is passed over.
  bool can_gate(const std::vector<Due>& due) const;
  // Lets the counts of these parameters contain the steps that were passed over from now on. Makes
  // the counts of all others exact. Returns whether counts were corrected.
  bool count_passed_over(const std::vector<void*>& parameters) const;
  // Makes all counts exact; waits for that.
  void settle() const { count_passed_over({}); }
  Loaded read_state_dict(const OrderedDict<std::string, Tensor>& values,
                         const std::vector<std::string>& names) const;

  std::vector<OptimizerParamGroup> groups_;
  std::unordered_map<void*, std::unique_ptr<OptimizerParamState>> state_;
  std::unique_ptr<OptimizerOptions> defaults_;
  Tensor found_inf_;                      // of the step that runs, or undefined
  Tensor skipped_;                        // how many steps were passed over
  mutable std::vector<void*> uncertain_;  // parameters whose counts contain these, by TensorImpl
};

// The part of a step that depends on one parameter.
template <UpdateOp op>
struct Update {
  int states;
  UpdateCoefficients<op, double> coefficients;
  unsigned without = 0;
};

// An optimizer by a row of optimizers.def, its options and its state. options.update(state) is the
// next Update<op> of a parameter whose state this is.
template <UpdateOp op, class Options, class State>
class TableOptimizer : public Optimizer {
 public:
  TableOptimizer(std::vector<OptimizerParamGroup> groups, const Options& defaults = {})
      : Optimizer(std::move(groups), defaults.clone()) {}
  TableOptimizer(Tensors params, const Options& defaults = {})
      : TableOptimizer(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
                       defaults) {}

 private:
  bool heeds_found_inf() const override { return true; }
  std::unique_ptr<OptimizerParamState> new_state() const final {
    return std::unique_ptr<OptimizerParamState>(new State());
  }
  Step step_of(const OptimizerOptions& options, const OptimizerParamState& state) const final {
    const Update<op> next =
        static_cast<const Options&>(options).update(static_cast<const State&>(state));
    return {op, next.states, next.without, list_of<op>(next.coefficients)};
  }
};

// `kept` on the device of `parameter`, in the dtype that its next step computes with.
Tensor beside(const Tensor& kept, const Tensor& parameter);
// The name of an algorithm in errors, by its class or that of its options: SGD.
std::string algorithm_name(const std::type_info& type);
// Errors: ValueError where an algorithm has no parameters to step.
void check_some(const std::type_info& algorithm, size_t parameters);

}  // namespace optim
}  // namespace gradus
