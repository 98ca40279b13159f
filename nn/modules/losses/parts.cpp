// Checks and reductions of losses.
#include "gradus/nn/modules/losses/parts.h"

namespace gradus {

void append(std::string& out, Reduction reduction) {
  static constexpr const char* kNames[] = {"kNone", "kMean", "kSum", "kBatchMean"};
  const auto number = static_cast<size_t>(reduction);
  out += number < std::size(kNames) ? kNames[number] : std::to_string(number);
}
std::ostream& operator<<(std::ostream& stream, Reduction reduction) {
  std::string out;
  append(out, reduction);
  return stream << out;
}

namespace nn::functional::detail {

void check_real(const char* op, std::initializer_list<Named> arguments) {
  for (const auto& [name, tensor] : arguments)
    check<TypeError>(!tensor.is_complex(), op, ": ", name, " has dtype ", tensor.dtype(),
                     ", and no distance of complex numbers is meant; take that of view_as_real()");
}

Tensor reduced(const char* op, const Tensor& losses, Reduction reduction) {
  check_real(op, {{"the loss of an element", losses}});
  if (reduction == kNone) return losses;
  if (reduction == kMean) return losses.mean();
  check(reduction == kSum, op, ": reduction is ", reduction, "; give kNone, kMean or kSum");
  return losses.sum();
}

Tensor weighted(const char* op, const char* name, const Tensor& x, const Tensor& weight) {
  if (!weight.defined()) return x;
  check(broadcasts_to(weight.sizes(), x.sizes()), op, ": ", name, " has shape ", weight.sizes(),
        ", which does not broadcast to input's ", x.sizes(), "; reshape it");
  return x * weight;
}

void check_same_shape(const char* op, const Tensor& input, const Tensor& target) {
  check_defined(op, input, target);
  check(input.sizes() == target.sizes(), op, ": Target size (", target.sizes(),
        ") must be the same as input size (", input.sizes(),
        "), or the loss would broadcast; reshape one");
}

void check_broadcast(const char* op, std::initializer_list<Named> arguments) {
  check_defined(op, arguments);
  Dims shape;
  for (const auto& [name, tensor] : arguments) shape = broadcast_shapes(op, shape, tensor.sizes());
}

void check_same_rank(const char* op, std::initializer_list<Named> arguments) {
  check_defined(op, arguments);
  const auto& [first, expected] = *arguments.begin();
  for (const auto& [name, tensor] : arguments)
    check(tensor.dim() == expected.dim(), op, ": ", first, " has shape ", expected.sizes(), ", ",
          name, " ", tensor.sizes(), "; expected as many dimensions in each; unsqueeze one");
  check_broadcast(op, arguments);
}

void check_probabilities(const char* op, const Tensor& target) {
  check<TypeError>(target.is_floating_point(), op, ": target has dtype ", target.dtype(),
                   ", expected probabilities of a floating point type; convert with .to(kFloat)");
}

void check_class_numbers(const char* op, const Tensor& target) {
  check<TypeError>(target.dtype() == kLong || target.dtype() == kByte, op, ": target has dtype ",
                   target.dtype(), ", expected class numbers of int64; convert with .to(kLong)");
}

void check_class_weight(const char* op, const Tensor& input, int64_t dim, const Tensor& weight) {
  if (!weight.defined()) return;
  check(weight.dim() == 1 && weight.size(0) == input.size(dim), op, ": weight has shape ",
        weight.sizes(), ", expected [", input.size(dim), "], a number for each class of input ",
        input.sizes(), "; reshape it");
}

}  // namespace nn::functional::detail
}  // namespace gradus
