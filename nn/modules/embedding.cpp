// Embedding and EmbeddingBag: their tables, and what becomes of the rows.
#include "gradus/nn/modules/embedding.h"

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/nn/init.h"

namespace gradus::nn {

namespace {

// -1 for none; the same for a number that counts from the end.
int64_t padding_row(std::string_view op, std::optional<int64_t> padding_idx, int64_t rows) {
  if (!padding_idx) return -1;
  check(*padding_idx >= -rows && *padding_idx < rows, op,
        ": Padding_idx must be within num_embeddings, but it is ", *padding_idx, ", and there are ",
        rows, " rows; expected ", -rows, " <= padding_idx < ", rows);
  return *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
}

// Scales the rows that are looked up to at most this norm.
void limit_norms(const Tensor& weight, const Tensor& indices, double max_norm, double norm_type) {
  const NoGradGuard guard;
  const Tensor flat = indices.reshape(-1), rows = gradus::embedding(weight, flat);
  const Tensor norms = rows.norm(norm_type, {1}, /*keepdim=*/true);
  const Tensor scale = where(norms > max_norm, max_norm / (norms + 1e-7), 1);
  weight.index_copy_(0, flat, rows * scale);
}

// The mode as gradus::embedding_bag takes it.
int64_t number_of(const EmbeddingBagMode& mode) {
  const bool max = mode == EmbeddingBagMode(kMax), sum = mode == EmbeddingBagMode(kSum);
  check(max || sum || mode == EmbeddingBagMode(kMean),
        "embedding_bag: mode has to be one of sum, mean or max; give kSum, kMean or kMax");
  return max ? 2 : sum ? 0 : 1;
}

}  // namespace

namespace functional {

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options) {
  check(weight.operand("embedding", "weight").dim() == 2,
        "embedding: 'weight' must be 2-D, but its shape is ", weight.sizes(),
        "; give a row for each number");
  const int64_t padding = padding_row("embedding", options.padding_idx(), weight.size(0));
  if (options.max_norm()) limit_norms(weight, input, *options.max_norm(), options.norm_type());
  return gradus::embedding(weight, input, padding, options.scale_grad_by_freq(), options.sparse());
}

Tensor embedding_bag(const Tensor& input, const Tensor& weight,
                     const EmbeddingBagFuncOptions& options) {
  constexpr const char* kOp = "embedding_bag";
  const int64_t mode = number_of(options.mode());
  const Tensor& scales = options.per_sample_weights();
  Tensor offsets = options.offsets();
  check(weight.operand(kOp, "weight").dim() == 2, kOp, ": 'weight' must be 2-D, but its shape is ",
        weight.sizes(), "; give a row for each number");
  const IntArrayRef sizes = input.operand(kOp, "input").sizes();
  check(sizes.size() == 1 || sizes.size() == 2, kOp,
        ": input has to be 1D or 2D Tensor, but got Tensor of dimension ", sizes.size(),
        "; it has shape ", sizes, ", flatten it to (bags, length)");
  check(!scales.defined() || scales.sizes() == sizes, kOp, ": If per_sample_weights (",
        scales.defined() ? scales.sizes() : sizes,
        ") is not null, then it must have the same shape as the input (", sizes,
        "); give a weight for each number");
  if (sizes.size() == 2) {
    check(!offsets.defined(), kOp,
          ": If input is 2D, then offsets has to be null, as input is treated is a mini-batch of "
          "fixed length sequences. However, found offsets of type Tensor; leave them out");
    offsets = arange(sizes[0], TensorOptions(kLong).device(input.device())) * sizes[1];
  } else {
    check(offsets.defined(), kOp,
          ": offsets has to be a 1D Tensor but got null; give where each bag begins, or a 2D input "
          "with a bag in each row");
  }
  const auto bags = [&] {
    return std::get<0>(gradus::embedding_bag(
        weight, input.reshape(-1), offsets, options.scale_grad_by_freq(), mode, options.sparse(),
        scales.defined() ? std::optional(scales.reshape(-1)) : std::nullopt,
        sizes.size() == 1 && options.include_last_offset(), options.padding_idx()));
  };
  if (options.max_norm()) {
    bags();  // refuses its arguments, if it does, before the table changes
    limit_norms(weight, input, *options.max_norm(), options.norm_type());
  }
  return bags();
}

}  // namespace functional

