// Reducer: averages the gradients of a model over the ranks of a group while backward() computes
// the others.
//
// A hook at each parameter copies its gradient into a bucket, unless it was computed there. A full
// bucket starts its all_reduce at once on the group's thread while the backward pass goes on. So
// does each piece of a large gradient, while the next piece is computed. Averages that are not in
// place are copied back at the end of the pass. Averages in place on a GPU are not waited for:
// their storages expect them, so an optimizer steps the first parameters while the last averages
// are sent. All ranks start the buckets in one order. The first step takes the reverse order of the
// parameters, which is close to the order of arrival. Later steps take the order of arrival at the
// group's first rank.
#pragma once

#include "gradus/autograd/engine/meta.h"
#include "gradus/distributed/ddp/buckets.h"
#include "gradus/distributed/process_group.h"
#include "gradus/nn/module.h"

namespace gradus::distributed {

class Reducer {
 public:
  struct Settings {
    size_t bucket_bytes;
    bool find_unused_parameters;
  };

  // parameters: those that require grad.
  Reducer(const OrderedDict<std::string, Tensor>& parameters, Group group, Settings settings);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  // Called before a forward pass: says whether the gradients of its backward pass are averaged, and
  // by which divisor (0: the number of ranks). Errors: Error where a parameter was moved or
  // converted.
  void prepare(bool average, int divisor);
  // Takes part in a step of the other ranks with gradients of zero.
  void shadow(int divisor);

  // The bytes of the buckets, in the order in which they start.
  std::vector<size_t> bucket_sizes() const;

 private:
  class Hook;
  struct Slot {
    std::string name;
    Tensor parameter;
    std::shared_ptr<AccumulateGrad> accumulator;  // that has the hook
    std::shared_ptr<Hook> hook;
    Dims sizes;
    ScalarType dtype;
    Device device;
    size_t bucket = 0;
    int64_t offset = 0;  // in the bucket
    bool seen = false;   // some rows, or all of it
    bool arrived = false;
  };

  void watch_gradients(size_t i);
  void assign(const std::vector<size_t>& order);
  void reset();
  void see(size_t i);
  void arrive(size_t i);
  void arrive_in_part(size_t i, const Tensor& grad, int64_t rows);
  void put(size_t i);
  Tensor memory_of(size_t i);
  Tensor make_flat(Bucket& bucket);
  Tensor found_flat(const Bucket& bucket) const;
  Tensor as_sent(const Bucket& bucket) const;
  void start_ready();
  void start_piece(Bucket& bucket);
  void finish();
  Tensor share_usage();
  bool is_in_place(const Bucket& bucket) const;
  void add_unused();
  void write_back(const Tensor& used);
  void rebuild();
  static Tensor place(const Slot& slot, const Tensor& flat);

  Group group_;
  Settings settings_;
  std::vector<Slot> slots_;
  StoragePtr shared_;  // for all buckets; null: each has memory of its own
  std::vector<Bucket> buckets_;
  std::vector<size_t> arrivals_;  // of the step that runs: in the order in which they were seen
  size_t next_bucket_ = 0;
  int divisor_ = 0;
  bool averages_ = true, running_ = false, rebuilt_ = false;
};

}  // namespace gradus::distributed
