// The layers of gradus.nn, a row each. After the name: what forward() takes, where keywords may
// name it.
#include "nn/modules.h"

namespace gradus::python {

#define LAYER(name, ...) add_module<nn::name##Impl>(m, #name, nullptr, "" __VA_ARGS__);
#define DIMENSIONS(name, ...) \
  LAYER(name##1d, __VA_ARGS__) LAYER(name##2d, __VA_ARGS__) LAYER(name##3d, __VA_ARGS__)

// A stack of clones of a layer, whose options are no GRADUS_OPTIONS.
template <class Impl, class LayerImpl>
void add_stack(nb::module_& m, const char* name, const char* layer, std::string_view forward) {
  auto slots = slots_called_by(&call_module<Impl>);
  nb::class_<Impl, nn::Module> c(m, name, nb::type_slots(slots.data()));
  c.def(
      "__init__",
      [](Impl* self, const std::shared_ptr<LayerImpl>& of, int64_t num_layers,
         const std::shared_ptr<nn::LayerNormImpl>& norm) {
        OptionsOf<Impl> options({of}, num_layers);
        if (norm) options.norm(nn::AnyModule(norm));
        new (self) Impl(options);
      },
      nb::arg(layer), nb::arg("num_layers"), nb::arg("norm").none() = nb::none());
  bind_forward(c, forward);
}

void bind_layers(nb::module_& m) {
  add_stack<nn::TransformerEncoderImpl, nn::TransformerEncoderLayerImpl>(
      m, "TransformerEncoder", "encoder_layer", "src, mask, src_key_padding_mask");
  add_stack<nn::TransformerDecoderImpl, nn::TransformerDecoderLayerImpl>(
      m, "TransformerDecoder", "decoder_layer",
      "tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask");
  LAYER(Linear)
  LAYER(Bilinear, "input1, input2")
  LAYER(Identity)
  LAYER(Flatten)
  LAYER(Unflatten)
  LAYER(Embedding)
  LAYER(EmbeddingBag, "input, offsets, per_sample_weights")
  DIMENSIONS(Conv)
  DIMENSIONS(ConvTranspose, "input, output_size")
  LAYER(Fold)
  LAYER(Unfold)
  LAYER(PixelShuffle)
  LAYER(PixelUnshuffle)
  LAYER(ChannelShuffle)
  LAYER(Upsample)
  DIMENSIONS(MaxPool)
  DIMENSIONS(AvgPool)
  DIMENSIONS(LPPool)
  DIMENSIONS(AdaptiveMaxPool)
  DIMENSIONS(AdaptiveAvgPool)
  DIMENSIONS(MaxUnpool, "input, indices, output_size")
  LAYER(FractionalMaxPool2d)
  LAYER(FractionalMaxPool3d)
  DIMENSIONS(ConstantPad)
  DIMENSIONS(ZeroPad)
  DIMENSIONS(ReflectionPad)
  DIMENSIONS(ReplicationPad)
  DIMENSIONS(CircularPad)
  DIMENSIONS(BatchNorm)
  DIMENSIONS(InstanceNorm)
  LAYER(LayerNorm)
  LAYER(GroupNorm)
  LAYER(RMSNorm)
  LAYER(LocalResponseNorm)
  LAYER(CrossMapLRN2d)
  LAYER(Dropout)
  LAYER(Dropout1d)
  LAYER(Dropout2d)
  LAYER(Dropout3d)
  LAYER(AlphaDropout)
  LAYER(FeatureAlphaDropout)
  LAYER(CosineSimilarity, "x1, x2")
  LAYER(PairwiseDistance, "x1, x2")
  LAYER(RNN, "input, hx")
  LAYER(LSTM, "input, hx")
  LAYER(GRU, "input, hx")
  LAYER(RNNCell, "input, hx")
  LAYER(LSTMCell, "input, hx")
  LAYER(GRUCell, "input, hx")
  LAYER(MultiheadAttention,
        "query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights")
  LAYER(TransformerEncoderLayer, "src, src_mask, src_key_padding_mask")
  LAYER(TransformerDecoderLayer,
        "tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask")
  LAYER(Transformer,
        "src, tgt, src_mask, tgt_mask, memory_mask, src_key_padding_mask, tgt_key_padding_mask, "
        "memory_key_padding_mask")
  LAYER(AdaptiveLogSoftmaxWithLoss, "input, target")
  LAYER(RReLU)
  LAYER(PReLU)
  LAYER(Softmin)
  LAYER(Softmax2d)
}

void bind_activations(nb::module_& m) {
#define ACTIVATION(Name, function, meaning, ...) add_module<nn::Name##Impl>(m, #Name, meaning, "");
#define IN_PLACE(...) ACTIVATION(__VA_ARGS__)
#define SWITCH(...) ACTIVATION(__VA_ARGS__)
#define PLAIN(...) ACTIVATION(__VA_ARGS__)
#include "gradus/nn/activations.def"
}

}  // namespace gradus::python
