#include "gradus/distributed/reducer.h"

#include <algorithm>

#include "gradus/autograd/engine.h"
#include "gradus/autograd/grad_mode.h"
#include "gradus/autograd/meta.h"
#include "gradus/distributed/collectives.h"
#include "gradus/tensor/raw.h"

namespace gradus::distributed {

namespace {

constexpr size_t kFirstBucketBytes = 1 << 20;

struct Arrival final : autograd::FunctionPostHook {
  explicit Arrival(std::function<void()> f) : arrived(std::move(f)) {}
  Tensors operator()(const Tensors& outputs, const Tensors&) override {
    arrived();
    return outputs;
  }
  std::function<void()> arrived;
};

Tensor zeros_for(const Bucket& bucket, const Tensor& parameter) {
  Tensor flat = raw::empty({bucket.numel}, parameter.dtype(), parameter.device());
  raw::fill_(flat, 0);
  return flat;
}

}  // namespace

Reducer::Reducer(const OrderedDict<std::string, Tensor>& parameters, Group group, Settings settings)
    : group_(std::move(group)), settings_(settings) {
  std::vector<size_t> order;
  for (const auto& item : parameters) {
    const Tensor& parameter = item.value();
    order.insert(order.begin(), slots_.size());
    slots_.push_back(
        {item.key(), parameter, nullptr, 0, parameter.scalar_type(), parameter.device()});
  }
  for (size_t i = 0; i < slots_.size(); ++i) watch_gradients(i);
  assign(order);
}

Reducer::~Reducer() {
  for (const Slot& slot : slots_) slot.accumulator->del_post_hook(slot.hook);
}

void Reducer::watch_gradients(size_t i) {
  Slot& slot = slots_[i];
  slot.accumulator = gradient_edge(slot.parameter).function;
  slot.hook = slot.accumulator->add_post_hook(std::make_unique<Arrival>([this, i] { arrive(i); }));
}

void Reducer::assign(const std::vector<size_t>& order) {
  Tensors parameters;
  for (const Slot& slot : slots_) parameters.push_back(slot.parameter);
  buckets_ = make_buckets(parameters, order, std::min(kFirstBucketBytes, settings_.bucket_bytes),
                          settings_.bucket_bytes);
  for (size_t b = 0; b < buckets_.size(); ++b) {
    int64_t offset = 0;
    for (const size_t i : buckets_[b].parameters) {
      slots_[i].bucket = b;
      slots_[i].offset = offset;
      offset += slots_[i].parameter.numel();
    }
  }
  reset();
}

// Ready for a step, whatever became of the last one.
void Reducer::reset() {
  for (Bucket& bucket : buckets_) {
    bucket.missing = bucket.parameters.size();
    bucket.flat = Tensor();
    bucket.work = nullptr;
  }
  for (Slot& slot : slots_) slot.arrived = false;
  arrivals_.clear();
  next_bucket_ = 0;
  running_ = false;
}

std::vector<size_t> Reducer::bucket_sizes() const {
  std::vector<size_t> sizes;
  for (const Bucket& bucket : buckets_)
    sizes.push_back(static_cast<size_t>(bucket.numel) *
                    slots_[bucket.parameters[0]].parameter.itemsize());
  return sizes;
}

void Reducer::prepare(bool average, int divisor) {
  averages_ = average;
  divisor_ = divisor;
  if (running_) reset();  // the last backward pass threw
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    check<Error>(slot.parameter.dtype() == slot.dtype && slot.parameter.device() == slot.device,
                 "DistributedDataParallel: parameter '", slot.name, "' was ", slot.dtype, " on ",
                 slot.device, ", and is ", slot.parameter.dtype(), " on ", slot.parameter.device(),
                 "; move and convert the module before it is wrapped");
    // set_data() gives a parameter another accumulator.
    if (gradient_edge(slot.parameter).function == slot.accumulator) continue;
    slot.accumulator->del_post_hook(slot.hook);
    watch_gradients(i);
  }
}

void Reducer::arrive(size_t i) {
  if (!averages_) return;
  const NoGradGuard guard;
  Slot& slot = slots_[i];
  check<Error>(!slot.parameter.grad().requires_grad(),
               "DistributedDataParallel: backward with create_graph = true, whose gradients would "
               "have to be averaged by a differentiable operation; use the module itself, and "
               "all_reduce");
  check<Error>(!slot.arrived, "DistributedDataParallel: the gradient of parameter '", slot.name,
               "' has arrived twice in one backward pass; use each parameter either inside of "
               "checkpoint() or outside");
  if (!running_) {
    running_ = true;
    autograd::queue_callback([this] { finish(); });
  }
  slot.arrived = true;
  arrivals_.push_back(i);
  put(i);
  start_full_buckets();
}

