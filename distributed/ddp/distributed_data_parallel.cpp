// DistributedDataParallel: the forward pass, and what all ranks agree on before it.
#include "gradus/distributed/ddp/distributed_data_parallel.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/distributed/arguments.h"
#include "gradus/distributed/collectives.h"
#include "gradus/distributed/ddp/module_check.h"
#include "gradus/distributed/world.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::distributed {

namespace {

OrderedDict<std::string, Tensor> trained_parameters(const nn::Module& module) {
  OrderedDict<std::string, Tensor> out;
  for (const auto& item : module.named_parameters()) {
    const auto& known = out.values();
    const bool shared = std::any_of(known.begin(), known.end(),
                                    [&](const Tensor& x) { return x.is_same(item.value()); });
    if (item.value().requires_grad() && !shared) out.insert(item.key(), item.value());
  }
  check(out.size() > 0, "DistributedDataParallel: no parameter of ", module.name(),
        " requires grad, so there is nothing to average; use the module itself");
  return out;
}

}  // namespace

DistributedModule::DistributedModule(std::shared_ptr<nn::Module> module,
                                     DistributedDataParallelOptions options)
    : Module("DistributedDataParallel"),
      wrapped_(std::move(module)),
      options_(std::move(options)),
      group_(options_.process_group() ? options_.process_group()
                                      : world_group("DistributedDataParallel")) {
  const double bytes = std::ceil(options_.bucket_cap_mb() * 1024 * 1024);
  check(wrapped_ != nullptr,
        "DistributedDataParallel: the module is empty; give it one that is made");
  check(bytes >= 0 && bytes < 1e15,
        "DistributedDataParallel: bucket_cap_mb = ", options_.bucket_cap_mb(),
        "; expected 0 or more");
  resolve("DistributedDataParallel", group_);
  check_same_module(*wrapped_, *group_);
  const auto parameters = trained_parameters(*wrapped_);
  share(wrapped_->parameters(), 0);
  share(wrapped_->buffers(), 0);
  reducer_ = std::make_unique<Reducer>(
      parameters, group_,
      Reducer::Settings{static_cast<size_t>(bytes), options_.find_unused_parameters()});
  stand_for(wrapped_);
}

DistributedModule::~DistributedModule() = default;

void DistributedModule::pretty_print(std::ostream& stream) const {
  stream << "DistributedDataParallel(" << *wrapped_ << ')';
}

// All ranks get the tensors of one.
void DistributedModule::share(const Tensors& tensors, int source) const {
  const NoGradGuard guard;
  std::vector<WorkPtr> works;
  Tensors sent;
  for (const Tensor& x : tensors) {
    sent.push_back(raw::contiguous(x.detach()));
    const int root = group_->ranks()[static_cast<size_t>(source)];
    works.push_back(broadcast(sent.back(), root, group_, true));
  }
  for (size_t i = 0; i < works.size(); ++i) {
    works[i]->wait();
    if (!sent[i].is_alias_of(tensors[i])) tensors[i].detach().copy_(sent[i]);
  }
}

// Tells what all ranks are about to do. Ranks that wait and ranks that train ask in the same steps.
DistributedModule::Round DistributedModule::exchange(bool active, bool averages) {
  const NoGradGuard guard;
  const Device device = wrapped_->parameters()[0].device();
  const Tensor mine = tensor({int64_t{active}, int64_t{averages}}).to(device);
  const Tensor all = zeros({group_->size(), 2}, TensorOptions(kLong).device(device));
  all_gather_into_tensor(all, mine, group_);
  const Tensor here = all.to(Device(kCPU));
  const auto flags = here.accessor<int64_t, 2>();
  Round round;
  for (int r = 0; r < group_->size(); ++r) {
    if (!flags[r][0]) continue;
    if (round.active++ == 0) round.first = r;
    round.averages |= flags[r][1] != 0;
  }
  if (round.active > 0) newest_ = round.first;
  return round;
}

void DistributedModule::before_forward() {
  const bool averages = averages_ && GradMode::is_enabled();
  Round round{group_->size(), 0, averages};
  if (joins_) round = exchange(true, averages);
  if (averages && options_.broadcast_buffers()) share(wrapped_->buffers(), round.first);
  reducer_->prepare(averages, divides_by_all_ ? 0 : round.active);
}

void DistributedModule::join(const std::function<void()>& f, bool divide_by_initial_world_size) {
  struct Restore {
    DistributedModule& module;
    ~Restore() { module.joins_ = false, module.divides_by_all_ = true; }
  };
  const Restore restore{*this};
  joins_ = true;
  newest_ = 0;
  divides_by_all_ = divide_by_initial_world_size;
  f();
  catch_up();
}

// The steps of the ranks that still have batches.
void DistributedModule::catch_up() {
  while (true) {
    const Round round = exchange(false, false);
    if (round.active == 0) break;
    if (!round.averages) continue;
    if (options_.broadcast_buffers()) share(wrapped_->buffers(), round.first);
    reducer_->shadow(divides_by_all_ ? 0 : round.active);
  }
  share(wrapped_->parameters(), newest_);
  share(wrapped_->buffers(), newest_);
}

}  // namespace gradus::distributed
