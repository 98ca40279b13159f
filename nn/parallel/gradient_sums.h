// GradientSums: adds up the gradients of the replicas while their backward passes still run.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "gradus/nn/parallel/replicas.h"
#include "gradus/nn/parallel/timeline.h"

namespace gradus::nn::parallel {

// Which gradients are sent together: neighbours in the order in which the backward pass completes
// them, of one dtype, up to piece_bytes.most. A larger gradient is sent alone. So is one that is
// computed in pieces (autograd/engine/pieces.h): its pieces are sent. Before the first backward
// pass the order is taken to be the reverse of registration.
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
  // The buckets of the wanted tensors, for this many replicas; their members are indices in
  // `tensors`. They are made again where `wanted` differs from the last call.
  std::vector<Bucket>& of(const Tensors& tensors, const std::vector<bool>& wanted, size_t replicas);
  // Tells the order in which a backward pass completed all gradients. The first call counts.
  void learn(const std::vector<size_t>& order);

 private:
  void cut(const Tensors& tensors, size_t replicas);

  std::vector<Bucket> buckets_;
  std::vector<bool> wanted_;
  std::vector<size_t> order_;
  bool learned_ = false;
};

// The sums of one backward pass. Each replica reports its gradients from its own thread. The
// replica that completes a piece of a bucket last sends it along the chain (sum_in_chain.h).
class GradientSums {
 public:
  // Sums over the first `count` replicas. timeline: may be null.
  GradientSums(Replicas& replicas, size_t count, Buckets& buckets, std::vector<bool> wanted,
               Timeline* timeline);

  // Takes the gradient of tensor `index`. REQUIRES: called on the thread of the replica.
  // Errors: Error where that gradient was reported before.
  void report(size_t replica, size_t index, Tensor grad);
  // The first rows of a gradient that report() will get, as for RowReceiver::rows_ready.
  void report_rows(size_t replica, size_t index, const Tensor& grad, int64_t end);
  // The replica reports nothing more: its other tensors got no gradient.
  void end(size_t replica);
  // Makes later work on the current streams wait for the copies of the lanes. Sums are not waited
  // for here: their storages expect them. REQUIRES: called before any gradient is freed.
  void settle();
  // The sum of each tensor's gradients; undefined where it was not wanted or none was reported.
  Tensors take();

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
