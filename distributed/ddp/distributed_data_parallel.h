// DistributedDataParallel: one model at every rank, trained on a share of each batch by each. The
// gradients are averaged over the ranks, so that all models stay the same, and equal the one that
// is trained on the whole batch with the mean of the losses.
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
  // Rank 0's buffers replace the others' before each forward pass that is trained on.
  GRADUS_OPTION(DistributedDataParallelOptions, bool, broadcast_buffers) = true;
  // Null: all ranks.
  GRADUS_OPTION(DistributedDataParallelOptions, Group, process_group) = nullptr;
  // Gradients travel in buckets of so many MiB.
  GRADUS_OPTION(DistributedDataParallelOptions, double, bucket_cap_mb) = 25;
  // Parameters may have no gradient in a step; they count as zero where another rank has one.
  // Without it that is an error that names them.
  GRADUS_OPTION(DistributedDataParallelOptions, bool, find_unused_parameters) = false;
};

// What does not depend on the type of the module.
class DistributedModule : public nn::Module {
 public:
  ~DistributedModule() override;

  // Names are those of the wrapped module.
  void pretty_print(std::ostream& stream) const override;

  // While it lives, backward passes of forward passes that are begun leave gradients as they are;
  // the first one after it averages all that has been accumulated.
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

  // Runs f, which trains on this rank's batches, however many. A rank whose f has returned goes on
  // taking part in the others' steps, with gradients of zero, until all are done; then it gets the
  // parameters and buffers of one that was the last. All ranks call it. Averages are over all
  // ranks, or, where not divide_by_initial_world_size, over those that still have batches.
  void join(const std::function<void()>& f, bool divide_by_initial_world_size = true);

  // The bytes of the buckets in which gradients travel, in the order in which they start.
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

// Errors of the constructor, at all ranks alike: ValueError where the ranks' modules differ, which
// names a rank and a parameter, or where nothing requires grad.
template <class M>
class DistributedDataParallelImpl final : public DistributedModule {
 public:
  explicit DistributedDataParallelImpl(std::shared_ptr<M> module,
                                       const DistributedDataParallelOptions& options = {})
      : DistributedModule(module, options), module_(std::move(module)) {}

  template <class... Args>
  auto forward(Args&&... args) {
    before_forward();
    return module_->forward(std::forward<Args>(args)...);
  }
  const std::shared_ptr<M>& module() const { return module_; }

 private:
  std::shared_ptr<M> module_;
};

// Made of a module, or of its holder: DistributedDataParallel model(net).
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
