// AdaptiveLogSoftmaxWithLoss: a softmax over many classes, of which rare ones have fewer features.
#pragma once

#include <vector>

#include "gradus/nn/containers.h"
#include "gradus/nn/modules/linear.h"
#include "gradus/nn/sequential.h"

namespace gradus::nn {

// cutoffs: where each cluster of rare classes begins. div_value: cluster i has in_features /
// div_value^i features, i = 1, 2, ... head_bias: the head has a bias.
struct AdaptiveLogSoftmaxWithLossOptions {
  GRADUS_OPTIONS(AdaptiveLogSoftmaxWithLossOptions, ARGUMENT(int64_t, in_features),
                 ARGUMENT(int64_t, n_classes), ARGUMENT(std::vector<int64_t>, cutoffs),
                 OPTION(double, div_value, 4), OPTION(bool, head_bias, false));
};

// output (N): the log-probability of each target. loss: the mean of -output. It is a number without
// a gradient, as in libtorch; to train, call backward() of (-output).mean().
struct ASMoutput {
  ASMoutput(Tensor output_, double loss_) : output(std::move(output_)), loss(loss_) {}
  Tensor output;
  double loss;
};

// The head gives logits of the classes below cutoffs[0], and of the clusters. tail[i] gives those
// of the classes of a cluster, and is computed for the rows that need it. Classes are numbered by
// frequency, the most frequent first.
// Errors: ValueError for cutoffs that are not increasing numbers of 1 to n_classes - 1, for a
// div_value that leaves a cluster without features, and for shapes. IndexError for a target that is
// no class. Waits for the targets of a GPU.
struct AdaptiveLogSoftmaxWithLossImpl
    : Layer<AdaptiveLogSoftmaxWithLossImpl, AdaptiveLogSoftmaxWithLossOptions> {
  using Layer::Layer;
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  // input (N, in_features) and target (N), or (in_features) and ().
  ASMoutput forward(const Tensor& input, const Tensor& target);
  // (N, n_classes), of input and the head's logits for it.
  Tensor _get_full_log_prob(const Tensor& input, const Tensor& head_output);
  // The log-probabilities of all classes, (N, n_classes).
  Tensor log_prob(const Tensor& input);
  // log_prob(input).argmax(1); computes the tail only for rows that need it.
  Tensor predict(const Tensor& input);

  // The cutoffs of the options, and n_classes behind them.
  std::vector<int64_t> cutoffs;
  int64_t shortlist_size = 0, n_clusters = 0, head_size = 0;
  Linear head{nullptr};
  ModuleList tail;
  CallReset call_reset{*this};

 private:
  void check_input(const Tensor& input) const;
  // log_softmax of the logits of a cluster.
  Tensor cluster_log_prob(int64_t cluster, const Tensor& input);
};
GRADUS_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace gradus::nn
