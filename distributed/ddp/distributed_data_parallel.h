// DistributedDataParallel: every rank has the model and trains it on its share of each batch. The
// gradients are averaged over the ranks, so all models stay equal, as if one model was trained on
// the whole batch with the mean of the losses.
//
//   distributed::init_process_group("mpi");
//   nn::parallel::DistributedDataParallel model(net);
//   optim::SGD sgd(model->parameters(), 0.1);
//   loss = nn::functional::mse_loss(model(x), y);
//   loss.backward();                             // averages
//   sgd.step();
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <utility>

#include "gradus/distributed/ddp/reducer.h"
#include "gradus/tensor/base/option.h"

namespace gradus::distributed {

struct DistributedDataParallelOptions {
  // Copies rank 0's buffers to the others before each forward pass in training.
  GRADUS_OPTION(DistributedDataParallelOptions, bool, broadcast_buffers) = true;
  // Null: all ranks.
  GRADUS_OPTION(DistributedDataParallelOptions, Group, process_group) = nullptr;
  // The size of a bucket of gradients, in MiB.
  GRADUS_OPTION(DistributedDataParallelOptions, double, bucket_cap_mb) = 25;
  // Allows parameters without a gradient in a step; it counts as zero where another rank has one.
  // Otherwise a missing gradient is an error that names the parameters.
  GRADUS_OPTION(DistributedDataParallelOptions, bool, find_unused_parameters) = false;
};

// The part of DistributedDataParallel that does not depend on the type of the module.
class DistributedModule : public nn::Module {
 public:
  ~DistributedModule() override;

  // Prints the wrapped module.
  void pretty_print(std::ostream& stream) const override;

  // While it lives, backward passes of new forward passes do not average gradients. The first one
  // after it averages everything that was accumulated.
  class NoSync {
   public:
    explicit NoSync(bool& averages) : averages_(averages), before_(averages) { averages_ = false; }
    ~NoSync() { averages_ = before_; }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    bool& averages_;
    bool before_;
  };
  [[nodiscard]] NoSync no_sync() { return NoSync(averages_); }

  // Runs f, which trains on this rank's batches; ranks may have different numbers of them. A rank
  // whose f has returned takes part in the others' steps with gradients of zero until all are done.
  // Then it gets the parameters and buffers of a rank that was last. All ranks call it. Averages
  // are over all ranks; without divide_by_initial_world_size, over those that still have batches.
  void join(const std::function<void()>& f, bool divide_by_initial_world_size = true);

  // The sizes of the buckets of gradients in bytes, in the order in which they start.
  std::vector<size_t> bucket_sizes() const { return reducer_->bucket_sizes(); }

 protected:
  DistributedModule(std::shared_ptr<nn::Module> module, DistributedDataParallelOptions options);
  void before_forward();

 private:
  struct Round {
    int active = 0;  // ranks that still have batches
    int first = -1;  // the first of them, in the group
    bool averages = false;
  };
  Round exchange(bool active, bool averages);
  void share(const Tensors& tensors, int source) const;
  void catch_up();

  std::shared_ptr<nn::Module> wrapped_;
  DistributedDataParallelOptions options_;
  Group group_;
  std::unique_ptr<Reducer> reducer_;
  int newest_ = 0;  // in join: a rank that was active when any last was
  bool averages_ = true, joins_ = false, divides_by_all_ = true;
};

// Errors of the constructor, at all ranks: ValueError where no parameter requires grad. ValueError
// where the ranks' modules differ; it names a rank and a parameter.
template <class M>
class DistributedDataParallelImpl final : public DistributedModule {
 public:
  explicit DistributedDataParallelImpl(std::shared_ptr<M> module,
                                       const DistributedDataParallelOptions& options = {})
      : DistributedModule(module, options), module_(std::move(module)) {}

  template <class... Args>
  auto forward(Args&&... args) {
    before_forward();
    return nn::Module::call(*module_, std::forward<Args>(args)...);
  }
  const std::shared_ptr<M>& module() const { return module_; }

 private:
  std::shared_ptr<M> module_;
};

// Takes a module or its holder: DistributedDataParallel model(net).
template <class M>
class DistributedDataParallel : public nn::ModuleHolder<DistributedDataParallelImpl<M>> {
 public:
  DistributedDataParallel(std::shared_ptr<M> module,
                          const DistributedDataParallelOptions& options = {})
      : nn::ModuleHolder<DistributedDataParallelImpl<M>>(
            std::make_shared<DistributedDataParallelImpl<M>>(std::move(module), options)) {}
  DistributedDataParallel(const nn::ModuleHolder<M>& module,
                          const DistributedDataParallelOptions& options = {})
      : DistributedDataParallel(module.ptr(), options) {}
};
template <class M>
DistributedDataParallel(std::shared_ptr<M>) -> DistributedDataParallel<M>;
template <class M>
DistributedDataParallel(std::shared_ptr<M>, DistributedDataParallelOptions)
    -> DistributedDataParallel<M>;
template <class Holder>
requires requires { typename Holder::ContainedType; }
DistributedDataParallel(Holder)->DistributedDataParallel<typename Holder::ContainedType>;
template <class Holder>
requires requires { typename Holder::ContainedType; }
DistributedDataParallel(Holder, DistributedDataParallelOptions)
    ->DistributedDataParallel<typename Holder::ContainedType>;

}  // namespace gradus::distributed

namespace gradus::nn::parallel {
using distributed::DistributedDataParallel, distributed::DistributedDataParallelOptions;
}
