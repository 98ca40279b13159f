// gradus.nn.functional: the functions of C++ that take options, with the options as keywords.
#include "nn/modules.h"

namespace gradus::python {
namespace {

// list: what the tensors before the options are called. places: what return_indices=True calls.
template <class R, class... A, class Places = std::nullptr_t>
void add_function(nb::module_& m, const char* name, const char* doc, R (*function)(A...),
                  std::string_view list = "input", Places places = nullptr) {
  using All = std::tuple<std::decay_t<A>...>;
  static constexpr size_t tensors = sizeof...(A) - 1;
  using Options = std::tuple_element_t<tensors, All>;
  using Binding = OptionBinding<Options>;
  const std::vector<std::string> names = names_of(list);
  std::string signature =
      "def " + std::string(name) + "(" + joined(names, ": Tensor, ") + ": Tensor";
  const std::string text = signature_of(Binding::texts());
  signature += (places ? with_return_indices(text) : text) + ") -> " + type_text<R>();
  m.def(
      name,
      [name, function, names, places](const nb::args& args, const nb::kwargs& kwargs) {
        nb::dict keywords = nb::borrow<nb::dict>(kwargs);  // made for this call
        return [&]<size_t... I>(std::index_sequence<I...>) {
          std::tuple<Param<std::tuple_element_t<I, All>>...> given;
          const auto take = [&](size_t i, auto& to) {
            nb::object from;
            if (i < args.size()) {
              from = args[i];
            } else {
              const nb::str key(names[i].c_str());
              if (!keywords.contains(key)) fail_argument(name, names[i], "is missing");
              from = nb::object(keywords[key]);
              PyDict_DelItem(keywords.ptr(), key.ptr());
            }
            if (!to.load(from, true)) fail_value(name, names[i], from, "a Tensor");
          };
          (..., take(I, std::get<I>(given)));
          [[maybe_unused]] const bool wanted = places && take_return_indices(name, keywords);
          const Options options = Binding::read(name, args, tensors, keywords);
          check_all_taken(name, keywords);
          if constexpr (!std::is_null_pointer_v<Places>)
            if (wanted)
              return result_object(released<TensorPair>(
                  [&] { return places(std::get<I>(given).get()..., options); }));
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
      static_cast<Tensor (*)(LOSS_TENSORS tensors, const nn::Name##Options&)>(F::function), \
      #names);
#define LOSS_TENSORS(...) __VA_ARGS__
#include "gradus/nn/losses.def"
#define WITH_OPTIONS(name, Options) \
  add_function(                     \
      m, #name, nullptr,            \
      +[](const Tensor& x, const Options& options) { return F::name(x, options); });
// Also name_with_indices, which return_indices=True of name calls.
#define WITH_PLACES(name, Options)                                                           \
  add_function(                                                                              \
      m, #name, nullptr,                                                                     \
      +[](const Tensor& x, const Options& options) { return F::name(x, options); }, "input", \
      +[](const Tensor& x, const Options& options) {                                         \
        return F::name##_with_indices(x, options);                                           \
      });                                                                                    \
  WITH_OPTIONS(name##_with_indices, Options)
#define POOLS(D)                                                      \
  WITH_PLACES(max_pool##D, nn::MaxPool##D##Options)                   \
  WITH_OPTIONS(avg_pool##D, nn::AvgPool##D##Options)                  \
  WITH_OPTIONS(lp_pool##D, nn::LPPool##D##Options)                    \
  WITH_PLACES(adaptive_max_pool##D, nn::AdaptiveMaxPool##D##Options)  \
  WITH_OPTIONS(adaptive_avg_pool##D, nn::AdaptiveAvgPool##D##Options) \
  add_function(m, "max_unpool" #D, nullptr, F::max_unpool##D, "input, indices");
  POOLS(1d)
  POOLS(2d)
  POOLS(3d)
  WITH_PLACES(fractional_max_pool2d, nn::FractionalMaxPool2dOptions)
  WITH_PLACES(fractional_max_pool3d, nn::FractionalMaxPool3dOptions)
  WITH_OPTIONS(dropout, F::DropoutFuncOptions)
  WITH_OPTIONS(dropout1d, F::DropoutFuncOptions)
  WITH_OPTIONS(dropout2d, F::DropoutFuncOptions)
  WITH_OPTIONS(dropout3d, F::DropoutFuncOptions)
  WITH_OPTIONS(alpha_dropout, F::AlphaDropoutFuncOptions)
  WITH_OPTIONS(feature_alpha_dropout, F::AlphaDropoutFuncOptions)
  WITH_OPTIONS(rrelu, F::RReLUFuncOptions)
  WITH_OPTIONS(softmin, F::SoftminFuncOptions)
  WITH_OPTIONS(interpolate, F::InterpolateFuncOptions)
  WITH_OPTIONS(normalize, F::NormalizeFuncOptions)
  WITH_OPTIONS(pad, F::PadFuncOptions)
  add_function(m, "gumbel_softmax",
               "softmax of the logits with Gumbel noise, at a temperature tau.", F::gumbel_softmax,
               "logits");
  WITH_OPTIONS(layer_norm, F::LayerNormFuncOptions)
  WITH_OPTIONS(rms_norm, F::RMSNormFuncOptions)
  WITH_OPTIONS(group_norm, F::GroupNormFuncOptions)
  WITH_OPTIONS(instance_norm, F::InstanceNormFuncOptions)
  WITH_OPTIONS(local_response_norm, F::LocalResponseNormFuncOptions)
  WITH_OPTIONS(fold, F::FoldFuncOptions)
  WITH_OPTIONS(unfold, F::UnfoldFuncOptions)
  add_function(m, "embedding", "Rows of weight, in the shape of input.", F::embedding,
               "input, weight");
  add_function(m, "embedding_bag", "The sum, mean or maximum of the rows of each bag.",
               F::embedding_bag, "input, weight");
  add_function(m, "grid_sample", "The input read at the places of a grid, from -1 to 1.",
               F::grid_sample, "input, grid");
  m.def(
      "affine_grid",
      [](const Tensor& theta, const Given<IntArrayRef>& size, bool align_corners) {
        return released<Tensor>([&] { return F::affine_grid(theta, size.get(), align_corners); });
      },
      nb::arg("theta"), nb::arg("size"), nb::arg("align_corners") = false,
      "A grid for grid_sample: where theta maps the places of an image of that size.");
}

}  // namespace gradus::python
