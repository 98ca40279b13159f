// Reads lists of parameters, and finds the types that a call gives to their placeholders.
#include "gradus/cuda/rtc/call.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "gradus/cuda/rtc/types.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/tensor/base/modes.h"
#include "gradus/tensor/codegen/prelude.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda::rtc {

std::vector<ParameterInfo> parameters_of(const std::string& kernel, const std::string& list) {
  std::vector<ParameterInfo> out;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    std::istringstream words(part);
    std::vector<std::string> all;
    for (std::string word; words >> word;) all.push_back(word);
    const bool is_raw = !all.empty() && all[0] == "raw";
    if (is_raw) all.erase(all.begin());
    check(all.size() >= 2, kernel, ": the parameter '", part,
          "' is not a type and a name; expected ", "one like 'T x', 'raw T x' or 'float x'");
    ParameterInfo it{is_raw, all[0], all.back()};
    for (size_t i = 1; i + 1 < all.size(); ++i) it.type += " " + all[i];
    const bool is_placeholder =
        it.type.size() == 1 && std::isupper(static_cast<unsigned char>(it.type[0]));
    const auto known = known_type(it.type);
    check<TypeError>(is_placeholder || (known && known->dtype), kernel, ": the type '", it.type,
                     "' of '", it.name,
                     "' is not known; expected a capital letter, or a type of "
                     "tensors like float, int64_t or __half");
    check(
        std::ranges::none_of(out, [&](const ParameterInfo& each) { return each.name == it.name; }),
        kernel, ": two parameters are called '", it.name, "'; rename one");
    out.push_back(std::move(it));
  }
  return out;
}

Device device_of(ArrayRef<Argument> arguments) {
  for (const Argument& each : arguments)
    if (each.tensor() && each.tensor()->defined()) return each.tensor()->device();
  return Device(kCUDA, static_cast<DeviceIndex>(current_device()));
}

void check_argument(gradus::detail::Part place, const Tensor& tensor, Device device) {
  check(tensor.is_cuda(), place, " is on the CPU; move it to a GPU with .to(kCUDA)");
  check(tensor.device() == device, place, " is on ", tensor.device().str(),
        ", and the first tensor on ", device.str(), "; move one of them with .to()");
  check<Error>(!thread_modes.grad || !tensor.requires_grad(), place,
               " requires grad, and no gradient of the kernel is recorded; call it under a "
               "NoGradGuard, in an autograd::Function, or with .detach()");
}

namespace {

// For messages.
struct Name {
  const std::string &kernel, &parameter;
};
void append(std::string& out, const Name& name) {
  out += name.kernel + ": the argument '" + name.parameter + "'";
}

// What a number stands for where nothing else tells.
ScalarType own_dtype(const Number& number) {
  if (number.type == "Half") return kHalf;
  if (number.type == "BFloat16") return kBFloat16;
  return *known_type(number.type)->dtype;
}

}  // namespace

Call::Call(const std::string& kernel, const std::vector<ParameterInfo>& parameters, size_t inputs,
           ArrayRef<Argument> arguments)
    : kernel_(kernel),
      parameters_(parameters),
      inputs_(inputs),
      device_(device_of(arguments)),
      tensors_(parameters.size()) {
  check<TypeError>(arguments.size() == inputs || arguments.size() == parameters.size(), kernel,
                   " takes ", inputs, " inputs and gives ", parameters.size() - inputs,
                   " outputs, and got ", arguments.size(),
                   " arguments; give the inputs, or the inputs and the outputs");
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Name place{kernel, parameters[i].name};
    numbers_.push_back(arguments[i].number());
    if (const Number* number = numbers_.back()) {
      check<TypeError>(i < inputs && !parameters[i].is_raw, place, " is a number of type ",
                       number->type, "; expected a tensor");
      continue;
    }
    const Tensor& tensor = *arguments[i].tensor();
    check<TypeError>(tensor.defined(), place,
                     " is an undefined tensor; expected a tensor or a number");
    check_argument(place, tensor, device_);
    check(!parameters[i].is_raw || i < inputs || tensor.is_contiguous(), place,
          " is raw and not contiguous; give a contiguous output");
    tensors_[i] = parameters[i].is_raw && i < inputs ? raw::contiguous(tensor) : tensor;
    bind(i, tensor.scalar_type());
  }
  for (size_t i = 0; i < numbers_.size(); ++i)
    if (numbers_[i] && !known_type(parameters[i].type))
      placeholders_.try_emplace(parameters[i].type, own_dtype(*numbers_[i]));
}

