// The machinery of DataParallel: Engine holds replicas and threads, Forward runs one forward pass.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "gradus/cuda/runtime/peer.h"
#include "gradus/nn/parallel/gradient_sums.h"
#include "gradus/nn/parallel/replica_threads.h"
#include "gradus/nn/parallel/timeline.h"

namespace gradus::nn::parallel {

struct ForwardGraph;

// The graphs of forwards keep it alive. Forwards and backward passes of several threads take turns.
struct Engine {
  Engine(std::shared_ptr<Module> module, std::vector<Device> devices, Device output, int64_t along)
      : replicas(std::move(module), devices),
        threads(std::move(devices)),
        output_device(output),
        dim(along) {}

  Replicas replicas;
  ReplicaThreads threads;
  Buckets buckets;
  Device output_device;
  int64_t dim;
  std::unique_ptr<Timeline> timeline;  // null: none is wanted
  std::mutex mutex;                    // guards all of it
};

// One forward of all replicas. Its functions are called in the order of their declaration.
class Forward {
 public:
  // Splits the inputs among the replicas. Without inputs, `replicas` replicas run.
  // Errors: ValueError where the inputs do not split into the same number of parts.
  Forward(std::shared_ptr<Engine> engine, const Tensors& inputs, size_t replicas);

  size_t replicas() const { return count_; }
  // Calls f(i, parts) for each replica i, on its thread and with its parts of the inputs.
  // Errors: those of f, as ReplicaThreads::run says.
  void run(const std::function<void(size_t, const Tensors&)>& f);
  // Joins the results of the replicas on the output device, and records their history. A column
  // holds the tensors that stand at one place of each replica's result. Errors: those of
  // parallel::gather; ValueError where a tensor is undefined in some replicas only.
  Tensors gather(const std::vector<Tensors>& columns);

 private:
  void attach(size_t replica, Tensors& parts);

  std::shared_ptr<Engine> engine_;
  std::unique_lock<std::mutex> lock_;
  struct Settled {
    Replicas& replicas;
    ~Settled() { replicas.settle(); }
  } settled_;  // also where a step fails
  cuda::CopiesAtOnce copies_;
  size_t count_;
  std::vector<Tensors> parts_;           // by input and replica
  std::shared_ptr<ForwardGraph> graph_;  // null: nothing is recorded
};

}  // namespace gradus::nn::parallel
