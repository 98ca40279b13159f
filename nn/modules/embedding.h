// Embedding and EmbeddingBag: rows of a table by their numbers, and their sums, means or maxima.
#pragma once

#include <optional>
#include <variant>

#include "gradus/nn/modules/loss.h"

namespace gradus {

// torch::kMax, a mode of EmbeddingBag.
enum class Maximum : uint8_t { Max };
inline constexpr Maximum kMax = Maximum::Max;

namespace nn {

// kSum, kMean or kMax.
using EmbeddingBagMode = std::variant<Reduction, Maximum>;

// padding_idx: a row that gets no gradient and is 0 in a new table; negative numbers count from the
// end. max_norm: a row that is looked up is first scaled in place, so that its norm_type-norm is at
// most this. scale_grad_by_freq: the gradient of a row is divided by how often it is looked up.
// sparse has no effect: gradients are dense. _weight: the table; its memory is used.
struct EmbeddingOptions {
  GRADUS_OPTIONS(EmbeddingOptions, ARGUMENT(int64_t, num_embeddings),
                 ARGUMENT(int64_t, embedding_dim), OPTION(std::optional<int64_t>, padding_idx, {}),
                 OPTION(std::optional<double>, max_norm, {}), OPTION(double, norm_type, 2),
                 OPTION(bool, scale_grad_by_freq, false), OPTION(bool, sparse, false),
                 OPTION(Tensor, _weight, {}));
};

struct EmbeddingFromPretrainedOptions {
  GRADUS_OPTIONS(EmbeddingFromPretrainedOptions, OPTION(bool, freeze, true),
                 OPTION(std::optional<int64_t>, padding_idx, {}),
                 OPTION(std::optional<double>, max_norm, {}), OPTION(double, norm_type, 2),
                 OPTION(bool, scale_grad_by_freq, false), OPTION(bool, sparse, false));
};

// include_last_offset: the last offset is where the last bag ends, not where another begins.
struct EmbeddingBagOptions {
  GRADUS_OPTIONS(EmbeddingBagOptions, ARGUMENT(int64_t, num_embeddings),
                 ARGUMENT(int64_t, embedding_dim), OPTION(std::optional<double>, max_norm, {}),
                 OPTION(double, norm_type, 2), OPTION(bool, scale_grad_by_freq, false),
                 OPTION(EmbeddingBagMode, mode, kMean), OPTION(bool, sparse, false),
                 OPTION(Tensor, _weight, {}), OPTION(bool, include_last_offset, false),
                 OPTION(std::optional<int64_t>, padding_idx, {}));
};

struct EmbeddingBagFromPretrainedOptions {
  GRADUS_OPTIONS(EmbeddingBagFromPretrainedOptions, OPTION(bool, freeze, true),
                 OPTION(std::optional<double>, max_norm, {}), OPTION(double, norm_type, 2),
                 OPTION(bool, scale_grad_by_freq, false), OPTION(EmbeddingBagMode, mode, kMean),
                 OPTION(bool, sparse, false), OPTION(bool, include_last_offset, false),
                 OPTION(std::optional<int64_t>, padding_idx, {}));
};

namespace functional {

struct EmbeddingFuncOptions {
  GRADUS_OPTIONS(EmbeddingFuncOptions, OPTION(std::optional<int64_t>, padding_idx, {}),
                 OPTION(std::optional<double>, max_norm, {}), OPTION(double, norm_type, 2),
                 OPTION(bool, scale_grad_by_freq, false), OPTION(bool, sparse, false));
};
// Rows of weight (n, width) in the shape of input, which holds int64 or int32 numbers below n.
// Errors: ValueError for a padding_idx that is no row, TypeError for dtypes, IndexError for a
// number that is no row.
Tensor embedding(const Tensor& input, const Tensor& weight,
                 const EmbeddingFuncOptions& options = {});

struct EmbeddingBagFuncOptions {
  GRADUS_OPTIONS(EmbeddingBagFuncOptions, OPTION(Tensor, offsets, {}),
                 OPTION(std::optional<double>, max_norm, {}), OPTION(double, norm_type, 2),
                 OPTION(bool, scale_grad_by_freq, false), OPTION(EmbeddingBagMode, mode, kMean),
                 OPTION(bool, sparse, false), OPTION(Tensor, per_sample_weights, {}),
                 OPTION(bool, include_last_offset, false),
                 OPTION(std::optional<int64_t>, padding_idx, {}));
};
// The rows of each bag together, (bags, width). input is (bags, length), or (numbers) with offsets
// (bags), the place where each bag begins. per_sample_weights, of input's shape, multiply the rows
// for kSum. The row padding_idx does not count. An empty bag is 0.
// Errors: as embedding, and ValueError for shapes, and for options that exclude each other.
Tensor embedding_bag(const Tensor& input, const Tensor& weight,
                     const EmbeddingBagFuncOptions& options = {});

}  // namespace functional

// The table of both: weight (num_embeddings, embedding_dim) starts as N(0, 1).
template <class Derived, class Options>
struct EmbeddingBase : Layer<Derived, Options> {
  using Layer<Derived, Options>::Layer;
  using Layer<Derived, Options>::options;
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  Tensor weight;
  typename Layer<Derived, Options>::CallReset call_reset{*this};
};

// The rows of weight with these numbers: indices of any shape, output (shape of indices...,
// embedding_dim).
// Errors: ValueError for a padding_idx that is no row, a _weight of another shape, and an undefined
// input; those of functional::embedding.
struct EmbeddingImpl : EmbeddingBase<EmbeddingImpl, EmbeddingOptions> {
  using EmbeddingBase::EmbeddingBase;
  Tensor forward(const Tensor& indices);
};
// The sum, mean or maximum of the rows of each bag; shapes and errors as functional::embedding_bag.
struct EmbeddingBagImpl : EmbeddingBase<EmbeddingBagImpl, EmbeddingBagOptions> {
  using EmbeddingBase::EmbeddingBase;
  Tensor forward(const Tensor& input, const Tensor& offsets = {},
                 const Tensor& per_sample_weights = {});

 protected:
  GRADUS_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
extern template struct EmbeddingBase<EmbeddingImpl, EmbeddingOptions>;
extern template struct EmbeddingBase<EmbeddingBagImpl, EmbeddingBagOptions>;

class Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  // Uses the memory of the table (n, width). freeze: the table is not trained.
  // Errors: ValueError for another number of dimensions.
  static Embedding from_pretrained(const Tensor& embeddings,
                                   const EmbeddingFromPretrainedOptions& options = {});
};

class EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  static EmbeddingBag from_pretrained(const Tensor& embeddings,
                                      const EmbeddingBagFromPretrainedOptions& options = {});
};

}  // namespace nn
}  // namespace gradus
