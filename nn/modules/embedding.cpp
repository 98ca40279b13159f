// Embedding and EmbeddingBag: their tables, and what becomes of the rows.
#include "gradus/nn/modules/embedding.h"

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

void check_mode(const EmbeddingBagMode& mode) {
  check(mode == EmbeddingBagMode(kMax) || mode == EmbeddingBagMode(kSum) ||
            mode == EmbeddingBagMode(kMean),
        "embedding_bag: mode has to be one of sum, mean or max; give kSum, kMean or kMax");
}

}  // namespace

namespace functional {

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options) {
  check(weight.operand("embedding", "weight").dim() == 2,
        "embedding: 'weight' must be 2-D, but its shape is ", weight.sizes());
  const int64_t padding = padding_row("embedding", options.padding_idx(), weight.size(0));
  if (options.max_norm()) limit_norms(weight, input, *options.max_norm(), options.norm_type());
  return gradus::embedding(weight, input, padding, options.scale_grad_by_freq(), options.sparse());
}

Tensor embedding_bag(const Tensor& input, const Tensor& weight,
                     const EmbeddingBagFuncOptions& options) {
  constexpr const char* kOp = "embedding_bag";
  const EmbeddingBagMode mode = options.mode();
  check_mode(mode);
  const bool max = mode == EmbeddingBagMode(kMax);
  const Tensor& scales = options.per_sample_weights();
  Tensor offsets = options.offsets();
  check(weight.operand(kOp, "weight").dim() == 2, kOp, ": 'weight' must be 2-D, but its shape is ",
        weight.sizes());
  const IntArrayRef sizes = input.operand(kOp, "input").sizes();
  check(sizes.size() == 1 || sizes.size() == 2, kOp,
        ": input has to be 1D or 2D Tensor, but got Tensor of dimension ", sizes.size(),
        "; it has shape ", sizes, ", flatten it to (bags, length)");
  check(!scales.defined() || scales.sizes() == sizes, kOp, ": If per_sample_weights (",
        scales.defined() ? scales.sizes() : sizes,
        ") is not null, then it must have the same shape as the input (", sizes, ")");
  check(!scales.defined() || mode == EmbeddingBagMode(kSum), kOp,
        ": per_sample_weights was not null. per_sample_weights is only supported for mode='kSum'");
  check(!max || !options.scale_grad_by_freq(), kOp,
        ": max mode does not support scaling the gradient by the frequency");
  check(!max || !options.sparse(), kOp, ": max mode does not support sparse weights");
  const int64_t padding = padding_row(kOp, options.padding_idx(), weight.size(0));

  const TensorOptions numbers = TensorOptions(kLong).device(input.device());
  if (sizes.size() == 2) {
    check(!offsets.defined(), kOp,
          ": If input is 2D, then offsets has to be null, as input is treated is a mini-batch of "
          "fixed length sequences. However, found offsets of type Tensor");
    offsets = arange(sizes[0], numbers) * sizes[1];
  } else {
    check(offsets.defined(), kOp,
          ": offsets has to be a 1D Tensor but got null; give where each bag begins, or a 2D input "
          "with a bag in each row");
    check(offsets.dim() == 1, kOp, ": offsets has to be a 1D Tensor, but its shape is ",
          offsets.sizes());
    offsets = offsets.to(kLong);
    if (options.include_last_offset()) {
      check(offsets.size(0) > 0, kOp,
            ": include_last_offset: number of offsets should be at least 1");
      offsets = offsets.slice(0, 0, -1);
    }
    if (offsets.is_cpu() && offsets.size(0) > 0) {
      const auto first = offsets[0].item<int64_t>(), last = offsets[-1].item<int64_t>();
      check(first == 0, kOp,
            ": offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
            "from position 0. However, got ",
            first, "; put a 0 before it");
      check(last <= sizes[0], kOp, ": offsets[-1] can not be greater than input's length ",
            sizes[0], " but got offsets[-1] of ", last, "; offsets say where bags begin");
    }
  }
  if (options.max_norm()) limit_norms(weight, input, *options.max_norm(), options.norm_type());

  Tensor flat = input.reshape(-1);
  Tensor bags = searchsorted(offsets.contiguous(), arange(flat.size(0), numbers), false, true) - 1;
  const Dims out_shape{offsets.size(0), weight.size(1)};
  if (max) {
    if (padding >= 0) {
      const Tensor kept = flat != padding;
      flat = flat.masked_select(kept), bags = bags.masked_select(kept);
    }
    const Tensor rows = gradus::embedding(weight, flat, padding);
    return zeros(out_shape, rows.options()).index_reduce(0, bags, rows, "amax", false);
  }
  Tensor rows = gradus::embedding(weight, flat, padding, options.scale_grad_by_freq());
  if (scales.defined()) rows = rows * scales.reshape({-1, 1});
  const Tensor kept = (flat != padding).to(rows.dtype()).unsqueeze(1);
  if (padding >= 0) rows = rows * kept;
  const Tensor sums = zeros(out_shape, rows.options()).index_add(0, bags, rows);
  if (mode == EmbeddingBagMode(kSum)) return sums;
  return sums / zeros({out_shape[0], 1}, rows.options()).index_add(0, bags, kept).clamp_min(1);
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
