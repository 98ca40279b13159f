// What DataParallel does whatever the class of its module: replicas, threads, one forward, and the
// node that is its backward.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "gradus/cuda/runtime/peer.h"
#include "gradus/nn/parallel/crew.h"
#include "gradus/nn/parallel/reduction.h"
#include "gradus/nn/parallel/timeline.h"

namespace gradus::nn::parallel {

struct ForwardGraph;

// Outlives the graphs of its forwards. Forwards and backward passes of several threads take turns.
struct Engine {
  Engine(std::shared_ptr<Module> module, std::vector<Device> devices, Device output, int64_t along)
      : replicas(std::move(module), devices),
        crew(std::move(devices)),
        output_device(output),
        dim(along) {}

  Replicas replicas;
  Crew crew;
  Buckets buckets;
  Device output_device;
  int64_t dim;
  std::unique_ptr<Timeline> timeline;  // null: none is wanted
  std::mutex mutex;                    // of whoever uses any of it
};

// One forward of all replicas: the steps in their order.
class Forward {
 public:
  // Shares the inputs out. Without any, `replicas` of them run.
  // Errors: ValueError where the inputs do not fall into the same number of parts.
  Forward(std::shared_ptr<Engine> engine, const Tensors& inputs, size_t replicas);

  size_t replicas() const { return count_; }
  // Calls f(i, parts) for each replica on its thread, with its parts of the inputs.
  // Errors: those of f, as Crew::run says.
  void run(const std::function<void(size_t, const Tensors&)>& f);
  // What the replicas have returned in one place of their results, on the output device, with its
  // history. Errors: those of parallel::gather; ValueError where one is undefined in some alone.
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
