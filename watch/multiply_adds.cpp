// The products of layers: how often each weight is used.
#include "gradus/watch/multiply_adds.h"

#include "gradus/nn/nn.h"

namespace gradus::watch::detail {

namespace {

template <class... Layers>
bool is_one_of(const nn::Module& layer) {
  return ((layer.as<Layers>() != nullptr) || ...);
}

int64_t matrix_elements(const nn::Module& layer) {
  int64_t sum = 0;
  for (const Tensor& parameter : layer.parameters(/*recurse=*/false))
    if (parameter.dim() == 2) sum += parameter.numel();
  return sum;
}

// Rows of the last dimension: each meets every matrix of the layer once.
int64_t row_count(const Tensor& x) { return x.numel() / std::max<int64_t>(x.size(-1), 1); }

LayerCost of_rows(const nn::Module& layer, const Tensor& input, int64_t width) {
  std::vector<int64_t> sizes = input.sizes().vec();
  sizes.back() = width;
  return {row_count(input) * matrix_elements(layer), sizes};
}

int64_t width_of(const nn::detail::RNNOptionsBase& options) {
  const int64_t one = options.proj_size() > 0 ? options.proj_size() : options.hidden_size();
  return one * (options.bidirectional() ? 2 : 1);
}

LayerCost of_attention(const nn::MultiheadAttentionImpl& layer, const Tensor& query) {
  const int64_t queries = row_count(query), keys = query.size(0);
  const int64_t projections = matrix_elements(layer) + layer.out_proj->weight.numel();
  return {queries * (projections + 2 * keys * layer.options.embed_dim()), query.sizes().vec()};
}

}  // namespace

bool returns_several(const nn::Module& layer) {
  return is_one_of<nn::RNN, nn::LSTM, nn::GRU, nn::LSTMCell, nn::MultiheadAttention>(layer);
}

std::optional<LayerCost> cost_by_input(const nn::Module& layer, const Tensor& input) {
  if (input.dim() == 0) return std::nullopt;
  if (const auto* rnn = layer.as<nn::RNN>())
    return of_rows(layer, input, width_of(rnn->options_base));
  if (const auto* lstm = layer.as<nn::LSTM>())
    return of_rows(layer, input, width_of(lstm->options_base));
  if (const auto* gru = layer.as<nn::GRU>())
    return of_rows(layer, input, width_of(gru->options_base));
  if (const auto* cell = layer.as<nn::LSTMCell>())
    return of_rows(layer, input, cell->options.hidden_size());
  if (const auto* attention = layer.as<nn::MultiheadAttention>())
    return of_attention(*attention, input);
  return std::nullopt;
}

int64_t multiply_adds(const nn::Module& layer, const Tensor& input, const Tensor& output) {
  const Tensors own = layer.parameters(/*recurse=*/false);
  if (own.empty()) return 0;
  const Tensor& weight = own[0];
  const int64_t first = weight.dim() > 0 ? std::max<int64_t>(weight.size(0), 1) : 1;
  if (is_one_of<nn::Linear, nn::Bilinear, nn::Conv1d, nn::Conv2d, nn::Conv3d>(layer))
    return output.numel() / first * weight.numel();
  if (is_one_of<nn::ConvTranspose1d, nn::ConvTranspose2d, nn::ConvTranspose3d>(layer))
    return input.numel() / first * weight.numel();
  if (is_one_of<nn::RNNCell, nn::GRUCell>(layer)) return row_count(input) * matrix_elements(layer);
  const bool each_element = weight.dim() == 1 || is_one_of<nn::LayerNorm, nn::RMSNorm>(layer);
  return each_element ? output.numel() : 0;
}

}  // namespace gradus::watch::detail
