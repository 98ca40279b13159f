// Averaging gradients in buckets while the backward pass goes on.
#include "gradus/distributed/ddp/reducer.h"

#include <algorithm>
#include <utility>

#include "gradus/autograd/engine/engine.h"
#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/engine/pieces.h"
#include "gradus/distributed/collectives.h"
#include "gradus/tensor/arrival.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::distributed {

namespace {

constexpr size_t kFirstBucketBytes = 1 << 20;

Tensor flattened(const Tensor& x) {
  return raw::as_strided(x, {x.numel()}, {1}, x.storage_offset());
}

// Gradients that travel without copies.
class Averages final : public Arrival {
 public:
  Averages(std::string group, std::vector<WorkPtr> works)
      : group_(std::move(group)), works_(std::move(works)) {}
  bool await() override {
    // The thread of a rank, or that of another one in this process, which reads this rank's
    // tensors: what it does comes after what it did.
    const std::string* const served = ProcessGroup::served_here();
    if (served && *served == group_) return false;
    bool all = true;
    for (const WorkPtr& work : works_) {
      all = work->is_completed() && all;
      work->wait();
    }
    return all;
  }

 private:
  std::string group_;  // its name: gradients may outlive it
  std::vector<WorkPtr> works_;
};

constexpr int64_t kAlignment = 256;  // of a bucket in shared memory

int64_t bytes_of(const Bucket& bucket, const Tensor& parameter) {
  return bucket.numel * static_cast<int64_t>(parameter.itemsize());
}

// Whether x is where `place` is.
bool is_at(const Tensor& x, const Tensor& place) {
  return x.defined() && x.is_alias_of(place) && x.storage_offset() == place.storage_offset() &&
         x.strides() == place.strides();
}

// Null where x requires no grad, or is not a leaf.
std::shared_ptr<AccumulateGrad> accumulator_of(const Tensor& x) {
  return std::dynamic_pointer_cast<AccumulateGrad>(gradient_edge(x).function);
}

// Whether nobody but its parameter holds a gradient.
bool is_sole(const Tensor& grad) { return grad.impl_ptr().use_count() == 1; }

}  // namespace

// The hook of the leaf that is parameter i.
class Reducer::Hook final : public autograd::PostAccumulateGradHook {
 public:
  Hook(Reducer& reducer, size_t i) : reducer_(reducer), i_(i) {}
  void operator()(const Tensor&) override { reducer_.arrive(i_); }
  Tensor memory() override { return reducer_.memory_of(i_); }
  void rows_computed(const Tensor& grad, int64_t rows) override {
    reducer_.arrive_in_part(i_, grad, rows);
  }

 private:
  Reducer& reducer_;
  size_t i_;
};

Reducer::Reducer(const OrderedDict<std::string, Tensor>& parameters, Group group, Settings settings)
    : group_(std::move(group)), settings_(settings) {
  std::vector<size_t> order;
  for (const auto& item : parameters) {
    const Tensor& parameter = item.value();
    order.insert(order.begin(), slots_.size());
    slots_.push_back({item.key(), parameter, nullptr, 0, parameter.impl().sizes,
                      parameter.scalar_type(), parameter.device()});
  }
  for (size_t i = 0; i < slots_.size(); ++i) watch_gradients(i);
  const bool together = std::all_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return slot.device == slots_[0].device;
  });
  size_t bytes = 0;
  for (const Slot& slot : slots_) bytes += slot.parameter.nbytes() + kAlignment;
  if (together) shared_ = group_->allocate_shared(bytes);
  assign(order);
}

Reducer::~Reducer() {
  for (const Slot& slot : slots_) slot.accumulator->del_post_accumulate_hook(slot.hook.get());
}

void Reducer::watch_gradients(size_t i) {
  Slot& slot = slots_[i];
  slot.accumulator = accumulator_of(slot.parameter);
  check<Error>(slot.accumulator != nullptr, "DistributedDataParallel: parameter '", slot.name,
               "' is not a leaf: an operation computed it; wrap the module before it is changed");
  slot.hook = std::make_shared<Hook>(*this, i);
  slot.accumulator->add_post_accumulate_hook(slot.hook);
}

