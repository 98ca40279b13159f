// update_bn: the running statistics of batch normalisation for weights that were never trained
// with.
#pragma once

#include <concepts>
#include <memory>
#include <tuple>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/nn/module.h"

namespace gradus::optim {

namespace detail {

// While it lives, the BatchNorm1d to BatchNorm3d of a module begin their statistics anew and take
// the mean over all batches; the module trains. Then all is as before but the statistics.
class StatisticsAnew {
 public:
  explicit StatisticsAnew(nn::Module& module);
  ~StatisticsAnew();
  StatisticsAnew(const StatisticsAnew&) = delete;
  StatisticsAnew& operator=(const StatisticsAnew&) = delete;
  bool has_norms() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The input of a batch: itself, its member `data`, or its first element.
template <class Batch>
const Tensor& input_of(const Batch& batch) {
  if constexpr (std::convertible_to<const Batch&, const Tensor&>)
    return batch;
  else if constexpr (requires { batch.data; })
    return batch.data;
  else
    return std::get<0>(batch);
}

}  // namespace detail

// Calls the model with every batch, as Python's torch.optim.swa_utils.update_bn does: averages of
// weights (AveragedModel) need running statistics of their own.
//
//   optim::update_bn(loader, average);
//
// device: batches are brought there first. Errors: those of the model.
template <class Loader, class Model>
void update_bn(Loader& loader, Model& model, const std::optional<Device>& device = std::nullopt) {
  const NoGradGuard no_grad;
  const detail::StatisticsAnew anew(*model.operator->());
  if (!anew.has_norms()) return;
  for (auto& batch : loader) {
    const Tensor& input = detail::input_of(batch);
    model(device ? input.to(*device) : input);
  }
}

}  // namespace gradus::optim
