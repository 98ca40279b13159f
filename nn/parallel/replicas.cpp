// Making replicas, and copying what has changed since the last forward.
#include "gradus/nn/parallel/replicas.h"

#include <algorithm>
#include <typeinfo>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/cuda/runtime/peer.h"
#include "gradus/nn/parallel/timeline.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/storage_slice.h"

namespace gradus::nn::parallel {

namespace {

constexpr int64_t kAlignment = 256;  // of a tensor in a block, as CUDA aligns memory

int64_t bytes_of(const Tensor& x) { return static_cast<int64_t>(x.nbytes()); }

// The bytes of a contiguous tensor in one dimension.
Tensor as_bytes(const Tensor& x) { return raw::view(*raw::try_view(x, {x.numel()}), kByte); }

bool same_kind(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type();
}

void match(const Module& from, Module& to) {
  if (to.is_training() != from.is_training()) to.train(from.is_training());
  const auto parts = from.children(), copies = to.children();
  for (size_t i = 0; i < std::min(parts.size(), copies.size()); ++i) match(*parts[i], *copies[i]);
}

}  // namespace

Replicas::Seen::Seen(const Tensor& x)
    : storage(x.impl().storage),
      version(x.impl().storage->version()),
      offset(x.storage_offset()),
      strides(x.impl().strides) {}

bool Replicas::Seen::still(const Tensor& x) const {
  return storage.lock() == x.impl().storage && version == x.impl().storage->version() &&
         offset == x.storage_offset() && IntArrayRef(strides) == x.strides();
}

Replicas::Replicas(std::shared_ptr<Module> original, std::vector<Device> devices)
    : original_(std::move(original)), devices_(std::move(devices)), source_(kCPU) {
  for (const Device device : devices_) lanes_.emplace_back(device);
  clone_all();
}

Tensors Replicas::tensors_of(const Module& module) const {
  Tensors all = module.parameters();
  for (Tensor& buffer : module.buffers()) all.push_back(std::move(buffer));
  return all;
}

Device Replicas::home() const {
  const Tensors all = tensors_of(*original_);
  if (all.empty()) return devices_[0];
  for (const Tensor& x : all)
    check<Error>(x.device() == all[0].device(),
                 "DataParallel: the module has parameters or buffers on ", all[0].device(),
                 " and on ", x.device(), "; move it to one device with to()");
  return all[0].device();
}

void Replicas::clone_all() {
  modules_.clear();
  tensors_.clear();
  for (const Device device : devices_) {
    const auto copy = original_->clone(device);
    const Module &a = *copy, &b = *original_;
    check<Error>(typeid(a) == typeid(b), "DataParallel: clone() of ", b.name(), " returned a ",
                 a.name(), "; derive it from nn::Cloneable<", b.name(), ">");
    modules_.push_back(copy);
    tensors_.push_back(tensors_of(a));
    // Gradients come by the sinks that a forward attaches.
    for (const Tensor& x : tensors_.back()) x.set_requires_grad(false);
  }
  places_.clear();
}

bool Replicas::fits_layout() const {
  if (places_.size() != originals_.size() || (places_.empty() && blocks_.empty())) return false;
  for (const Tensors& copies : tensors_)
    for (size_t i = 0; i < originals_.size(); ++i)
      if (!same_kind(copies[i], originals_[i])) return false;
  return true;
}

// Gives the tensors of all copies their places.
void Replicas::lay_out() {
  places_.clear();
  blocks_.clear();
  copies_.clear();
  seen_.clear();
  reach_ = true;
  for (size_t r = first_copied_; r < size(); ++r) {
    const Device from = r > first_copied_ ? devices_[r - 1] : source_.device();
    reach_ = reach_ && from.is_cuda() && devices_[r].is_cuda() &&
             cuda::enable_peer_access(devices_[r].index(), from.index());
  }
  int64_t end = 0;
  for (const Tensor& x : originals_) {
    places_.push_back(end);
    end += (bytes_of(x) + kAlignment - 1) / kAlignment * kAlignment;
  }
  for (size_t r = 0; r < size(); ++r) {
    copies_.emplace_back();
    blocks_.push_back(raw::empty({r < first_copied_ ? 0 : end}, kByte, devices_[r]));
    if (r < first_copied_) continue;
    raw::fill_(blocks_[r], 0);
    for (size_t i = 0; i < originals_.size(); ++i) {
      const Tensor& x = originals_[i];
      auto slice =
          std::make_shared<StorageSlice>(blocks_[r].impl().storage, places_[i], x.nbytes());
      tensors_[r][i].set_data(raw::over_storage(std::move(slice), x.sizes(), x.scalar_type()));
      copies_[r].emplace_back(tensors_[r][i]);
    }
  }
}

void Replicas::share_first() {
  for (size_t i = 0; first_copied_ > 0 && i < originals_.size(); ++i)
    if (!Seen(originals_[i]).still(tensors_[0][i]) || !same_kind(originals_[i], tensors_[0][i]))
      tensors_[0][i].set_data(raw::alias(originals_[i]));
}

bool Replicas::changed(size_t i) const {
  if (seen_.empty() || !seen_[i].still(originals_[i])) return true;
  for (size_t r = first_copied_; r < size(); ++r)
    if (!copies_[r][i].still(tensors_[r][i])) return true;
  return false;
}

// In the order of the tensors; but one that follows a large one goes before it, as a bias, without
// which a layer does not begin with the first terms of its weight.
std::vector<Replicas::Run> Replicas::runs() const {
  const auto bytes_until = [&](size_t first, size_t last) {
    return places_[last] + bytes_of(originals_[last]) - places_[first];
  };
  const auto is_large = [&](const Run& run) {
    return bytes_until(run.first, run.last) > piece_bytes.most;
  };
  std::vector<Run> out;
  for (const size_t i : due_) {
    const bool fits = !out.empty() && i == out.back().last + 1 &&
                      bytes_until(out.back().first, i) <= piece_bytes.most;
    if (fits)
      out.back().last = i;
    else
      out.push_back({i, i});
  }
  for (size_t k = 1; k < out.size(); ++k)
    if (is_large(out[k - 1]) && !is_large(out[k])) std::swap(out[k - 1], out[k]);
  return out;
}

// The bytes of a run: one tensor's own, or copies beside one another. A forward may change its
// buffers while they travel, so these are always copied.
Tensor Replicas::bytes_of_run(const Run& run) {
  const auto [first, last] = run;
  if (first == last && first < buffers_at_ && originals_[first].is_contiguous())
    return as_bytes(originals_[first]);
  const int64_t begin = places_[first], end = places_[last] + bytes_of(originals_[last]);
  const Tensor bytes = raw::empty({end - begin}, kByte, source_.device());
  raw::fill_(bytes, 0);
  for (size_t i = first; i <= last; ++i) {
    const Tensor& x = originals_[i];
    if (x.numel() == 0) continue;
    const Tensor place = raw::narrow(bytes, 0, places_[i] - begin, bytes_of(x));
    raw::copy_(*raw::try_view(raw::view(place, x.scalar_type()), x.sizes()), x);
  }
  staged_.push_back(bytes);
  source_.follow_compute();
  return bytes;
}

// A large matrix of wide rows travels some columns after the other: a product goes on from term to
// term as they come (cuda/ops/matmul.cu). Anything else is one row.
int64_t Replicas::rows_of_run(const Run& run) const {
  constexpr int64_t kFewestPieces = 4;
  const Tensor& x = originals_[run.first];
  const bool large = run.first == run.last && bytes_of(x) > piece_bytes.most;
  if (!reach_ || !large || x.dim() != 2) return 1;
  return bytes_of(x) / x.size(0) >= kFewestPieces * piece_bytes.narrowest ? x.size(0) : 1;
}

// From one replica to the next, in pieces.
void Replicas::copy_run(const Run& run) {
  const Tensor bytes = bytes_of_run(run);
  const int64_t rows = rows_of_run(run), row_bytes = bytes.numel() / rows;
  const auto matrix = [&](const Tensor& x) { return *raw::try_view(x, {rows, row_bytes}); };
  std::vector<std::vector<Arrival::Part>> parts(size());  // by replica
  int64_t end = 0;
  while (end < row_bytes) {
    const int64_t begin = end;
    const int64_t most = sent_ < piece_bytes.of_first ? piece_bytes.first : piece_bytes.most;
    const int64_t narrowest = piece_bytes.narrowest;
    const int64_t width = std::max(most / rows / narrowest, int64_t{1}) * narrowest;
    end = std::min(begin + width, row_bytes);
    sent_ += rows * (end - begin);
    Tensor piece = raw::narrow(matrix(bytes), 1, begin, end - begin);
    const Lane* from = &source_;
    for (size_t r = first_copied_; r < size(); ++r) {
      const Tensor place = raw::narrow(blocks_[r], 0, places_[run.first], bytes.numel());
      const Tensor copy = raw::narrow(matrix(place), 1, begin, end - begin);
      lanes_[r].copy(copy, piece, *from);
      piece = copy;
      from = &lanes_[r];
      if (const auto arrival = lanes_[r].copies_arrive())
        parts[r].push_back({static_cast<size_t>(end), arrival});
    }
  }
  // A forward begins while the parameters of its later layers are still on their way, and a layer
  // with the first terms of its sums.
  for (size_t r = first_copied_; r < size(); ++r) {
    if (parts[r].empty()) continue;
    std::shared_ptr<Arrival> arrival = parts[r].back().arrival;
    if (run.first == run.last && parts[r].size() > 1)
      arrival = std::make_shared<PartsArrival>(
          Arrival::Parts{static_cast<size_t>(row_bytes), std::move(parts[r])});
    for (size_t i = run.first; i <= run.last; ++i) tensors_[r][i].impl().storage->expect(arrival);
  }
}

void Replicas::find_changes() {
  const NoGradGuard guard;
  if (modules_.empty()) clone_all();
  originals_ = tensors_of(*original_);
  buffers_at_ = original_->parameters().size();
  if (originals_.size() != tensors_[0].size()) clone_all();
  const Device device = home();
  if (source_.device() != device) {
    source_ = Lane(device);
    places_.clear();
    blocks_.clear();
  }
  first_copied_ = device == devices_[0] ? 1 : 0;
  if (!fits_layout()) lay_out();
  share_first();
  due_.clear();
  for (size_t i = 0; i < originals_.size() && first_copied_ < size(); ++i)
    if (changed(i)) due_.push_back(i);
  if (due_.empty()) return;
  source_.follow_compute();
  for (Lane& lane : lanes_) lane.follow_compute();
}

void Replicas::copy_changes() {
  if (due_.empty()) return;
  const NoGradGuard guard;
  sent_ = 0;
  for (const Run& run : runs()) copy_run(run);
  seen_.clear();
  for (const Tensor& x : originals_) seen_.emplace_back(x);
  for (size_t r = first_copied_; r < size(); ++r) {
    for (const size_t i : due_) {
      // What a graph of an earlier forward has saved of it is another value.
      tensors_[r][i].impl().storage->bump_version();
      copies_[r][i] = Seen(tensors_[r][i]);
    }
  }
}

void Replicas::settle() {
  for (size_t r = first_copied_; r < size(); ++r) {
    lanes_[r].lead_compute(devices_[r]);
    lanes_[r].lead_compute(r == first_copied_ ? source_.device() : devices_[r - 1]);
  }
  staged_.clear();
}

void Replicas::match_training(size_t replica) { match(*original_, *modules_[replica]); }

}  // namespace gradus::nn::parallel
