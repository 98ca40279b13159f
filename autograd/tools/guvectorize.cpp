// Reads signatures of core dimensions, and runs a function over the items of a loop: by rows on the
// CPU, a thread for each on a GPU.
#include "gradus/autograd/tools/guvectorize.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <optional>

#include "gradus/autograd/tools/own_calls.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace detail {

// The names of core dimensions, by parameter.
struct CoreSignature {
  std::string text;
  std::vector<std::vector<std::string>> parameters;
  size_t inputs = 0;
};

}  // namespace detail

using cuda::CoreParameter;
using detail::CoreFunction, detail::CoreSignature;

namespace {

constexpr char kCall[] = "guvectorize";

bool is_name(const std::string& word) {
  return !word.empty() && !std::isdigit(static_cast<unsigned char>(word[0])) &&
         std::ranges::all_of(word, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

// "(m,n),(n)" as lists of names.
std::vector<std::vector<std::string>> lists_of(const std::string& text, const std::string& part) {
  std::vector<std::vector<std::string>> out;
  for (size_t at = 0; at < part.size();) {
    const size_t open = out.empty() ? 0 : at + 1, end = part.find(')', at);  // behind a comma
    check(
        (out.empty() || part[at] == ',') && part.substr(open, 1) == "(" && end != std::string::npos,
        kCall, ": the signature '", text, "' cannot be read at '", part.substr(at),
        "'; expected lists of names, like '(m,n),(n)->(m)'");
    auto& names = out.emplace_back();
    for (size_t from = open + 1; from < end;) {
      const size_t to = std::min(part.find(',', from), end);
      names.push_back(part.substr(from, to - from));
      check(is_name(names.back()), kCall, ": the signature '", text, "' has '", names.back(),
            "' for a dimension; expected a name");
      from = to + 1;
    }
    at = end + 1;
  }
  return out;
}

CoreSignature signature_of(const std::string& text) {
  std::string packed;
  std::ranges::copy_if(text, std::back_inserter(packed), [](char c) { return c != ' '; });
  const size_t arrow = packed.find("->");
  check(arrow != std::string::npos, kCall, ": the signature '", text,
        "' has no '->'; expected one like '(n),(n)->()'");
  CoreSignature out{text, lists_of(text, packed.substr(0, arrow)), 0};
  out.inputs = out.parameters.size();
  check(out.inputs > 0, kCall, ": the signature '", text, "' has no input; give it one");
  const auto outputs = lists_of(text, packed.substr(arrow + 2));
  check(!outputs.empty(), kCall, ": the signature '", text, "' has no output; give it one");
  for (const auto& names : outputs) {
    for (const std::string& name : names)
      check(std::any_of(out.parameters.begin(),
                        out.parameters.begin() + static_cast<int64_t>(out.inputs),
                        [&](const auto& input) { return std::ranges::count(input, name) > 0; }),
            kCall, ": the signature '", text, "' has the dimension '", name,
            "' in an output and in no input; give an input that has it");
    out.parameters.push_back(names);
  }
  return out;
}

void check_parameters(const CoreSignature& signature, const CoreFunction& f) {
  check<TypeError>(f.parameters.size() == signature.parameters.size(), kCall, ": '", signature.text,
                   "' has ", signature.parameters.size(), " inputs and outputs, and the function ",
                   f.parameters.size(), " parameters");
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    const auto dims = static_cast<int>(signature.parameters[i].size());
    const bool is_output = i >= signature.inputs;
    const std::string type = (is_output ? "" : "const ") + std::string("T"),
                      expected = dims == 0   ? is_output ? "T&" : "T"
                                 : dims == 1 ? "Core<" + type + ">"
                                             : "Core<" + type + ", " + std::to_string(dims) + ">";
    check<TypeError>(f.parameters[i].dims == dims && f.parameters[i].is_output == is_output, kCall,
                     ": parameter ", i + 1, " of the function is not what '", signature.text,
                     "' says; expected ", expected, " with the type T of its elements");
  }
}

// The operands of a call: the loop's sizes and strides, and the cores.
struct Operands {
  Tensors tensors;  // inputs, then outputs
  Dims loop;
  std::vector<Dims> strides;          // of the loop, by operand
  std::vector<cuda::CorePart> parts;  // of the first item; they point into the tensors
};

IntArrayRef loop_of(IntArrayRef dims, size_t core) { return dims.slice(0, dims.size() - core); }

Operands operands_of(const CoreSignature& signature, const CoreFunction& f, const Tensors& inputs,
                     Device device) {
  Operands out{inputs, {}, {}, {}};
  std::map<std::string, std::pair<int64_t, size_t>> sizes;  // and which argument has it
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& names = signature.parameters[i];
    const IntArrayRef all = inputs[i].sizes();
    check(all.size() >= names.size(), kCall, ": argument ", i + 1, " has shape ", all, "; '",
          signature.text, "' expects at least ", names.size(), " dimensions");
    for (size_t d = 0; d < names.size(); ++d) {
      const int64_t size = all[all.size() - names.size() + d];
      const auto [known, is_new] = sizes.try_emplace(names[d], size, i);
      check(is_new || known->second.first == size, kCall, ": argument ", i + 1, " has shape ", all,
            ", which gives '", names[d], "' of '", signature.text, "' the size ", size,
            "; expected ", known->second.first, ", as argument ", known->second.second + 1, " has");
    }
    out.loop = broadcast_shapes(kCall, out.loop, loop_of(all, names.size()));
  }
  for (size_t i = inputs.size(); i < f.parameters.size(); ++i) {
    Dims shape = out.loop;
    for (const std::string& name : signature.parameters[i]) shape.push_back(sizes[name].first);
    out.tensors.push_back(raw::empty(shape, f.parameters[i].dtype, device, kCall));
  }
  for (size_t i = 0; i < out.tensors.size(); ++i) {
    const auto& impl = out.tensors[i].impl();
    const size_t core = signature.parameters[i].size(), first = impl.sizes.size() - core;
    out.strides.push_back(
        broadcast_strides(kCall, loop_of(impl.sizes, core), loop_of(impl.strides, core), out.loop));
    out.parts.push_back(
        {out.tensors[i].data_ptr(), impl.sizes.begin() + first, impl.strides.begin() + first});
  }
  return out;
}

void run_on_cpu(const CoreFunction& f, const Operands& all) {
  int64_t largest = 1;  // of the cores
  for (size_t i = 0; i < all.parts.size(); ++i) {
    int64_t count = 1;
    for (int d = 0; d < f.parameters[i].dims; ++d) count *= all.parts[i].sizes[d];
    largest = std::max(largest, count);
  }
  constexpr int64_t kPart = 16384;
  detail::for_rows(all.loop, all.strides, kPart / largest,
                   [&](int64_t length, const int64_t* offsets, const int64_t* steps) {
                     auto parts = all.parts;
                     for (size_t i = 0; i < parts.size(); ++i)
                       parts[i].data = static_cast<char*>(parts[i].data) +
                                       offsets[i] * all.tensors[i].element_size();
                     f.items(length, parts.data(), steps);
                   });
}

}  // namespace

