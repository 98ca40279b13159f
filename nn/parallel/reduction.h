// Adding up the gradients of the replicas while their backward passes go on.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "gradus/nn/parallel/replicas.h"
#include "gradus/nn/parallel/timeline.h"

namespace gradus::nn::parallel {

// Which gradients travel together: those that the backward pass completes one after the other, of
// one dtype, up to piece_bytes.most. A larger one travels alone; so does one that is cut, in the
// pieces in which it is computed (autograd/engine/pieces.h). Until a backward pass has shown the
// order it is guessed: that of registration, backwards.
class Buckets {
 public:
  struct Piece {
    int64_t begin, end;                 // elements of the bucket
    std::vector<cuda::Event> computed;  // by replica: this piece is there
    int64_t most = piece_bytes.most;    // bytes that travel at once
  };
  struct Bucket {
    std::vector<size_t> members;
    std::vector<Piece> pieces;
  };
  // Of the tensors that are wanted, by their index, for so many replicas. Made anew where others
  // are wanted than before.
  std::vector<Bucket>& of(const Tensors& tensors, const std::vector<bool>& wanted, size_t replicas);
  // The order in which a backward pass completed all of them. The first one counts.
  void learn(const std::vector<size_t>& order);

 private:
  void cut(const Tensors& tensors, size_t replicas);

  std::vector<Bucket> buckets_;
  std::vector<bool> wanted_;
  std::vector<size_t> order_;
  bool learned_ = false;
};

// One backward pass. Replica r reports its gradients from its own thread; who completes a piece of
// a bucket as the last one sends it along the chain (reduce_tree.h).
class Reduction {
 public:
  // Of the first `count` replicas. timeline: may be null.
  Reduction(Replicas& replicas, size_t count, Buckets& buckets, std::vector<bool> wanted,
            Timeline* timeline);

  // REQUIRES: on the thread of the replica. Errors: Error where it comes a second time.
  void report(size_t replica, size_t index, Tensor grad);
  // The first rows of what is going to be reported, as Node::rows_ready says.
  void report_rows(size_t replica, size_t index, const Tensor& grad, int64_t end);
  // The replica reports nothing more: what is left got no gradient.
  void end(size_t replica);
  // The work of the lanes comes before what is queued on the current streams from here on, but for
  // that of the sums, which are awaited where their memory is used. To be called before any
  // gradient is freed.
  void settle();
  // The sum of each tensor's gradients: undefined where it was not wanted, or none was reported.
  Tensors sums();

 private:
  // Of one bucket at one replica.
  struct Progress {
    size_t left = 0;    // gradients to be reported
    size_t pieces = 0;  // those that are there
    Tensor flat;        // all gradients in one; undefined: not packed
  };
  // How many replicas have each piece of a bucket.
  using Arrivals = std::vector<std::atomic<size_t>>;

  void complete(size_t replica, size_t bucket);
  void arrive(size_t replica, size_t bucket);
  void send(size_t bucket, const Buckets::Piece& piece);
  void chain(const Tensors& parts, int64_t begin, int64_t end, const Buckets::Piece& piece);
  void expect_sum(const Tensor& sum, size_t replica);

  Replicas& replicas_;
  size_t count_;
  Buckets& plan_;
  Timeline* timeline_;
  std::vector<bool> wanted_;
  std::vector<Buckets::Bucket>& buckets_;
  std::vector<size_t> bucket_of_;            // by index
  std::vector<Tensors> grads_;               // by replica and index
  std::vector<std::vector<bool>> reported_;  // likewise
  std::vector<std::vector<Progress>> at_;    // by replica and bucket
  std::vector<Arrivals> arrived_;            // by bucket
  std::vector<size_t> order_;                // in which replica 0 reported
  std::mutex lanes_mutex_;
};

}  // namespace gradus::nn::parallel
