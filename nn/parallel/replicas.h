// Replicas: the copies of a module, one for each device, which are kept and updated.
#pragma once

#include <memory>
#include <vector>

#include "gradus/nn/module.h"
#include "gradus/nn/parallel/lane.h"

namespace gradus::nn::parallel {

// Where the original is on the first device, the tensors of replica 0 share its memory, so changes
// of buffers in replica 0 stay. The tensors of every other replica lie in one block of memory, in
// the order of registration. Few large copies from replica to replica fill them, and only where the
// original or the copy has changed since the last update.
class Replicas {
 public:
  // Errors: those of Module::clone; Error where it returns another class.
  Replicas(std::shared_ptr<Module> original, std::vector<Device> devices);

  size_t size() const { return devices_.size(); }
  const std::vector<Device>& devices() const { return devices_; }
  const std::shared_ptr<Module>& original() const { return original_; }
  Module& module(size_t replica) { return *modules_[replica]; }
  // The original's parameters, then its buffers, as of the last find_changes().
  const Tensors& originals() const { return originals_; }
  // In the same order.
  const Tensors& tensors(size_t replica) const { return tensors_[replica]; }
  Lane& lane(size_t replica) { return lanes_[replica]; }

  // Finds what has to be copied so that every replica has the values of the original after the work
  // that is queued on the current streams. Errors: Error where the original's tensors are on
  // several devices.
  void find_changes();
  // Copies it. Later work on the current streams waits for just those values that it uses.
  void copy_changes();
  // Makes later work on the current streams wait for the copies, so that it may change their
  // sources. REQUIRES: the work that reads the replicas has been queued.
  void settle();
  // Gives one replica and its submodules the training flags of the original.
  void match_training(size_t replica);
  // Makes the next find_changes() clone the original again.
  void forget() { modules_.clear(); }

 private:
  // The state of a tensor at the last look.
  struct Seen {
    std::weak_ptr<StorageImpl> storage;
    uint32_t version;
    int64_t offset;
    Dims strides;
    explicit Seen(const Tensor& x);
    bool still(const Tensor& x) const;
  };

  Tensors tensors_of(const Module& module) const;
  Device home() const;  // of the original
  void clone_all();
  bool fits_layout() const;
  void lay_out();
  void share_first();
  bool changed(size_t i) const;
  // Neighbours among the tensors to be copied, which are copied together.
  struct Run {
    size_t first, last;
  };
  std::vector<Run> runs() const;
  int64_t rows_of_run(const Run& run) const;
  Tensor bytes_of_run(const Run& run);
  void copy_run(const Run& run);

  std::shared_ptr<Module> original_;
  std::vector<Device> devices_;
  std::vector<Lane> lanes_;
  Lane source_;              // of the original
  bool reach_ = false;       // each lane's device the memory of the one before
  size_t first_copied_ = 0;  // 1 where replica 0 shares the original's memory
  std::vector<std::shared_ptr<Module>> modules_;
  Tensors originals_;
  size_t buffers_at_ = 0;                  // of them, the first one
  std::vector<size_t> due_;                // of them, which are to be copied
  std::vector<Tensors> tensors_;           // by replica
  std::vector<int64_t> places_;            // of each tensor in its block, in bytes
  Tensors blocks_;                         // by replica; bytes
  std::vector<Seen> seen_;                 // the originals
  std::vector<std::vector<Seen>> copies_;  // the tensors of each replica
  Tensors staged_;                         // until settle()
  int64_t sent_ = 0;                       // bytes of this update
};

}  // namespace gradus::nn::parallel