template <class Derived, class Options>
void EmbeddingBase<Derived, Options>::reset() {
  const int64_t rows = options.num_embeddings(), width = options.embedding_dim();
  check(rows >= 0 && width >= 0, this->name(), ": num_embeddings and embedding_dim are ", rows,
        " and ", width, "; give numbers of 0 or more");
  if (options.padding_idx())
    options.padding_idx(padding_row(this->name(), options.padding_idx(), rows));
  const Tensor& given = options._weight();
  if (given.defined()) {
    check(given.sizes() == IntArrayRef({rows, width}), this->name(),
          ": Shape of _weight does not match num_embeddings and embedding_dim: it is ",
          given.sizes(), ", and they are ", rows, " and ", width, "; use from_pretrained()");
    weight = this->register_parameter("weight", given.detach());
    return;
  }
  weight = this->register_parameter("weight", empty({rows, width}));
  reset_parameters();
}

template <class Derived, class Options>
void EmbeddingBase<Derived, Options>::reset_parameters() {
  init::normal_(weight);
  const NoGradGuard guard;
  if (options.padding_idx()) weight[*options.padding_idx()].fill_(0);
}

template <class Derived, class Options>
void EmbeddingBase<Derived, Options>::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << class_name(typeid(Derived))
         << "(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  constexpr bool is_bag = requires { options.mode(); };
  if (!is_bag && options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  if (options.max_norm()) stream << ", max_norm=" << *options.max_norm();
  if (options.norm_type() != 2) stream << ", norm_type=" << options.norm_type();
  if (options.scale_grad_by_freq()) stream << ", scale_grad_by_freq=true";
  if (options.sparse()) stream << ", sparse=true";
  if constexpr (is_bag) {
    if (options.mode() != EmbeddingBagMode(kMean))
      stream << ", mode=" << (options.mode() == EmbeddingBagMode(kSum) ? "kSum" : "kMax");
    if (options.include_last_offset()) stream << ", include_last_offset=true";
    if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  }
  stream << ')';
}

template struct EmbeddingBase<EmbeddingImpl, EmbeddingOptions>;
template struct EmbeddingBase<EmbeddingBagImpl, EmbeddingBagOptions>;

namespace {

// `to` with those options that `from` has, too.
template <class To, class From>
To with_options_of(const From& from, To to) {
  to.padding_idx(from.padding_idx())
      .max_norm(from.max_norm())
      .norm_type(from.norm_type())
      .scale_grad_by_freq(from.scale_grad_by_freq())
      .sparse(from.sparse());
  if constexpr (requires { from.mode(); })
    to.mode(from.mode()).include_last_offset(from.include_last_offset());
  return to;
}

template <class Module, class Options, class Given>
Module pretrained(const char* name, const Tensor& embeddings, const Given& given) {
  check(embeddings.operand(name, "embeddings").dim() == 2, name,
        ": Embeddings parameter is expected to be 2-dimensional, but its shape is ",
        embeddings.sizes(), "; give a row for each number");
  const Options options(embeddings.size(0), embeddings.size(1));
  Module out(with_options_of(given, options)._weight(embeddings));
  out->weight.set_requires_grad(!given.freeze());
  return out;
}

}  // namespace

Tensor EmbeddingImpl::forward(const Tensor& indices) {
  check_defined(indices, "indices");
  return functional::embedding(indices, weight,
                               with_options_of(options, functional::EmbeddingFuncOptions()));
}

Tensor EmbeddingBagImpl::forward(const Tensor& input, const Tensor& offsets,
                                 const Tensor& per_sample_weights) {
  check_defined(input, "input");
  return functional::embedding_bag(input, weight,
                                   with_options_of(options, functional::EmbeddingBagFuncOptions())
                                       .offsets(offsets)
                                       .per_sample_weights(per_sample_weights));
}

Embedding Embedding::from_pretrained(const Tensor& embeddings,
                                     const EmbeddingFromPretrainedOptions& options) {
  return pretrained<Embedding, EmbeddingOptions>("Embedding", embeddings, options);
}

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& embeddings,
                                           const EmbeddingBagFromPretrainedOptions& options) {
  return pretrained<EmbeddingBag, EmbeddingBagOptions>("EmbeddingBag", embeddings, options);
}

}  // namespace gradus::nn
