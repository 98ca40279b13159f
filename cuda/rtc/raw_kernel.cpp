// Brings arguments to a kernel of the user's own, and checks them against its parameters.
#include "gradus/cuda/rtc/raw_kernel.h"

#include <algorithm>
#include <optional>

#include "gradus/cuda/rtc/call.h"
#include "gradus/cuda/rtc/launch_own.h"
#include "gradus/cuda/rtc/signature.h"
#include "gradus/tensor/batching/undo.h"

namespace gradus::cuda {

using rtc::Parameter;
using rtc::Signature;

namespace {

// For messages: which argument of which kernel.
struct Place {
  const std::string& kernel;
  size_t index;
  const Parameter* parameter;  // null where it is not known
};
void append(std::string& out, const Place& place) {
  out += place.kernel + ": argument " + std::to_string(place.index + 1);
  if (place.parameter) out += " (" + place.parameter->text + ")";
}

std::string what(const Argument& argument) {
  if (const Number* number = argument.number())
    return "a number of type " + std::string(number->type);
  const Tensor& tensor = *argument.tensor();
  if (!tensor.defined()) return "an undefined tensor";
  return "a tensor of " + std::string(short_name(tensor.scalar_type()));
}

// What the kernel gets for a number.
std::array<char, 8> bytes_of(const Number& number, const Place& place) {
  if (!place.parameter) return number.bytes;
  const std::optional<rtc::KnownType>& type = place.parameter->known;
  if (!type) return number.bytes;
  check<TypeError>(!number.is_floating || type->is_floating, place, " is a number of type ",
                   number.type, "; expected an integer; convert it where the kernel is called");
  const auto bytes = rtc::converted(number, *type);
  check(bytes.has_value(), place, " is ", number.integer, ", which ", place.parameter->type,
        " does not hold; give a number in its range, or the parameter a wider type");
  return *bytes;
}

void* address_of(const Tensor& tensor, const Place& place, Device device) {
  if (!tensor.defined()) return nullptr;
  rtc::check_argument(place, tensor, device);
  if (const Parameter* parameter = place.parameter)
    if (const auto& type = parameter->known; type && type->dtype)
      check<TypeError>(*type->dtype == tensor.scalar_type(), place, " is a tensor of ",
                       short_name(tensor.scalar_type()), "; expected ", short_name(*type->dtype),
                       "; convert it with .to(k", toString(*type->dtype), ")");
  return tensor.data_ptr();
}

unsigned checked_size(const std::string& kernel, const char* of, int64_t size, int64_t most) {
  check(size >= 0 && size <= most, kernel, ": the ", of, " has a size of ", size,
        "; expected 0 to ", most, "; a block takes several elements a thread where there are many");
  return static_cast<unsigned>(size);
}
dim3 checked(const std::string& kernel, const char* of, const Dim3& size) {
  return {checked_size(kernel, of, size.x, INT32_MAX), checked_size(kernel, of, size.y, 65535),
          checked_size(kernel, of, size.z, 65535)};
}

// The parameters of a kernel do not depend on which instance of a template it is.
std::string without_instance(const std::string& name) { return name.substr(0, name.find('<')); }

const Signature* find(const std::vector<Signature>& all, const std::string& name) {
  const auto found = std::ranges::find(all, without_instance(name), &Signature::name);
  return found == all.end() ? nullptr : &*found;
}

std::string listed(const std::vector<Signature>& all) {
  std::string out;
  for (const Signature& each : all) out += (out.empty() ? "" : ", ") + each.name;
  return out;
}

// Null where macros or headers may make the kernel.
std::shared_ptr<const Signature> signature_of(const char* of, const Source& source,
                                              const std::string& name) {
  const std::vector<Signature> all = rtc::kernels_in(source.text());
  if (const Signature* found = find(all, name)) return std::make_shared<Signature>(*found);
  const bool may_be_hidden = all.empty() || source.text().find('#') != std::string::npos;
  check(may_be_hidden, of, ": the text given at ", source.place(), " has no kernel '", name,
        "'; it has: ", listed(all));
  return nullptr;
}

// Those that are asked for, and all that are no templates.
std::vector<std::string> names_of(const Source& source, std::vector<std::string> names) {
  for (const Signature& each : rtc::kernels_in(source.text()))
    if (!each.is_template && std::ranges::find(names, each.name) == names.end())
      names.push_back(each.name);
  return names;
}

}  // namespace

RawKernel::RawKernel(Source source, std::string name, std::vector<std::string> options)
    : program_(source, {name}, std::move(options)),
      index_(0),
      name_(std::move(name)),
      signature_(signature_of("RawKernel", source, name_)) {}

RawKernel::RawKernel(Program program, size_t index, std::string name,
                     std::shared_ptr<const Signature> signature)
    : program_(std::move(program)),
      index_(index),
      name_(std::move(name)),
      signature_(std::move(signature)) {}

void RawKernel::operator()(const Dim3& grid, const Dim3& block, ArrayRef<Argument> arguments,
                           size_t shared_bytes) const {
  const dim3 blocks = checked(name_, "grid", grid), threads = checked(name_, "block", block);
  check<TypeError>(!signature_ || signature_->parameters.size() == arguments.size(), name_,
                   " takes ", signature_ ? signature_->parameters.size() : 0,
                   " arguments, and got ", arguments.size(), "; give one for each parameter");
  const Device device = rtc::device_of(arguments);
  codegen::KernelArguments values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Place place{name_, i, signature_ ? &signature_->parameters[i] : nullptr};
    if (place.parameter && (place.parameter->is_pointer || place.parameter->known))
      check<TypeError>(place.parameter->is_pointer == (arguments[i].tensor() != nullptr), place,
                       " is ", what(arguments[i]), "; expected a ",
                       place.parameter->is_pointer ? "tensor" : "number");
    if (const Number* number = arguments[i].number())
      values.add(bytes_of(*number, place));
    else
      values.add(address_of(*arguments[i].tensor(), place, device));
  }
  std::vector<const Tensor*> written;  // for all that is known
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Tensor* tensor = arguments[i].tensor();
    if (tensor && tensor->defined() && !(signature_ && signature_->parameters[i].is_const))
      written.push_back(tensor);
  }
  for (const Tensor* tensor : written) batching::before_writing(*tensor);
  const DeviceGuard guard(device.index());
  rtc::launch_own(program_, index_, name_, blocks, threads, shared_bytes, values.pointers().data());
  for (const Tensor* tensor : written) tensor->impl().storage->bump_version();
}

RawModule::RawModule(Source source, std::vector<std::string> options,
                     std::vector<std::string> name_expressions)
    : names_(names_of(source, std::move(name_expressions))),
      program_(source, names_, std::move(options)) {
  for (const std::string& name : names_)
    signatures_.push_back(signature_of("RawModule", source, name));
}

RawKernel RawModule::get_function(const std::string& name) const {
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end()) {
    std::string all;
    for (const std::string& each : names_) all += (all.empty() ? "" : ", ") + each;
    fail("RawModule: it has no kernel '", name, "'; it has: ", all,
         "; name instances of templates in name_expressions");
  }
  const auto index = static_cast<size_t>(found - names_.begin());
  return RawKernel(program_, index, name, signatures_[index]);
}

}  // namespace gradus::cuda
