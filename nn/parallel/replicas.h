// Replicas: the copies of a module, one for each device, which are kept and updated.
#pragma once

#include <memory>
#include <vector>

#include "gradus/nn/module.h"

namespace gradus::nn::parallel {

// Up to how many bytes of neighbouring tensors go in one message to a GPU. Tests set less.
inline constinit size_t most_message_bytes = size_t{32} << 20;

// Where the original is on the first device, replica 0 shares its memory, so changes of buffers in
// it stay. Others are copied where the original or the copy has changed since the last update.
class Replicas {
 public:
  // Errors: those of Module::clone; Error where it returns another class.
  Replicas(std::shared_ptr<Module> original, std::vector<Device> devices);

  Module& module(size_t replica) { return *modules_[replica]; }

  // Broadcasts parameters and buffers of the original. Later work waits for those that it uses.
  // Errors: Error where the original's tensors are on several devices.
  void update();
  // Makes later work on the current streams wait for the copies, so that it may change their
  // sources. REQUIRES: the work that reads the replicas has been queued.
  void settle();
  // Gives one replica and its submodules the training flags of the original.
  void match_training(size_t replica);
  // Makes the next update() clone the original again.
  void forget() { modules_.clear(); }

 private:
  struct Seen {  // the state of a tensor at the last look
    std::weak_ptr<StorageImpl> storage;
    uint32_t version;
    int64_t offset;
    Dims strides;
    Seen(const Tensor& x);  // NOLINT: lists of tensors convert
    bool still(const Tensor& x) const;
  };

  void clone_all();
  void match_memory();
  // The end of the tensors from `begin` on that are sent together.
  size_t end_of_group(size_t begin) const;

  std::shared_ptr<Module> original_;
  std::vector<Device> devices_, used_;  // used_: with that of the original
  size_t first_copied_ = 0;             // 1 where replica 0 shares the original's memory
  std::vector<std::shared_ptr<Module>> modules_;
  Tensors originals_;                      // parameters, then buffers
  size_t buffers_at_ = 0;                  // of them, the first one
  std::vector<Tensors> tensors_;           // by replica, in the same order
  std::vector<Seen> seen_;                 // the originals
  std::vector<std::vector<Seen>> copies_;  // the tensors of each replica
  Tensors held_;                           // until settle()
};

}  // namespace gradus::nn::parallel
