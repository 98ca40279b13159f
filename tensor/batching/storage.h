// Batched tensors: a tensor of vmap has the sizes of one sample, and a storage that knows where the
// other samples lie. So views need no rule.
#pragma once

#include <vector>

#include "gradus/tensor/arrival.h"
#include "gradus/tensor/base/recycled.h"
#include "gradus/tensor/level.h"
#include "gradus/tensor/tensor.h"

namespace gradus::batching {

// The samples of one level: `stride` bytes apart.
struct Axis {
  int depth;
  int64_t size, stride;
};
using Axes = std::vector<Axis, Recycled<Axis>>;  // outer levels first

// The memory of a tensor that is made under vmap. It is allocated when somebody first writes: what
// is written says which levels its samples differ in. Where they do not differ it is memory as any
// other. REQUIRES: one thread uses it while its samples differ.
class BatchedStorage final : public StorageImpl, private Arrival {
 public:
  // Memory that a function of this depth makes.
  BatchedStorage(size_t nbytes, Device device, int depth);
  // The memory of another storage. borrowed: it belongs to an argument.
  BatchedStorage(StoragePtr base, Axes axes, int depth, bool borrowed);

  bool resizable() const override { return false; }
  // Null before the first write.
  const StoragePtr& base() const { return base_; }
  const Axes& axes() const { return axes_; }
  int depth() const { return depth_; }
  bool borrowed() const { return borrowed_; }
  // Takes this memory for its own. REQUIRES: it holds all samples.
  void give(StoragePtr base, Axes axes);
  // The memory, for samples that do not differ, where there is none yet.
  void ensure();

 private:
  // data() waits for this. Errors: NotBatched where samples differ.
  bool await() override;
  void expect_touch();

  StoragePtr base_;
  Axes axes_;
  int depth_;
  bool borrowed_ = false;
};

// Null for other storages.
BatchedStorage* batched(const Tensor& x);
// Where x differs between samples.
const Axes& axes_of(const Tensor& x);
// The deepest level that x belongs to: 0 for a tensor from outside of vmap.
int depth_of(const Tensor& x);
// The axes of both.
Axes merge(const Axes& a, const Axes& b);

// Places along axes, one for each.
struct Sample {
  const Axes& axes;
  const std::vector<int64_t>& places;
};
// x as a plain tensor: the axes are dimensions in front, then ones up to `rank`, then x's own.
// Along other axes it is this sample. An undefined x stays so.
Tensor physical(const Tensor& x, const Axes& axes, int64_t rank = 0, const Sample* at = nullptr);
// Makes `out` differ between samples along these axes. Errors: Error where it cannot, which names
// op: it comes from outside of a level.
void spread(const char* op, const Tensor& out, const Axes& axes);
// out = result, whose dimensions in front are the axes. Its memory is taken over where that is
// possible. REQUIRES: nobody else uses it; the axes are not empty.
void give(const char* op, const Tensor& out, const Axes& axes, const Tensor& result);

// x without dimension dim, whose places are the samples of this level; no dim: all samples are x.
// Shares x's memory, and has no graph. REQUIRES: 0 <= dim.
Tensor enter(const Level& level, const Tensor& x, std::optional<int64_t> dim);
// The converse: the samples stand along dim. REQUIRES: as enter.
Tensor leave(const Level& level, const Tensor& x, int64_t dim);
// x itself outside of the level. REQUIRES: it does not differ between samples.
Tensor leave_shared(const Level& level, const Tensor& x);

}  // namespace gradus::batching
