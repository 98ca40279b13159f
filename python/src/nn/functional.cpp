// gradus.nn.functional: the functions of C++ that take options, with the options as keywords.
#include "modules.h"

namespace gradus::python {
namespace {

template <class R, class... A>
void add_function(nb::module_& m, const char* name, const char* doc, R (*function)(A...)) {
  using All = std::tuple<std::decay_t<A>...>;
  static constexpr size_t tensors = sizeof...(A) - 1;
  using Options = std::tuple_element_t<tensors, All>;
  using Binding = OptionBinding<Options>;
  std::string signature = "def " + std::string(name) + "(";
  const char* names[] = {"input", "input2", "input3", "input4", "input5"};
  if (tensors == 2) names[1] = "target";
  for (size_t i = 0; i < tensors; ++i)
    signature += std::string(i ? ", " : "") + names[i] + ": Tensor";
  signature += signature_of(Binding::texts()) + ") -> " + type_text<R>();
  m.def(
      name,
      [name, function](const nb::args& args, const nb::kwargs& kwargs) {
        nb::dict keywords;
        keywords.update(kwargs);
        return [&]<size_t... I>(std::index_sequence<I...>) {
          check<TypeError>(args.size() >= tensors, name, ": expected ", tensors,
                           " tensors first, but got ", args.size(), " arguments");
          std::tuple<Param<std::tuple_element_t<I, All>>...> given;
          if (!(... && std::get<I>(given).load(args[I], true)))
            fail<TypeError>(name, ": expected tensors first");
          const Options options = Binding::read(name, args, tensors, keywords);
          check_all_taken(name, keywords);
          const auto result =
              released<R>([&] { return function(std::get<I>(given).get()..., options); });
          return result_object(result);
        }
        (std::make_index_sequence<tensors>{});
      },
      nb::sig(kept(signature)), doc ? doc : "");
}

}  // namespace

void bind_functional(nb::module_& m) {
  namespace F = nn::functional;
#define ACTIVATION(Name, function, meaning, ...) \
  add_function(                                  \
      m, #function, meaning,                     \
      +[](Tensor x, const F::Name##FuncOptions& options) { return F::function(x, options); });
#define IN_PLACE(...) ACTIVATION(__VA_ARGS__)
#define SWITCH(...) ACTIVATION(__VA_ARGS__)
#include "gradus/nn/activations.def"
#define LOSS_OF(tensors, names, Name, function, gradus_function, FuncOptions, meaning, ...) \
  add_function(                                                                             \
      m, #function, meaning,                                                                \
      static_cast<Tensor (*)(LOSS_TENSORS tensors, const nn::Name##Options&)>(F::function));
#define LOSS_TENSORS(...) __VA_ARGS__
#include "gradus/nn/losses.def"
#define FUNCTION(name, Options) \
  add_function(                 \
      m, #name, nullptr,        \
      +[](const Tensor& x, const Options& options) { return F::name(x, options); });
#define POOLS(D)                                                  \
  FUNCTION(max_pool##D, nn::MaxPool##D##Options)                  \
  FUNCTION(avg_pool##D, nn::AvgPool##D##Options)                  \
  FUNCTION(lp_pool##D, nn::LPPool##D##Options)                    \
  FUNCTION(adaptive_max_pool##D, nn::AdaptiveMaxPool##D##Options) \
  FUNCTION(adaptive_avg_pool##D, nn::AdaptiveAvgPool##D##Options) \
  add_function(m, "max_pool" #D "_with_indices", nullptr, F::max_pool##D##_with_indices);
  POOLS(1d)
  POOLS(2d)
  POOLS(3d)
  FUNCTION(dropout, F::DropoutFuncOptions)
  FUNCTION(dropout2d, F::DropoutFuncOptions)
  FUNCTION(dropout3d, F::DropoutFuncOptions)
  FUNCTION(alpha_dropout, F::AlphaDropoutFuncOptions)
  FUNCTION(feature_alpha_dropout, F::AlphaDropoutFuncOptions)
  FUNCTION(rrelu, F::RReLUFuncOptions)
  FUNCTION(interpolate, F::InterpolateFuncOptions)
  FUNCTION(normalize, F::NormalizeFuncOptions)
  FUNCTION(pad, F::PadFuncOptions)
  FUNCTION(gumbel_softmax, F::GumbelSoftmaxFuncOptions)
  FUNCTION(layer_norm, F::LayerNormFuncOptions)
  FUNCTION(group_norm, F::GroupNormFuncOptions)
  FUNCTION(local_response_norm, F::LocalResponseNormFuncOptions)
  FUNCTION(fold, F::FoldFuncOptions)
  FUNCTION(unfold, F::UnfoldFuncOptions)
}

}  // namespace gradus::python