void Reducer::assign(const std::vector<size_t>& order) {
  for (const Bucket& bucket : buckets_) {  // others take their places
    if (bucket.averages) bucket.averages->await();
    if (const auto held = bucket.memory.lock()) held->move_out();
  }
  Tensors parameters;
  for (const Slot& slot : slots_) parameters.push_back(slot.parameter);
  buckets_ = make_buckets(parameters, order, std::min(kFirstBucketBytes, settings_.bucket_bytes),
                          settings_.bucket_bytes);
  int64_t place = 0;
  for (size_t b = 0; b < buckets_.size(); ++b) {
    buckets_[b].place = place;
    place += bytes_of(buckets_[b], parameters[buckets_[b].parameters[0]]);
    place = (place + kAlignment - 1) / kAlignment * kAlignment;
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
    bucket.ready = 0;
    bucket.works.clear();
  }
  for (Slot& slot : slots_) slot.seen = slot.arrived = false;
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
    const Tensor& x = slot.parameter;
    check<Error>(x.dtype() == slot.dtype && x.device() == slot.device &&
                     x.sizes() == IntArrayRef(slot.sizes),
                 "DistributedDataParallel: parameter '", slot.name, "' was ", slot.dtype, " ",
                 slot.sizes, " on ", slot.device, ", and is ", x.dtype(), " ", x.sizes(), " on ",
                 x.device(), "; move, convert and replace before the module is wrapped");
    // set_data() gives a parameter another accumulator; one that was frozen has none, and is
    // unused.
    const auto accumulator = accumulator_of(slot.parameter);
    if (!accumulator || accumulator == slot.accumulator) continue;
    slot.accumulator->del_post_accumulate_hook(slot.hook.get());
    watch_gradients(i);
  }
}

void Reducer::see(size_t i) {
  if (std::exchange(slots_[i].seen, true)) return;
  arrivals_.push_back(i);
  if (std::exchange(running_, true)) return;
  autograd::queue_callback([this] { finish(); });
}

// The gradient that arrives afterwards is this tensor itself.
void Reducer::arrive_in_part(size_t i, const Tensor& grad, int64_t rows) {
  const Slot& slot = slots_[i];
  Bucket& bucket = buckets_[slot.bucket];
  if (!averages_ || slot.arrived || bucket.parameters.size() > 1) return;
  const NoGradGuard guard;
  see(i);
  if (!bucket.flat.defined() && !shared_) bucket.flat = flattened(grad);
  if (!bucket.flat.defined() || !grad.is_alias_of(bucket.flat)) return;
  bucket.ready = grad.numel() / grad.size(0) * rows;
  start_ready();
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
  see(i);
  slot.arrived = true;
  put(i);
  start_ready();
}

Tensor Reducer::place(const Slot& slot, const Tensor& flat) {
  return raw::as_strided(flat, slot.sizes, contiguous_strides(slot.sizes),
                         flat.storage_offset() + slot.offset);
}

// Memory for the gradients of a step. Memory of the last step that others still hold moves away.
Tensor Reducer::make_flat(Bucket& bucket) {
  const Tensor& parameter = slots_[bucket.parameters[0]].parameter;
  if (!shared_) return raw::empty({bucket.numel}, parameter.scalar_type(), parameter.device());
  if (const auto held = bucket.memory.lock()) held->move_out();
  const auto memory = std::make_shared<StorageSlice>(
      shared_, bucket.place, static_cast<size_t>(bytes_of(bucket, parameter)));
  if (bucket.averages) memory->expect(bucket.averages);
  bucket.memory = memory;
  return raw::over_storage(memory, {bucket.numel}, parameter.scalar_type());
}

// The bucket whose gradients are where they would be put; undefined where some are not.
Tensor Reducer::found_flat(const Bucket& bucket) const {
  const Slot& first = slots_[bucket.parameters[0]];
  const Tensor& grad = first.parameter.grad();
  if (!shared_) {
    const bool fits = bucket.parameters.size() == 1 && grad.defined() && grad.is_contiguous() &&
                      grad.storage_offset() == 0;
    return fits ? flattened(grad) : Tensor();
  }
  const auto held = bucket.memory.lock();
  if (!held) return Tensor();
  const Tensor flat = raw::over_storage(held, {bucket.numel}, first.dtype);
  const bool all = std::all_of(bucket.parameters.begin(), bucket.parameters.end(), [&](size_t i) {
    return is_at(slots_[i].parameter.grad(), place(slots_[i], flat));
  });
  return all ? flat : Tensor();
}

// Where a gradient may be computed, so that it need not be copied there.
Tensor Reducer::memory_of(size_t i) {
  if (!averages_ || !shared_) return Tensor();
  const NoGradGuard guard;
  Bucket& bucket = buckets_[slots_[i].bucket];
  if (!bucket.flat.defined()) bucket.flat = make_flat(bucket);
  return place(slots_[i], bucket.flat);
}

