#include "gradus/nn/parallel/reduction.h"

#include <algorithm>

#include "gradus/tensor/raw.h"

namespace gradus::nn::parallel {

namespace {

// A gradient that may be added to: nobody else holds it.
Tensor own(Tensor grad) {
  const bool sole = grad.impl_ptr().use_count() == 1 && grad.impl().storage.use_count() == 1 &&
                    grad.is_contiguous();
  return sole ? std::move(grad) : raw::clone(grad);
}

Tensor flattened(const Tensor& x) { return *raw::try_view(x, {x.numel()}); }

}  // namespace

const std::vector<Buckets::Bucket>& Buckets::of(const Tensors& tensors,
                                                const std::vector<bool>& wanted) {
  if (wanted == wanted_) return buckets_;
  if (wanted.size() != order_.size()) {
    learned_ = false;
    order_.clear();
    for (size_t i = tensors.size(); i-- > 0;) order_.push_back(i);
  }
  wanted_ = wanted;
  buckets_.clear();
  size_t bytes = 0;
  for (const size_t i : order_) {
    if (!wanted[i]) continue;
    const Tensor& x = tensors[i];
    const bool fits = !buckets_.empty() &&
                      tensors[buckets_.back()[0]].scalar_type() == x.scalar_type() &&
                      bytes + x.nbytes() <= size_t{Lane::kPieceBytes};
    if (!fits) buckets_.emplace_back(), bytes = 0;
    buckets_.back().push_back(i);
    bytes += x.nbytes();
  }
  return buckets_;
}

void Buckets::learn(const std::vector<size_t>& order) {
  if (learned_) return;
  std::vector<size_t> complete = order;
  for (const size_t i : order_)
    if (std::find(order.begin(), order.end(), i) == order.end()) complete.push_back(i);
  order_ = std::move(complete);
  wanted_.clear();  // made anew at the next pass
  learned_ = true;
}

Reduction::Reduction(Replicas& replicas, size_t count, Buckets& buckets, std::vector<bool> wanted,
                     Timeline* timeline)
    : replicas_(replicas),
      count_(count),
      plan_(buckets),
      timeline_(timeline),
      wanted_(std::move(wanted)),
      buckets_(buckets.of(replicas.originals(), wanted_)),
      bucket_of_(wanted_.size()),
      grads_(count, Tensors(wanted_.size())),
      reported_(count, std::vector<bool>(wanted_.size())),
      flat_(count, Tensors(buckets_.size())),
      computed_(buckets_.size()),
      arrived_(buckets_.size()) {
  std::vector<size_t> sizes;
  for (size_t b = 0; b < buckets_.size(); ++b) {
    sizes.push_back(buckets_[b].size());
    for (const size_t i : buckets_[b]) bucket_of_[i] = b;
  }
  left_.assign(count, sizes);
  for (std::vector<cuda::Event>& events : computed_)
    for (size_t r = 0; r < count; ++r) events.emplace_back();
}

void Reduction::report(size_t replica, size_t index, Tensor grad) {
  if (!wanted_[index]) return;
  check<Error>(
      !reported_[replica][index],
      "DataParallel: a gradient was computed twice in one backward pass; a hook within the "
      "module calls backward() on what the replica has computed");
  reported_[replica][index] = true;
  if (grad.defined()) grads_[replica][index] = own(std::move(grad));
  if (replica == 0) order_.push_back(index);
  const size_t bucket = bucket_of_[index];
  if (--left_[replica][bucket] == 0) complete(replica, bucket);
}

void Reduction::end(size_t replica) {
  if (replica == 0) plan_.learn(order_);
  for (size_t i = 0; i < wanted_.size(); ++i)
    if (wanted_[i] && !reported_[replica][i]) report(replica, i, Tensor());
}

void Reduction::complete(size_t replica, size_t bucket) {
  const Buckets::Bucket& members = buckets_[bucket];
  const Tensors& grads = grads_[replica];
  const bool all =
      std::all_of(members.begin(), members.end(), [&](size_t i) { return grads[i].defined(); });
  if (all && members.size() > 1) {
    Tensors parts;
    for (const size_t i : members) parts.push_back(flattened(grads[i]));
    flat_[replica][bucket] = raw::cat(parts, 0);
  }
  replicas_.lane(replica).mark_compute(computed_[bucket][replica]);
  if (arrived_[bucket].fetch_add(1, std::memory_order_acq_rel) + 1 == count_) send(bucket);
}

// The lanes wait for this bucket alone: some replica's thread may have queued later ones already.
void Reduction::send(size_t bucket) {
  const bool on_gpu = std::any_of(replicas_.devices().begin(), replicas_.devices().end(),
                                  [](Device d) { return d.is_cuda(); });
  // Lanes have one user at a time; those of the CPU have nothing to keep in order.
  std::unique_lock lock(lanes_mutex_, std::defer_lock);
  if (on_gpu) lock.lock();
  for (size_t r = 0; r < count_; ++r) replicas_.lane(r).follow(computed_[bucket][r]);
  const auto packed = [&](const Tensors& flats) { return flats[bucket].defined(); };
  if (std::all_of(flat_.begin(), flat_.end(), packed)) {
    Tensors parts;
    for (const Tensors& flats : flat_) parts.push_back(flats[bucket]);
    return chain(std::move(parts));
  }
  for (size_t r = 0; r < count_; ++r) flat_[r][bucket] = Tensor();
  for (const size_t i : buckets_[bucket]) {
    Tensors parts;
    for (const Tensors& grads : grads_)
      parts.push_back(grads[i].defined() ? flattened(grads[i]) : Tensor());
    chain(std::move(parts));
  }
}

// Adds each part to the one before it that is defined.
void Reduction::chain(std::vector<Tensor> parts) {
  std::vector<size_t> present;
  for (size_t r = 0; r < count_; ++r)
    if (parts[r].defined()) present.push_back(r);
  if (present.size() < 2) return;
  const int64_t numel = parts[present[0]].numel();
  const int64_t piece = Lane::kPieceBytes / parts[present[0]].element_size();
  for (int64_t at = 0; at < numel; at += piece) {
    const int64_t length = std::min(piece, numel - at);
    for (size_t k = present.size() - 1; k-- > 0;) {
      const size_t to = present[k], from = present[k + 1];
      const TimelineScope scope(timeline_, "reduce", to, replicas_.lane(to).sums());
      replicas_.lane(to).add(raw::narrow(parts[to], 0, at, length),
                             raw::narrow(parts[from], 0, at, length), replicas_.lane(from));
    }
  }
}

void Reduction::settle() {
  for (size_t r = 0; r < count_; ++r)
    for (size_t reader = 0; reader <= r; ++reader)
      replicas_.lane(reader).lead_compute(replicas_.devices()[r]);
}

Tensors Reduction::sums() {
  Tensors out(wanted_.size());
  for (size_t b = 0; b < buckets_.size(); ++b) {
    int64_t at = 0;
    for (const size_t i : buckets_[b]) {
      if (flat_[0][b].defined()) {
        const Tensor& x = replicas_.originals()[i];
        out[i] = *raw::try_view(raw::narrow(flat_[0][b], 0, at, x.numel()), x.sizes());
        at += x.numel();
        continue;
      }
      for (size_t r = 0; r < count_ && !out[i].defined(); ++r) out[i] = std::move(grads_[r][i]);
    }
  }
  return out;
}

}  // namespace gradus::nn::parallel