void Call::bind(size_t i, ScalarType dtype) {
  const std::string& type = parameters_[i].type;
  const auto known = known_type(type);
  const ScalarType expected =
      known ? *known->dtype : placeholders_.try_emplace(type, dtype).first->second;
  check<TypeError>(dtype == expected, Name{kernel_, parameters_[i].name}, " is a tensor of ",
                   short_name(dtype), "; expected ", short_name(expected),
                   known ? "" : ", as other arguments of type ", known ? "" : type,
                   "; convert it with .to(k", toString(expected), ")");
}

std::array<char, 8> Call::number(size_t i) const {
  const Number& it = *numbers_[i];
  const KnownType type = *known_type(cuda_name(dtype(i)));
  check<TypeError>(!it.is_floating || type.is_floating, Name{kernel_, parameters_[i].name},
                   " is a number of type ", it.type, "; expected an integer");
  const auto bytes = converted(it, type);
  check(bytes.has_value(), Name{kernel_, parameters_[i].name}, " is ", it.integer, ", which ",
        short_name(dtype(i)), " does not hold");
  return *bytes;
}

ScalarType Call::dtype(size_t i) const {
  const std::string& type = parameters_[i].type;
  if (const auto known = known_type(type)) return *known->dtype;
  const auto found = placeholders_.find(type);
  check<TypeError>(found != placeholders_.end(), kernel_, ": no argument tells the type ", type,
                   " of '", parameters_[i].name,
                   "'; give it a type of its own, or give the output");
  return found->second;
}

bool Call::has_walked(size_t first, size_t last) const {
  for (size_t i = first; i < last; ++i)
    if (is_walked(i)) return true;
  return false;
}

Dims Call::shape() const {
  Dims out;
  if (!has_shape()) return out;
  const bool by_inputs = has_walked(0, inputs_);
  for (size_t i = by_inputs ? 0 : inputs_; i < (by_inputs ? inputs_ : parameters_.size()); ++i)
    if (is_walked(i)) out = broadcast_shapes(kernel_, out, tensors_[i].sizes());
  return out;
}

std::string Call::types() const {
  std::string out;
  for (size_t i = 0; i < parameters_.size(); ++i)
    out += std::string(cuda_name(dtype(i))) + (is_number(i) ? "#," : ",");
  return out;
}

std::string Call::prelude(bool wide) const {
  std::string out = codegen::prelude(
      [&](ScalarType type) {
        for (size_t i = 0; i < parameters_.size(); ++i)
          if (dtype(i) == type) return true;
        return false;
      },
      wide);
  out += R"(
template <class T>
struct Raw {
  T* data;
  long long count;
  __device__ T& operator[](long long at) const { return data[at]; }
  __device__ long long size() const { return count; }
};
)";
  for (const auto& [name, dtype] : placeholders_)
    out += "using " + name + " = " + std::string(cuda_name(dtype)) + ";\n";
  return out;
}

codegen::ElementParameter Call::kernel_parameter(size_t i) const {
  using codegen::ElementParameter;
  const auto& [is_raw, of_type, name] = parameters_[i];
  const std::string type(cuda_name(dtype(i)));
  if (is_raw)
    return {ElementParameter::whole, (i < inputs_ ? "Raw<const " : "Raw<") + type + ">", name};
  if (is_number(i)) return {ElementParameter::whole, type, name};
  if (i < inputs_) return {ElementParameter::read, type, name};
  return {gives_outputs() ? ElementParameter::both : ElementParameter::written, type, name};
}

void Call::add_to(codegen::KernelArguments& arguments, size_t i) const {
  if (is_number(i)) return arguments.add(number(i));
  struct Raw {
    void* data;
    int64_t count;
  };
  const Raw raw{tensors_[i].data_ptr(), tensors_[i].numel()};
  parameters_[i].is_raw ? arguments.add(raw) : arguments.add(raw.data);
}

}  // namespace gradus::cuda::rtc