// Puts the gradient into its bucket; an undefined one counts as zero.
void Reducer::put(size_t i) {
  const Slot& slot = slots_[i];
  Bucket& bucket = buckets_[slot.bucket];
  Tensor& grad = slot.parameter.mutable_grad();
  check<Error>(!grad.defined() || grad.sizes() == IntArrayRef(slot.sizes),
               "DistributedDataParallel: the gradient of parameter '", slot.name, "' has shape ",
               grad.sizes(), ", expected ", slot.sizes, "; call zero_grad() before the pass");
  check<Error>(bucket.ready == 0 || grad.is_alias_of(bucket.flat),
               "DistributedDataParallel: the gradient of parameter '", slot.name,
               "' was replaced while it was computed; let hooks change it later");
  if (!bucket.flat.defined()) bucket.flat = found_flat(bucket);
  if (!bucket.flat.defined()) bucket.flat = make_flat(bucket);
  const Tensor home = place(slot, bucket.flat);
  if (!grad.defined()) {
    raw::fill_(home, 0);
  } else if (!is_at(grad, home)) {
    raw::copy_(home, grad);
    if (is_sole(grad)) grad = home;  // it becomes the average where it is
  }
  --bucket.missing;
}

// All pieces that are ready, as far as those before them have started.
void Reducer::start_ready() {
  for (; next_bucket_ < buckets_.size(); ++next_bucket_) {
    Bucket& bucket = buckets_[next_bucket_];
    while (bucket.works.size() < bucket.ends.size()) {
      const bool some = bucket.ready > 0 && bucket.ends[bucket.works.size()] <= bucket.ready;
      if (bucket.missing > 0 && !some) return;
      start_piece(bucket);
    }
  }
}

// Shared memory outlives what travels in it, which need not keep a gradient that nobody wants.
Tensor Reducer::as_sent(const Bucket& bucket) const {
  if (!shared_) return bucket.flat;
  const auto all = static_cast<int64_t>(shared_->nbytes()), place = bucket.place;
  const int64_t size = bytes_of(bucket, bucket.flat);
  return raw::view(raw::narrow(raw::over_storage(shared_, {all}, kByte), 0, place, size),
                   bucket.flat.scalar_type());
}

void Reducer::start_piece(Bucket& bucket) {
  const size_t n = bucket.works.size();
  const int64_t begin = n > 0 ? bucket.ends[n - 1] : 0;
  const ReduceOp op = divisor_ > 0 ? ReduceOp::SUM : ReduceOp::AVG;
  bucket.works.push_back(
      all_reduce(raw::narrow(as_sent(bucket), 0, begin, bucket.ends[n] - begin), op, group_, true));
}

// Runs at the end of the backward pass.
void Reducer::finish() {
  const NoGradGuard guard;
  if (arrivals_.size() < slots_.size()) add_unused();
  const Tensor used = share_usage();
  for (Bucket& bucket : buckets_) {
    if (is_in_place(bucket) && divisor_ == 0 && bucket.flat.is_cuda()) {
      bucket.averages = std::make_shared<Averages>(group_->name(), std::move(bucket.works));
      bucket.flat.impl().storage->expect(bucket.averages);
      continue;
    }
    for (const WorkPtr& work : bucket.works) work->wait();
    if (divisor_ > 0) raw::zip_(BinaryOp::div, bucket.flat, Scalar(divisor_));
  }
  write_back(used);
  if (!rebuilt_) rebuild();
  reset();
}

// Whether all of its averages become the gradients where they are.
bool Reducer::is_in_place(const Bucket& bucket) const {
  return std::all_of(bucket.parameters.begin(), bucket.parameters.end(), [&](size_t i) {
    return is_at(slots_[i].parameter.grad(), place(slots_[i], bucket.flat));
  });
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
  start_ready();
}

// How many ranks used each parameter; undefined where all are used.
Tensor Reducer::share_usage() {
  if (!settings_.find_unused_parameters) return Tensor();
  Tensor used = raw::empty({static_cast<int64_t>(slots_.size())}, kInt, kCPU);
  for (size_t i = 0; i < slots_.size(); ++i)
    used.data_ptr<int>()[i] = slots_[i].arrived || slots_[i].parameter.grad().defined();
  used = raw::to(used, slots_[0].device);
  all_reduce(used, ReduceOp::SUM, group_);
  return raw::to(used, Device(kCPU));
}

// A parameter that no rank used keeps the gradient that it has, if any.
void Reducer::write_back(const Tensor& used) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (used.defined() && used.data_ptr<int>()[i] == 0) continue;
    Tensor& grad = slot.parameter.mutable_grad();
    const Tensor average = place(slot, buckets_[slot.bucket].flat);
    if (!grad.defined()) {
      grad = raw::clone(average);
    } else if (!is_at(grad, average)) {
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
    bucket.flat = make_flat(bucket);
    raw::fill_(bucket.flat, 0);
    bucket.missing = 0;
  }
  start_ready();
  if (settings_.find_unused_parameters) {
    Tensor used = raw::empty({static_cast<int64_t>(slots_.size())}, kInt, slots_[0].device);
    raw::fill_(used, 0);
    all_reduce(used, ReduceOp::SUM, group_);
  }
  for (const Bucket& bucket : buckets_)
    for (const WorkPtr& work : bucket.works) work->wait();
  if (!rebuilt_) rebuild();
  reset();
}

}  // namespace gradus::distributed
