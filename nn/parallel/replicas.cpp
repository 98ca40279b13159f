// Making replicas, and broadcasting what has changed since the last forward.
#include "gradus/nn/parallel/replicas.h"

#include <algorithm>
#include <optional>
#include <typeinfo>
#include <utility>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/nn/parallel/broadcast.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::nn::parallel {

namespace {

// A tensor for each name: a clone has one of its own for each name of a shared one.
Tensors tensors_of(const Module& module) {
  Tensors all = module.named_parameters().values();
  for (Tensor& buffer : module.named_buffers().values()) all.push_back(std::move(buffer));
  return all;
}

bool same_kind(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type();
}

// The strides of copies: those of x where its elements lie without gaps, so that both have one
// order in memory.
Dims strides_of_copy(const Tensor& x) {
  return x.is_non_overlapping_and_dense() ? x.impl().strides : contiguous_strides(x.sizes());
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
    : original_(std::move(original)), devices_(std::move(devices)) {
  clone_all();
}

void Replicas::clone_all() {
  modules_.clear();
  tensors_.clear();
  seen_.clear();
  for (const Device device : devices_) {
    const auto copy = original_->clone(device);
    const Module &a = *copy, &b = *original_;
    check<Error>(typeid(a) == typeid(b), "DataParallel: clone() of ", b.name(), " returned a ",
                 a.name(), "; derive it from nn::Cloneable<", b.name(), ">");
    modules_.push_back(copy);
    tensors_.push_back(tensors_of(a));
    // Broadcast::record() gives them the requires_grad of the originals.
    for (const Tensor& x : tensors_.back()) x.set_requires_grad(false);
  }
}

// Gives the replicas' tensors the shapes and dtypes of the originals.
void Replicas::match_memory() {
  const NoGradGuard guard;
  for (size_t r = 0; r < devices_.size(); ++r)
    for (size_t i = 0; i < originals_.size(); ++i) {
      const Tensor &x = originals_[i], &copy = tensors_[r][i];
      if (r < first_copied_ && !(Seen(x).still(copy) && same_kind(copy, x)))
        copy.set_data(raw::alias(x));
      const Dims strides = strides_of_copy(x);
      if (r >= first_copied_ && !(same_kind(copy, x) && copy.strides() == strides))
        copy.set_data(raw::alias(raw::empty(x.sizes(), x.scalar_type(), devices_[r]),
                                 x.impl().sizes, strides));
    }
}

// Small neighbours of one dtype go together, as each message between GPUs costs some calls.
size_t Replicas::end_of_group(size_t begin) const {
  const bool messages = std::ranges::any_of(devices_, [](Device d) { return d.is_cuda(); });
  size_t end = begin + 1, bytes = originals_[begin].nbytes();
  for (; messages && end < originals_.size() && end != buffers_at_; ++end) {
    bytes += originals_[end].nbytes();
    if (bytes > most_message_bytes || originals_[end].dtype() != originals_[begin].dtype()) break;
  }
  return end;
}

void Replicas::update() {
  originals_ = tensors_of(*original_);
  buffers_at_ = original_->named_parameters().size();
  const Device home = originals_.empty() ? devices_[0] : originals_[0].device();
  for (const Tensor& x : originals_)
    check<Error>(x.device() == home, "DataParallel: the module has parameters or buffers on ", home,
                 " and on ", x.device(), "; move it to one device with to()");
  const size_t first = home == devices_[0] ? 1 : 0;
  const bool moved = std::exchange(first_copied_, first) != first;
  if (moved || modules_.empty() || tensors_[0].size() != originals_.size()) clone_all();
  match_memory();
  used_ = devices_;
  used_.push_back(home);
  std::vector<bool> fresh;
  for (size_t i = 0; i < originals_.size(); ++i) {
    fresh.push_back(seen_.empty() || !seen_[i].still(originals_[i]));
    for (size_t r = first; r < devices_.size() && !fresh[i]; ++r)
      fresh[i] = !copies_[r][i].still(tensors_[r][i]);
  }
  std::optional<SideStreams> streams;
  for (size_t begin = 0, end; begin < originals_.size(); begin = end) {
    end = end_of_group(begin);
    const auto group = [&](const Tensors& list) {
      return ArrayRef<Tensor>(list).slice(begin, end - begin);
    };
    Broadcast broadcast{group(originals_), {}};
    for (const Tensors& of_replica : tensors_) broadcast.copies.push_back(group(of_replica));
    broadcast.record();
    const auto from = fresh.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = fresh.begin() + static_cast<std::ptrdiff_t>(end);
    if (std::find(from, to, true) == to) continue;
    const NoGradGuard guard;
    if (!streams) streams.emplace(used_);
    // A forward may change its buffers meanwhile.
    for (Tensor& x : broadcast.send(first, begin < buffers_at_)) held_.push_back(std::move(x));
  }
  seen_.assign(originals_.begin(), originals_.end());
  copies_.resize(devices_.size());
  for (size_t r = first; r < devices_.size(); ++r) {
    // A graph of an earlier forward has saved other values of them.
    for (size_t i = 0; i < fresh.size(); ++i)
      if (fresh[i]) tensors_[r][i].impl().storage->bump_version();
    copies_[r].assign(tensors_[r].begin(), tensors_[r].end());
  }
}

void Replicas::settle() {
  if (!held_.empty()) SideStreams::join(used_);
  held_.clear();
}

void Replicas::match_training(size_t replica) {
  const auto from = original_->modules(), to = modules_[replica]->modules();
  for (size_t i = 0; i < std::min(from.size(), to.size()); ++i)
    if (to[i]->is_training() != from[i]->is_training()) to[i]->train(from[i]->is_training());
}

}  // namespace gradus::nn::parallel