struct GUVectorized::State {
  CoreSignature signature;
  CoreFunction function;
  std::vector<GUVectorized> gradients;  // by input; none where there is no gradient
  std::once_flag made;
  std::optional<cuda::CoreKernel> kernel;  // from its first use on a GPU on
};

GUVectorized::GUVectorized(const std::string& signature, CoreFunction function)
    : state_(std::make_shared<State>()) {
  state_->signature = signature_of(signature);
  state_->function = std::move(function);
  check_parameters(state_->signature, state_->function);
}

GUVectorized GUVectorized::with_gradients(std::vector<CoreFunction> gradients) const {
  const CoreSignature& signature = state_->signature;
  check<TypeError>(gradients.size() == signature.inputs, "with_gradient: got ", gradients.size(),
                   " functions for ", signature.inputs, " inputs; give one for each");
  GUVectorized out(signature.text, state_->function);
  for (size_t i = 0; i < gradients.size(); ++i) {
    std::vector<CoreParameter> expected = state_->function.parameters;
    expected.push_back(expected[i]);
    for (CoreParameter& each : expected) each.is_output = false;
    expected.back().is_output = true;
    check<TypeError>(gradients[i].parameters == expected, "with_gradient: function ", i + 1,
                     " has other parameters than expected: the inputs, the gradients of the "
                     "outputs, and, to be written, the gradient of input ",
                     i + 1);
    std::string of_gradient;
    const auto add = [&](const std::vector<std::string>& names) {
      for (size_t d = 0; d < names.size(); ++d) of_gradient += (d > 0 ? "," : "(") + names[d];
      of_gradient += names.empty() ? "()" : ")";
    };
    for (size_t k = 0; k < signature.parameters.size(); ++k) {
      if (k > 0) of_gradient += ",";
      add(signature.parameters[k]);
    }
    of_gradient += "->";
    add(signature.parameters[i]);
    out.state_->gradients.emplace_back(of_gradient, std::move(gradients[i]));
  }
  return out;
}

Tensors GUVectorized::call(ArrayRef<cuda::Argument> arguments) const {
  const CoreSignature& signature = state_->signature;
  const CoreFunction& f = state_->function;
  detail::check_count(kCall, signature.inputs, arguments.size());
  const Device device = detail::common_device(kCall, arguments);
  Tensors inputs;
  for (size_t i = 0; i < arguments.size(); ++i) {
    check<TypeError>(arguments[i].tensor() || f.parameters[i].dims == 0, kCall, ": argument ",
                     i + 1, " is a number; '", signature.text, "' expects a tensor");
    inputs.push_back(detail::tensor_of(kCall, arguments[i], f.parameters[i].dtype, i, device));
  }
  const bool records = detail::records_own(kCall, inputs, !state_->gradients.empty());
  const Operands all = operands_of(signature, f, inputs, device);
  if (device.is_cpu()) {
    run_on_cpu(f, all);
  } else {
    std::call_once(state_->made,
                   [&] { state_->kernel.emplace(f.parameters, f.text, f.file, f.line); });
    state_->kernel->launch(device, all.loop, all.strides, all.parts);
  }
  const Tensors outputs(all.tensors.begin() + static_cast<int64_t>(inputs.size()),
                        all.tensors.end());
  if (records)
    detail::record_own("GUVectorizedBackward0", inputs, outputs,
                       [state = state_](size_t i, ArrayRef<cuda::Argument> each) {
                         return state->gradients[i].call(each)[0];
                       });
  return outputs;
}

}  // namespace gradus
