// summary: hooks at every module, one forward pass, and the table.
#include "gradus/watch/summary.h"

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <set>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/nn/named_class.h"
#include "gradus/watch/eval_mode.h"
#include "gradus/watch/multiply_adds.h"
#include "gradus/watch/text.h"

namespace gradus::watch {

namespace {

// How much hooks may see of the modules of a name: a hook of another type than forward() has is an
// error.
enum class Seen { All, Input, Nothing };

// One forward pass with hooks.
class Pass {
 public:
  Pass(nn::Module& model, const std::map<std::string, Seen>& seen) {
    model.apply([&](const std::string& name, nn::Module& module) {
      if (!modules_.insert(&module).second) return;  // it stands in several places
      const size_t row = rows_.size();
      rows_.push_back({name, nn::short_class_name(module), {}, 0, 0, 0});
      for (const Tensor& parameter : module.parameters(/*recurse=*/false))
        rows_[row].parameters += parameter.numel();
      const auto found = seen.find(module.name());
      const Seen how = found == seen.end() ? Seen::All : found->second;
      if (how != Seen::Nothing)
        before_.emplace_back(&module, module.register_forward_pre_hook(
                                          [this, row](nn::Module& m, const Tensor& input) {
                                            return note_input(row, m, input);
                                          }));
      if (how == Seen::All && !detail::returns_several(module))
        after_.emplace_back(
            &module, module.register_forward_hook(
                         [this, row](nn::Module& m, const Tensor& input, const Tensor& output) {
                           return note_output(row, m, input, output);
                         }));
    });
  }
  ~Pass() {
    for (const auto& [module, number] : before_) module->remove_forward_pre_hook(number);
    for (const auto& [module, number] : after_) module->remove_forward_hook(number);
  }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  std::vector<LayerSummary>& rows() { return rows_; }
  int64_t output_bytes() const { return output_bytes_; }

 private:
  Tensor note_input(size_t row, const nn::Module& module, const Tensor& input) {
    ++rows_[row].calls;
    if (!input.defined()) return {};
    if (const auto cost = detail::cost_by_input(module, input)) {
      rows_[row].multiply_adds += cost->multiply_adds;
      rows_[row].output_size = cost->output_size;
      int64_t elements = 1;
      for (const int64_t size : cost->output_size) elements *= size;
      output_bytes_ += elements * input.element_size();
    }
    return {};
  }
  Tensor note_output(size_t row, const nn::Module& module, const Tensor& input,
                     const Tensor& output) {
    if (!output.defined()) return {};
    rows_[row].output_size = output.sizes().vec();
    if (input.defined()) rows_[row].multiply_adds += detail::multiply_adds(module, input, output);
    if (module.children().empty()) output_bytes_ += static_cast<int64_t>(output.nbytes());
    return {};
  }

  std::set<const nn::Module*> modules_;
  std::vector<LayerSummary> rows_;
  std::vector<std::pair<nn::Module*, size_t>> before_, after_;
  int64_t output_bytes_ = 0;
};

// The name of the module whose hooks do not fit its forward(); empty for other errors.
std::string refused_by(const TypeError& error) {
  const std::string text = error.what();
  const size_t end = text.find(": its hooks take Tensors");
  return end == std::string::npos ? "" : text.substr(0, end);
}

// Parameters and buffers, each once.
void add_memory(const nn::Module& model, ModelSummary& out) {
  std::set<const void*> known;
  for (const Tensor& parameter : model.parameters()) {
    if (!parameter.defined() || !known.insert(parameter.data_ptr()).second) continue;
    out.total_params += parameter.numel();
    if (parameter.requires_grad()) out.trainable_params += parameter.numel();
    out.param_bytes += static_cast<int64_t>(parameter.nbytes());
  }
  for (const Tensor& buffer : model.buffers())
    if (buffer.defined() && known.insert(buffer.data_ptr()).second)
      out.buffer_bytes += static_cast<int64_t>(buffer.nbytes());
}

std::string shape_text(const std::vector<int64_t>& sizes) {
  std::string out;
  for (const int64_t size : sizes) out += (out.empty() ? "" : ", ") + std::to_string(size);
  return "[" + out + "]";
}

}  // namespace

ModelSummary detail::summarize(nn::Module& model, const std::function<void()>& forward) {
  const NoGradGuard no_grad;
  const detail::EvalMode eval(model);
  ModelSummary out;
  // Each pass lets hooks see less of one module, until none is refused.
  std::map<std::string, Seen> seen;
  while (true) {
    Pass pass(model, seen);
    try {
      forward();
      out.layers = std::move(pass.rows());
      out.output_bytes = pass.output_bytes();
      break;
    } catch (const TypeError& error) {
      const std::string name = refused_by(error);
      if (name.empty() || seen[name] == Seen::Nothing) throw;
      seen[name] = seen[name] == Seen::All ? Seen::Input : Seen::Nothing;
    }
  }
  for (const LayerSummary& layer : out.layers) out.total_mult_adds += layer.multiply_adds;
  add_memory(model, out);
  return out;
}

std::string ModelSummary::str() const {
  using detail::with_commas, detail::with_unit;
  std::vector<std::array<std::string, 4>> rows = {
      {"layer", "output", "parameters", "multiply-adds"}};
  for (const LayerSummary& layer : layers) {
    const auto depth = static_cast<size_t>(std::count(layer.name.begin(), layer.name.end(), '.'));
    const std::string label =
        layer.name.empty() ? layer.type
                           : std::string(2 * depth + 2, ' ') +
                                 layer.name.substr(layer.name.rfind('.') + 1) + ": " + layer.type;
    const bool shown = layer.calls > 0 && !layer.output_size.empty();
    rows.push_back({label, shown ? shape_text(layer.output_size) : "-",
                    layer.parameters > 0 ? with_commas(layer.parameters) : "-",
                    layer.multiply_adds > 0 ? with_commas(layer.multiply_adds) : "-"});
  }
  rows.push_back({"total", "", with_commas(total_params), with_commas(total_mult_adds)});
  std::array<size_t, 4> widths{};
  for (const auto& row : rows)
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string out;
  const std::string rule(widths[0] + widths[1] + widths[2] + widths[3] + 6, '-');
  for (size_t r = 0; r < rows.size(); ++r) {
    if (r == 1 || r + 1 == rows.size()) out += rule + "\n";
    std::string line;
    for (size_t c = 0; c < 4; ++c) {
      const std::string space(widths[c] - rows[r][c].size(), ' ');
      line += (c > 0 ? "  " : "") + (c < 2 ? rows[r][c] + space : space + rows[r][c]);
    }
    out += line + "\n";
  }
  out += rule + "\ntrainable parameters " + with_commas(trainable_params) + ", others " +
         with_commas(total_params - trainable_params) + "\nmemory: input " +
         with_unit(static_cast<double>(input_bytes), "B") + ", parameters " +
         with_unit(static_cast<double>(param_bytes), "B") + ", buffers " +
         with_unit(static_cast<double>(buffer_bytes), "B") + ", outputs of layers " +
         with_unit(static_cast<double>(output_bytes), "B") + "\n";
  return out;
}

std::ostream& operator<<(std::ostream& out, const ModelSummary& summary) {
  return out << summary.str();
}

}  // namespace gradus::watch
