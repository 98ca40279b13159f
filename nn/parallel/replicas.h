// The copies of a module, one for each device, that are kept and brought up to date.
#pragma once

#include <memory>
#include <vector>

#include "gradus/nn/module.h"
#include "gradus/nn/parallel/lane.h"

namespace gradus::nn::parallel {

// The tensors of replica 0, where the original is on the first device, share the memory of the
// original's, so that what it does to its buffers stays. Those of any other replica lie in one
// block of memory, in the order of registration: they are filled from replica to replica in few
// large copies, and only where the original, or the copy itself, has changed since.
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

  // Looks what has to be copied for every replica to have the values of the original, which are
  // those that the current streams' work leaves by here. Errors: Error where the original's tensors
  // are on several devices.
  void find_changes();
  // Copies it. Work that uses the values, on the current streams, waits for those that it uses.
  void copy_changes();
  // To be called when the work that reads the replicas has been queued: what is queued on the
  // current streams from here on may change what was copied.
  void settle();
  // Gives one replica, and each of its parts, the original's training flag.
  void match_training(size_t replica);
  // The next find_changes() clones the original anew.
  void forget() { modules_.clear(); }

 private:
  // What a tensor was when it was last looked at.
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
  // Of tensors that are due, neighbours that travel together.
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