Tensor Reducer::place(const Slot& slot) const {
  const Dims& sizes = slot.parameter.impl().sizes;
  return raw::as_strided(buckets_[slot.bucket].flat, sizes, contiguous_strides(sizes), slot.offset);
}

// Puts the gradient into its bucket; an undefined one counts as zero.
void Reducer::put(size_t i) {
  Slot& slot = slots_[i];
  Bucket& bucket = buckets_[slot.bucket];
  const Tensor& grad = slot.parameter.grad();
  const bool alone = bucket.parameters.size() == 1;
  if (alone && grad.defined() && grad.is_contiguous() && grad.storage_offset() == 0) {
    bucket.flat = raw::as_strided(grad, {grad.numel()}, {1}, 0);
  } else {
    if (!bucket.flat.defined()) bucket.flat = zeros_for(bucket, slot.parameter);
    if (grad.defined()) raw::copy_(place(slot), grad);
  }
  --bucket.missing;
}

void Reducer::start_full_buckets() {
  while (next_bucket_ < buckets_.size() && buckets_[next_bucket_].missing == 0)
    start(buckets_[next_bucket_++]);
}

void Reducer::start(Bucket& bucket) {
  const ReduceOp op = divisor_ > 0 ? ReduceOp::SUM : ReduceOp::AVG;
  bucket.work = all_reduce(bucket.flat, op, group_, true);
}

// At the end of the backward pass.
void Reducer::finish() {
  const NoGradGuard guard;
  if (arrivals_.size() < slots_.size()) add_unused();
  const Tensor used = share_usage();
  for (Bucket& bucket : buckets_) {
    bucket.work->wait();
    if (divisor_ > 0) raw::zip_(BinaryOp::div, bucket.flat, Scalar(divisor_));
  }
  write_back(used);
  if (!rebuilt_) rebuild();
  reset();
}

void Reducer::add_unused() {
  std::string names;
  for (const Slot& slot : slots_)
    if (!slot.arrived) names += (names.empty() ? "'" : ", '") + slot.name + "'";
  if (!settings_.find_unused_parameters) {
    const std::string message =
        "DistributedDataParallel: these parameters got no gradient in the backward pass: " + names +
        "; make the loss depend on all, or set find_unused_parameters(true)";
    group_->watch().give_up("threw: " + message);  // the others wait for these gradients
    throw Error(message);
  }
  for (size_t i = 0; i < slots_.size(); ++i)
    if (!slots_[i].arrived) put(i);
  start_full_buckets();
}

// At how many ranks each parameter was used; undefined where all are used.
Tensor Reducer::share_usage() {
  if (!settings_.find_unused_parameters) return Tensor();
  Tensor used = raw::empty({static_cast<int64_t>(slots_.size())}, kInt, kCPU);
  for (size_t i = 0; i < slots_.size(); ++i)
    used.data_ptr<int>()[i] = slots_[i].arrived || slots_[i].parameter.grad().defined();
  used = raw::to(used, slots_[0].device);
  all_reduce(used, ReduceOp::SUM, group_);
  return raw::to(used, Device(kCPU));
}

// What no rank used keeps the gradient that it has, if any.
void Reducer::write_back(const Tensor& used) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (used.defined() && used.data_ptr<int>()[i] == 0) continue;
    Tensor& grad = slot.parameter.mutable_grad();
    const Tensor average = place(slot);
    if (!grad.defined()) {
      grad = raw::clone(average);
    } else if (!grad.is_alias_of(average)) {
      raw::copy_(grad, average);
      grad.impl().storage->bump_version();
    }
  }
}

// Buckets in the order in which the gradients have arrived at the first rank of the group.
void Reducer::rebuild() {
  rebuilt_ = true;
  for (size_t i = 0; i < slots_.size(); ++i)
    if (!slots_[i].arrived) arrivals_.push_back(i);
  Tensor order = raw::empty({static_cast<int64_t>(slots_.size())}, kLong, kCPU);
  std::copy(arrivals_.begin(), arrivals_.end(), order.data_ptr<int64_t>());
  order = raw::to(order, slots_[0].device);
  broadcast(order, group_->ranks()[0], group_);
  order = raw::to(order, Device(kCPU));
  const int64_t* numbers = order.data_ptr<int64_t>();
  assign({numbers, numbers + order.numel()});
}

void Reducer::shadow(int divisor) {
  divisor_ = divisor;
  reset();
  for (Bucket& bucket : buckets_) {
    bucket.flat = zeros_for(bucket, slots_[bucket.parameters[0]].parameter);
    start(bucket);
  }
  if (settings_.find_unused_parameters) {
    Tensor used = raw::empty({static_cast<int64_t>(slots_.size())}, kInt, slots_[0].device);
    raw::fill_(used, 0);
    all_reduce(used, ReduceOp::SUM, group_);
  }
  for (Bucket& bucket : buckets_) bucket.work->wait();
  if (!rebuilt_) rebuild();
  reset();
}

}  // namespace gradus::distributed
