// Arguments, rows and gradients of functions of the user's own.
#include "gradus/autograd/tools/own_calls.h"

#include <algorithm>

#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/base/threads.h"
#include "gradus/tensor/factories.h"

namespace gradus::detail {

void check_count(const char* name, size_t takes, size_t given) {
  check<TypeError>(given == takes, name, ": the function takes ", takes, " arguments, and got ",
                   given, "; give one for each parameter");
}

bool records_own(const char* name, const Tensors& inputs, bool has_gradient) {
  const bool records = recording(ArrayRef<Tensor>(inputs));
  check<Error>(!records || has_gradient, name,
               ": an argument requires grad, and the function has no gradient; give one with "
               "with_gradient(), or call it under a NoGradGuard");
  return records;
}

Tensor tensor_of(const char* name, const cuda::Argument& argument, ScalarType dtype, size_t i,
                 Device device) {
  if (const cuda::Number* number = argument.number()) {
    check<TypeError>(!number->is_floating || isFloatingType(dtype), name, ": argument ", i + 1,
                     " is a number of type ", number->type, "; expected ", short_name(dtype));
    const Scalar value = number->is_floating ? Scalar(number->floating) : Scalar(number->integer);
    return full({}, value, TensorOptions(dtype).device(device));
  }
  const Tensor& tensor = *argument.tensor();
  check<TypeError>(tensor.defined(), name, ": argument ", i + 1,
                   " is an undefined tensor; assign it one first");
  check<TypeError>(tensor.scalar_type() == dtype, name, ": argument ", i + 1, " is a tensor of ",
                   short_name(tensor.scalar_type()), "; expected ", short_name(dtype),
                   "; convert it with .to(k", toString(dtype), ")");
  return tensor;
}

Device common_device(const char* name, ArrayRef<cuda::Argument> arguments) {
  const Tensor* first = nullptr;
  for (const cuda::Argument& each : arguments) {
    if (!each.tensor() || !each.tensor()->defined()) continue;
    if (!first) first = each.tensor();
    check(each.tensor()->device() == first->device(), name, ": a tensor is on ",
          each.tensor()->device().str(), ", and the first one on ", first->device().str(),
          "; move one of them with .to()");
  }
  return first ? first->device() : Device(kCPU);
}

// Rows are the last dimension; all others count them.
void for_rows(const Dims& shape, const std::vector<Dims>& strides, int64_t part,
              const std::function<void(int64_t, const int64_t*, const int64_t*)>& row) {
  const size_t rank = shape.size();
  int64_t count = 1;
  for (const int64_t size : IntArrayRef(shape)) count *= size;
  if (count == 0) return;
  const int64_t length = rank > 0 ? shape[rank - 1] : 1, rows = count / length;
  const int64_t rows_of_part = std::max<int64_t>(1, part / length);
  std::vector<int64_t> steps;
  for (const Dims& each : strides) steps.push_back(rank > 0 ? each[rank - 1] : 0);
  run_parts((rows + rows_of_part - 1) / rows_of_part, [&](int64_t p) {
    std::vector<int64_t> offsets(strides.size());
    const int64_t end = std::min(rows, (p + 1) * rows_of_part);
    for (int64_t r = p * rows_of_part; r < end; ++r) {
      for (size_t k = 0; k < strides.size(); ++k) {
        offsets[k] = 0;
        int64_t rest = r;
        for (size_t d = rank; d-- > 1; rest /= shape[d - 1])
          offsets[k] += rest % shape[d - 1] * strides[k][d - 1];
      }
      row(length, offsets.data(), steps.data());
    }
  });
}

void record_own(const char* name, const Tensors& inputs, const Tensors& outputs,
                std::function<Tensor(size_t, ArrayRef<cuda::Argument>)> gradient) {
  auto backward = [gradient = std::move(gradient), count = inputs.size()](Node& node,
                                                                          const Tensors& grads) {
    std::vector<cuda::Argument> all;
    for (size_t i = 0; i < count; ++i) all.emplace_back(node.saved(i));
    for (size_t i = 0; i < grads.size(); ++i) {
      const Node::Meta& meta = node.meta(i);
      all.emplace_back(grads[i].defined()
                           ? grads[i]
                           : zeros(meta.sizes, TensorOptions(meta.dtype).device(meta.device)));
    }
    Tensors out(count);
    for (size_t i = 0; i < count; ++i)
      if (node.wants(i)) out[i] = gradient(i, all);
    return out;
  };
  auto node = make_node<LambdaNode<decltype(backward)>>(name, std::move(backward));
  const Device device = outputs[0].device();
  for (const Tensor& each : inputs) {
    node->add_next_edge(gradient_edge(each));
    node->save(each.device() == device ? each : each.to(device), std::nullopt);
  }
  for (const Tensor& each : outputs) {
    const uint32_t nr = node->add_input_metadata(each);
    if (each.is_floating_point()) set_history(each, node, nr);
  }
}

}  // namespace gradus::detail
