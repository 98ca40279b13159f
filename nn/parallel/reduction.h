// Adding up the gradients of the replicas while their backward passes go on.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "gradus/nn/parallel/replicas.h"
#include "gradus/nn/parallel/timeline.h"

namespace gradus::nn::parallel {

// Which gradients travel together: those that the backward pass completes one after the other, of
// one dtype, up to Lane::kPieceBytes; a larger one travels alone. Until a backward pass has shown
// the order it is guessed: that of registration, backwards.
class Buckets {
 public:
  using Bucket = std::vector<size_t>;
  // Of the tensors that are wanted, by their index. Made anew where these are others than before.
  const std::vector<Bucket>& of(const Tensors& tensors, const std::vector<bool>& wanted);
  // The order in which a backward pass completed all of them. The first one counts.
  void learn(const std::vector<size_t>& order);

 private:
  std::vector<Bucket> buckets_;
  std::vector<bool> wanted_;
  std::vector<size_t> order_;
  bool learned_ = false;
};

// One backward pass. Replica r reports its gradients from its own thread; who completes a bucket as
// the last one sends it along the chain (reduce_tree.h).
class Reduction {
 public:
  // Of the first `count` replicas. timeline: may be null.
  Reduction(Replicas& replicas, size_t count, Buckets& buckets, std::vector<bool> wanted,
            Timeline* timeline);

  // REQUIRES: on the thread of the replica. Errors: Error where it comes a second time.
  void report(size_t replica, size_t index, Tensor grad);
  // The replica reports nothing more: what is left got no gradient.
  void end(size_t replica);
  // The work of the lanes comes before what is queued on the current streams from here on. To be
  // called before any gradient is freed.
  void settle();
  // The sum of each tensor's gradients: undefined where it was not wanted, or none was reported.
  Tensors sums();

 private:
  void complete(size_t replica, size_t bucket);
  void send(size_t bucket);
  void chain(std::vector<Tensor> parts);

  Replicas& replicas_;
  size_t count_;
  Buckets& plan_;
  Timeline* timeline_;
  std::vector<bool> wanted_;
  const std::vector<Buckets::Bucket>& buckets_;
  std::vector<size_t> bucket_of_;                   // by index
  std::vector<Tensors> grads_;                      // by replica and index
  std::vector<std::vector<bool>> reported_;         // likewise
  std::vector<std::vector<size_t>> left_;           // by replica and bucket
  std::vector<Tensors> flat_;                       // by replica and bucket; undefined: not packed
  std::vector<std::vector<cuda::Event>> computed_;  // by bucket and replica: all of it is there
  std::vector<std::atomic<size_t>> arrived_;        // replicas that have completed each bucket
  std::vector<size_t> order_;                       // in which replica 0 reported
  std::mutex lanes_mutex_;
};

}  // namespace gradus::nn::parallel
