// Buckets of gradients, and the sums of their pieces along the chain of replicas.
#include "gradus/nn/parallel/gradient_sums.h"

#include <algorithm>

#include "gradus/autograd/engine/pieces.h"
#include "gradus/cuda/runtime/allocator.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::nn::parallel {

namespace {

// A gradient that may be added to: nobody else holds it, and its memory is ours.
Tensor own(Tensor grad) {
  const StoragePtr& memory = grad.impl().storage;
  const bool sole = grad.impl_ptr().use_count() == 1 && memory.use_count() == 1 &&
                    grad.is_contiguous() && (grad.is_cpu() || cuda::is_allocated(memory));
  return sole ? std::move(grad) : raw::clone(grad);
}

bool is_cut(const Tensor& x) { return autograd::piece_ends(x).size() > 1; }

Tensor flattened(const Tensor& x) { return *raw::try_view(x, {x.numel()}); }

}  // namespace

std::vector<Buckets::Bucket>& Buckets::of(const Tensors& tensors, const std::vector<bool>& wanted,
                                          size_t replicas) {
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
    const Tensor* const first = buckets_.empty() ? nullptr : &tensors[buckets_.back().members[0]];
    const bool fits = first && !is_cut(*first) && !is_cut(x) &&
                      first->scalar_type() == x.scalar_type() &&
                      bytes + x.nbytes() <= static_cast<size_t>(piece_bytes.most);
    if (!fits) buckets_.emplace_back(), bytes = 0;
    buckets_.back().members.push_back(i);
    bytes += x.nbytes();
  }
  cut(tensors, replicas);
  return buckets_;
}

