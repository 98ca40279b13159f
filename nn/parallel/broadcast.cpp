// Sending tensors from replica to replica, and the sums of their gradients.
#include "gradus/nn/parallel/broadcast.h"

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/cuda/runtime/allocator.h"
#include "gradus/cuda/runtime/event.h"
#include "gradus/cuda/runtime/peer.h"
#include "gradus/nn/parallel/replica_threads.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::nn::parallel {

Tensor sum_in_chain(ArrayRef<Tensor> parts) {
  Tensor sum;
  for (size_t i = parts.size(); i-- > 0;)
    if (const Tensor& part = parts[i]; part.defined())
      sum = sum.defined() ? part + sum.to(part.device()) : part.clone();
  return sum;
}

namespace {

// The elements of x in their order in memory. A copy where they lie with gaps.
Tensor memory_of(const Tensor& x) {
  const Tensor dense = x.is_non_overlapping_and_dense() ? x : raw::contiguous(x);
  return raw::alias(dense, {x.numel()}, {1});
}

// dst = src on the current stream of dst's device. The stream of src does not wait, so it can send
// on.
void copy_on(const Tensor& dst, const Tensor& src) {
  if (!dst.is_cuda() || !src.is_cuda() || dst.device() == src.device()) return raw::copy_(dst, src);
  const cuda::Stream stream = cuda::getCurrentCUDAStream(dst.device().index());
  cuda::Event there;
  there.record(cuda::getCurrentCUDAStream(src.device().index()));
  there.block(stream);
  cuda::copy_async(dst, src, stream);
}

// A gradient that nobody changes while it is added.
Tensor own(Tensor grad) {
  const StoragePtr& memory = grad.impl().storage;
  const bool sole = grad.impl_ptr().use_count() == 1 && memory.use_count() == 1;
  return grad.is_cpu() || (sole && cuda::is_allocated(memory)) ? std::move(grad) : raw::clone(grad);
}

// Gradients enter source by source, those of one in the order of the replicas.
class BroadcastBackward final : public Node {
 public:
  explicit BroadcastBackward(size_t replicas) : Node("BroadcastBackward"), replicas_(replicas) {
    run_first();
  }

 private:
  Tensors apply(Tensors&& grads) override;
  // One sum for each source.
  Tensors sums(ArrayRef<Tensor> grads) const {
    Tensors out;
    for (size_t i = 0; i < grads.size(); i += replicas_)
      out.push_back(sum_in_chain(grads.slice(i, replicas_)));
    return out;
  }
  // The same by one sum of all. REQUIRES: all gradients are defined.
  Tensors sums_at_once(ArrayRef<Tensor> grads) const {
    Tensors joined, out;
    for (size_t r = 0; r < replicas_; ++r) {
      Tensors of_replica;
      for (size_t i = r; i < grads.size(); i += replicas_)
        of_replica.push_back(memory_of(raw::contiguous(grads[i])));
      joined.push_back(raw::cat(of_replica, 0));
    }
    const Tensor sum = sum_in_chain(joined);
    int64_t begin = 0;
    for (size_t i = 0; i < grads.size(); i += replicas_) {
      const Tensor part = raw::narrow(sum, 0, begin, grads[i].numel());
      out.push_back(raw::clone(*raw::try_view(part, grads[i].sizes())));
      begin += part.numel();
    }
    return out;
  }

  size_t replicas_;
};

Tensors BroadcastBackward::apply(Tensors&& grads) {
  check<Error>(!ReplicaThreads::is_replica(),
               "DataParallel: a backward pass has reached a replica's parameter from within the "
               "module's forward; differentiate what DataParallel returns instead");
  if (GradMode::is_enabled()) return sums(grads);
  std::vector<Device> devices;
  for (Tensor& grad : grads) {
    if (!grad.defined()) continue;
    grad = own(std::move(grad));
    devices.push_back(grad.device());
  }
  const SideStreams streams(devices);
  for (const Tensor& grad : grads)
    if (grad.defined()) streams.use(grad);
  const bool at_once = num_outputs() > 1 && devices.size() == grads.size();
  Tensors out = at_once ? sums_at_once(grads) : sums(grads);
  for (const Tensor& sum : out) {
    if (!sum.defined()) continue;
    streams.use(sum);
    SideStreams::deliver({&sum, 1});
  }
  return out;
}

}  // namespace

Tensors Broadcast::send(size_t first, bool stays) const {
  // A replica may change its buffers while they are sent, so these are copied first.
  const bool as_it_lies = stays && sources.size() == 1;
  Tensors held;
  if (as_it_lies) {
    held.push_back(memory_of(sources[0]));
  } else {
    Tensors parts;
    for (const Tensor& x : sources) parts.push_back(memory_of(x));
    held.push_back(raw::cat(parts, 0));
    if (!stays) SideStreams::deliver(sources);
  }
  for (size_t r = first; r < copies.size(); ++r) {
    const Tensor from = held.back(), &copy = copies[r][0];
    held.push_back(as_it_lies ? memory_of(copy)
                              : raw::empty(from.sizes(), from.scalar_type(), copy.device()));
    copy_on(held.back(), from);
    int64_t begin = 0;
    for (size_t i = 0; i < copies[r].size() && !as_it_lies; begin += copies[r][i++].numel())
      raw::copy_(memory_of(copies[r][i]), raw::narrow(held.back(), 0, begin, copies[r][i].numel()));
    SideStreams::deliver(copies[r]);
  }
  return held;
}

void Broadcast::record() const {
  if (!GradMode::is_enabled()) return;
  const auto node = make_node<BroadcastBackward>(copies.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    const bool goes_on = in_graph(sources[i]);
    if (goes_on) node->add_next_edge(gradient_edge(sources[i]));
    for (const ArrayRef<Tensor>& of_replica : copies) {
      const Tensor& copy = of_replica[i];
      if (goes_on)
        set_history(copy, node, node->add_input_metadata(copy));
      else if (copy.requires_grad())
        copy.detach_();
    }
  }
}

}  // namespace gradus::nn::parallel
