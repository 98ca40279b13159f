// The common part of all optimizers: checks, groups, zero_grad, and the state of each parameter.
#include "gradus/optim/optimizer.h"

#include "gradus/autograd/engine/engine.h"
#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/engine/node.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::optim {

void OptimizerOptions::validate() const {
  const auto copy = clone();
  for (const Field& field : copy->fields()) {
    const auto* const number = std::get_if<double*>(&field.value);
    const auto& below = field.below;
    if (!number || (**number >= field.least && (!below || **number < *below))) continue;
    std::string range = "a number";
    if (std::isfinite(field.least))
      gradus::detail::append(range = "", field.least), range += " or more";
    if (below) range += " and below ", gradus::detail::append(range, *below);
    fail(algorithm_name(typeid(*this)), ": ", field.name, " = ", **number, ", expected ", range);
  }
}

namespace {
bool same(const Tensor& a, const Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || a.equal(b));
}
bool same(const std::deque<Tensor>& a, const std::deque<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Tensor& x, const Tensor& y) { return same(x, y); });
}
template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}
bool same(const Fields& a, const Fields& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Field& x, const Field& y) {
    return std::visit([&]<class T>(T* value) { return same(*value, *std::get<T*>(y.value)); },
                      x.value);
  });
}
}  // namespace

bool operator==(const OptimizerOptions& a, const OptimizerOptions& b) {
  return typeid(a) == typeid(b) && same(a.clone()->fields(), b.clone()->fields());
}

bool operator==(const OptimizerParamState& a, const OptimizerParamState& b) {
  // fields() may change what it lists; here it is read.
  return typeid(a) == typeid(b) && same(const_cast<OptimizerParamState&>(a).fields(),
                                        const_cast<OptimizerParamState&>(b).fields());
}

Optimizer::Optimizer(std::vector<OptimizerParamGroup> groups,
                     std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  for (OptimizerParamGroup& group : groups) add_param_group(std::move(group));
}

void Optimizer::add_param_group(OptimizerParamGroup group) {
  check_new(group.params());
  if (!group.has_options()) group.set_options(defaults_->clone());
  check_options(group);
  group.options().validate();
  groups_.push_back(std::move(group));
}

void Optimizer::add_parameters(const Tensors& parameters) {
  check(!groups_.empty(), "add_parameters: there is no parameter group; use add_param_group()");
  check_new(parameters);
  groups_[0].params().insert(groups_[0].params().end(), parameters.begin(), parameters.end());
}

void Optimizer::check_new(const Tensors& added) const {
  Tensors known = parameters();
  for (const Tensor& parameter : added) {
    check(parameter.is_leaf(), "Optimizer: a parameter of shape ", parameter.sizes(),
          " was computed from others; only leaves can be optimized");
    for (const Tensor& other : known)
      check(!other.is_same(parameter), "Optimizer: a parameter of shape ", parameter.sizes(),
            " is listed twice (some parameters appear in more than one parameter group); list it "
            "once");
    known.push_back(parameter);
  }
}

void Optimizer::zero_grad(bool set_to_none) {
  for (const OptimizerParamGroup& group : groups_)
    for (const Tensor& parameter : group.params()) autograd::clear_grad(parameter, set_to_none);
}

Tensors Optimizer::parameters() const {
  Tensors out;
  for (const OptimizerParamGroup& group : groups_)
    out.insert(out.end(), group.params().begin(), group.params().end());
  return out;
}

void Optimizer::check_options(const OptimizerParamGroup& group) const {
  const OptimizerOptions &given = group.options(), &own = *defaults_;
  const std::type_info &found = typeid(given), &expected = typeid(own);
  if (found != expected)
    fail<TypeError>(algorithm_name(expected), ": a parameter group has options of ",
                    algorithm_name(found), "; give it ", readable_name(expected));
}

void Optimizer::check_gradient(const Tensor& parameter) const {
  const Tensor& grad = parameter.grad();
  if (grad.sizes() != parameter.sizes() || grad.device() != parameter.device())
    fail(algorithm_name(typeid(*this)), ": a parameter has shape ", parameter.sizes(), " on ",
         parameter.device(), ", and its gradient ", grad.sizes(), " on ", grad.device(),
         "; call zero_grad() and backward() after the parameter has been replaced");
  if (isComplexType(parameter.dtype()))
    fail<TypeError>(algorithm_name(typeid(*this)), ": a parameter of shape ", parameter.sizes(),
                    " is ", parameter.dtype(),
                    ", and parameters are real; give view_as_real() of it, and compute with "
                    "view_as_complex() of that");
  if (!isFloatingType(parameter.dtype()))
    fail<TypeError>(algorithm_name(typeid(*this)), ": a parameter of shape ", parameter.sizes(),
                    " is ", parameter.dtype(), ", expected floating point; use .to(kFloat)");
}

OptimizerParamState& Optimizer::state_of(const Tensor& parameter) {
  std::unique_ptr<OptimizerParamState>& kept = state_[&parameter.impl()];
  if (!kept) kept = new_state();
  return *kept;
}

Optimizer::Step Optimizer::step_of(const OptimizerOptions&, const OptimizerParamState&) const {
  fail<NotImplementedError>(readable_name(typeid(*this)), ": no step is defined; override step()");
}

Tensor beside(const Tensor& kept, const Tensor& parameter) {
  return raw::to(raw::to(kept, computed_type(parameter.dtype())), parameter.device());
}

void check_some(const std::type_info& algorithm, size_t parameters) {
  if (parameters == 0)
    fail(algorithm_name(algorithm),
         ": the list of parameters is empty; a module lists those that it knows by "
         "register_module(name, layer) and register_parameter(name, tensor)");
}

std::string algorithm_name(const std::type_info& type) {
  std::string name = readable_name(type);
  if (const size_t space = name.rfind("::"); space != name.npos) name.erase(0, space + 2);
  if (name.ends_with("Options")) name.erase(name.size() - 7);
  return name;
}

Tensor Optimizer::evaluate(const LossClosure& closure) {
  const AutoGradMode mode(true);
  return closure ? closure() : Tensor();
}

}  // namespace gradus::optim