void Buckets::cut(const Tensors& tensors, size_t replicas) {
  for (Bucket& bucket : buckets_) {
    std::vector<int64_t> ends;
    if (bucket.members.size() == 1) {
      ends = autograd::piece_ends(tensors[bucket.members[0]]);
    } else {
      ends = {0};
      for (const size_t i : bucket.members) ends[0] += tensors[i].numel();
    }
    int64_t begin = 0;
    for (const int64_t end : ends) {
      bucket.pieces.push_back({begin, end, std::vector<cuda::Event>(replicas)});
      begin = end;
    }
  }
  // Nothing is computed any more while the last bytes travel.
  int64_t behind = 0;
  for (size_t b = buckets_.size(); b-- > 0;)
    for (size_t p = buckets_[b].pieces.size(); p-- > 0 && behind < piece_bytes.of_last;) {
      Piece& piece = buckets_[b].pieces[p];
      piece.most = piece_bytes.last;
      behind += (piece.end - piece.begin) * tensors[buckets_[b].members[0]].element_size();
    }
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

GradientSums::GradientSums(Replicas& replicas, size_t count, Buckets& buckets,
                           std::vector<bool> wanted, Timeline* timeline)
    : replicas_(replicas),
      count_(count),
      plan_(buckets),
      timeline_(timeline),
      wanted_(std::move(wanted)),
      buckets_(buckets.of(replicas.originals(), wanted_, replicas.size())),
      bucket_of_(wanted_.size()),
      grads_(count, Tensors(wanted_.size())),
      reported_(count, std::vector<bool>(wanted_.size())),
      at_(count, std::vector<Progress>(buckets_.size())) {
  for (size_t b = 0; b < buckets_.size(); ++b) {
    const Buckets::Bucket& bucket = buckets_[b];
    for (const size_t i : bucket.members) bucket_of_[i] = b;
    for (std::vector<Progress>& of_replica : at_) of_replica[b].left = bucket.members.size();
    arrived_.emplace_back(bucket.pieces.size());
  }
}

void GradientSums::report(size_t replica, size_t index, Tensor grad) {
  if (!wanted_[index]) return;
  check<Error>(
      !reported_[replica][index],
      "DataParallel: a gradient was computed twice in one backward pass; a hook within the "
      "module calls backward() on what the replica has computed");
  reported_[replica][index] = true;
  Tensor& known = grads_[replica][index];  // where its rows were reported: this one
  if (grad.defined() && !known.defined()) known = own(std::move(grad));
  if (replica == 0) order_.push_back(index);
  const size_t bucket = bucket_of_[index];
  if (--at_[replica][bucket].left == 0) complete(replica, bucket);
}

void GradientSums::report_rows(size_t replica, size_t index, const Tensor& grad, int64_t end) {
  if (!wanted_[index] || reported_[replica][index]) return;
  const size_t bucket = bucket_of_[index];
  const std::vector<Buckets::Piece>& pieces = buckets_[bucket].pieces;
  if (pieces.size() == 1) return;
  Tensor& known = grads_[replica][index];
  if (!known.defined()) known = grad;  // once: other threads read it from the first piece on
  const int64_t ready = grad.numel() / grad.size(0) * end;
  size_t& there = at_[replica][bucket].pieces;
  while (there < pieces.size() && pieces[there].end <= ready) arrive(replica, bucket);
}

void GradientSums::end(size_t replica) {
  if (replica == 0) plan_.learn(order_);
  for (size_t i = 0; i < wanted_.size(); ++i)
    if (wanted_[i] && !reported_[replica][i]) report(replica, i, Tensor());
}

void GradientSums::complete(size_t replica, size_t bucket) {
  const std::vector<size_t>& members = buckets_[bucket].members;
  const Tensors& grads = grads_[replica];
  const bool all =
      std::all_of(members.begin(), members.end(), [&](size_t i) { return grads[i].defined(); });
  Progress& at = at_[replica][bucket];
  if (all && members.size() > 1) {
    Tensors parts;
    for (const size_t i : members) parts.push_back(flattened(grads[i]));
    at.flat = raw::cat(parts, 0);
  }
  while (at.pieces < buckets_[bucket].pieces.size()) arrive(replica, bucket);
}

// The next piece is there.
void GradientSums::arrive(size_t replica, size_t bucket) {
  const size_t n = at_[replica][bucket].pieces++;
  Buckets::Piece& piece = buckets_[bucket].pieces[n];
  replicas_.lane(replica).mark_compute(piece.computed[replica]);
  if (arrived_[bucket][n].fetch_add(1, std::memory_order_acq_rel) + 1 == count_)
    send(bucket, piece);
}

// The lanes wait for this piece alone: some replica's thread may have queued later ones already.
void GradientSums::send(size_t bucket, const Buckets::Piece& piece) {
  const bool on_gpu = std::any_of(replicas_.devices().begin(), replicas_.devices().end(),
                                  [](Device d) { return d.is_cuda(); });
  // Lanes have one user at a time; those of the CPU have nothing to keep in order.
  std::unique_lock lock(lanes_mutex_, std::defer_lock);
  if (on_gpu) lock.lock();
  const std::vector<size_t>& members = buckets_[bucket].members;
  const auto parts_of = [&](size_t i) {
    Tensors parts;
    for (const Tensors& grads : grads_)
      parts.push_back(grads[i].defined() ? flattened(grads[i]) : Tensor());
    return parts;
  };
  if (members.size() == 1) return chain(parts_of(members[0]), piece.begin, piece.end, piece);
  const auto packed = [&](const std::vector<Progress>& at) { return at[bucket].flat.defined(); };
  if (std::all_of(at_.begin(), at_.end(), packed)) {
    Tensors parts;
    for (const std::vector<Progress>& at : at_) parts.push_back(at[bucket].flat);
    return chain(parts, 0, piece.end, piece);
  }
  for (std::vector<Progress>& at : at_) at[bucket].flat = Tensor();
  for (const size_t i : members) chain(parts_of(i), 0, replicas_.originals()[i].numel(), piece);
}

// Adds those elements of each part to the one before it that is defined.
void GradientSums::chain(const Tensors& parts, int64_t begin, int64_t end,
                         const Buckets::Piece& piece) {
  std::vector<size_t> present;
  for (size_t r = 0; r < count_; ++r)
    if (parts[r].defined()) present.push_back(r);
  if (present.size() < 2) return;
  const int64_t most = piece.most / parts[present[0]].element_size();
  for (int64_t at = begin; at < end; at += most) {
    const int64_t length = std::min(most, end - at);
    for (size_t k = present.size() - 1; k-- > 0;) {
      const size_t to = present[k], from = present[k + 1];
      Lane& lane = replicas_.lane(to);
      const Lane& source = replicas_.lane(from);
      lane.sum_after(piece.computed[to]);
      const TimelineScope scope(timeline_, "reduce", to, lane.sums());
      lane.add(raw::narrow(parts[to], 0, at, length), raw::narrow(parts[from], 0, at, length),
               from == present.back() ? piece.computed[from] : source.summed(), source);
    }
  }
  if (end == parts[present[0]].numel()) expect_sum(parts[present[0]], present[0]);
}

// An optimizer begins with the layers whose sums are there, while the last ones are added up.
void GradientSums::expect_sum(const Tensor& sum, size_t replica) {
  const Lane& lane = replicas_.lane(replica);
  if (!lane.sums()) return;
  const StoragePtr& memory = sum.impl().storage;
  cuda::record_stream(memory, *lane.sums());
  memory->expect(lane.sums_arrive());
}

void GradientSums::settle() {
  for (size_t r = 0; r < count_; ++r)
    for (size_t reader = 0; reader <= r; ++reader)
      if (r > 0) replicas_.lane(reader).lead_compute(replicas_.devices()[r]);
}

Tensors GradientSums::take() {
  Tensors out(wanted_.size());
  for (size_t b = 0; b < buckets_.size(); ++b) {
    int64_t at = 0;
    const Tensor& flat = at_[0][b].flat;
    for (const size_t i : buckets_[b].members) {
      if (flat.defined()) {
        const Tensor& x = replicas_.originals()[i];
        out[i] = *raw::try_view(raw::narrow(flat, 0, at, x.numel()), x.sizes());
        at += x.numel();
        continue;
      }
      for (size_t r = 0; r < count_ && !out[i].defined(); ++r) out[i] = std::move(grads_[r][i]);
    }
  }
  return out;
}

}  // namespace gradus::nn::parallel
