// The backend of tensors on meta, which have no data: raw:: has found the shapes, and nothing is
// left to do.
#pragma once

#include "gradus/tensor/backend.h"

namespace gradus {

class MetaBackend : public Backend {
 public:
  StoragePtr allocate(size_t nbytes, Device device) override;
  Device resolve(Device device) override { return device; }
  void transfer(const Tensor& src, const Tensor& dst, bool) override;
  Tensor nonzero(const Tensor& x, IntArrayRef shape) override;

  void fill(const Tensor&, const Scalar&) override { skip("fill"); }
  void arange(const Tensor&, const Scalar&, const Scalar&) override { skip("arange"); }
  void copy(const Tensor&, const Tensor&) override { skip("copy"); }
  void cat(ArrayRef<Tensor>, int64_t, const Tensor&) override { skip("cat"); }
  void triangle(bool, int64_t, const Tensor&, const Tensor&) override { skip("triu"); }
  void random(Distribution, const Scalar&, const Scalar&, PhiloxState, const Tensor&) override {
    skip("random numbers");
  }
  void random_map(RandomMap, double, PhiloxState, const Tensor&, const Tensor&) override {
    skip("bernoulli");
  }
  void count(CountOp, PhiloxState, const Tensor&, const Tensor&, const Tensor&) override {
    skip("poisson");
  }
  void map(UnaryOp op, const Tensor&, const Tensor&) override { skip(name_of(op)); }
  void map_grad(UnaryOp op, const Tensor&, const Tensor&, const Tensor&, const Tensor&) override {
    skip(name_of(op));
  }
  void zip(BinaryOp op, const Operand&, const Operand&, const Tensor&) override {
    skip(name_of(op));
  }
  void zip3(TernaryOp op, const Tensor&, const Operand&, const Operand&, const Scalar&,
            const Tensor&) override {
    skip(name_of(op));
  }
  void where(const Tensor&, const Operand&, const Operand&, const Tensor&) override {
    skip("where");
  }
  void reduce(ReduceOp op, const Tensor&, const Tensor&) override { skip(name_of(op)); }
  void arg_reduce(bool, const Tensor&, int64_t, const Tensor&, const Tensor&) override {
    skip("max with indices");
  }
  void count_nonzero(const Tensor&, const Tensor&) override { skip("count_nonzero"); }
  void softmax(bool, const Tensor&, int64_t, const Tensor&) override { skip("softmax"); }
  void softmax_grad(bool, const Tensor&, const Tensor&, int64_t, const Tensor&) override {
    skip("softmax");
  }
  void cross_entropy(const CrossEntropyRule&, const Tensor&, const Tensor&, const Tensor&,
                     const Tensor&, const Tensor&) override {
    skip("cross_entropy");
  }
  void cross_entropy_grad(const CrossEntropyRule&, const Tensor&, const Tensor&, const Tensor&,
                          const Tensor&, const Tensor&) override {
    skip("cross_entropy");
  }
  void normalize(const NormalizedRows&, double, const Tensor&, const Tensor&, const Tensor&,
                 const Tensor&, const Tensor&, const Tensor&) override {
    skip("normalisations");
  }
  void moments(const NormalizedRows&, const Tensor&, const Tensor&, const Tensor&) override {
    skip("batch_norm");
  }
  void normalize_sums(const NormalizedRows&, const Tensor&, const Tensor&, const Tensor&,
                      const Tensor&, const Tensor&) override {
    skip("normalisations");
  }
  void normalize_grad(const NormalizedRows&, const Tensor&, const Tensor&, const Tensor&,
                      const Tensor&, const Tensor&, const Tensor&, const Tensor&) override {
    skip("normalisations");
  }
  void scan(ScanOp op, const Tensor&, int64_t, const Tensor&) override { skip(name_of(op)); }
  void arg_scan(bool, const Tensor&, int64_t, const Tensor&, const Tensor&) override {
    skip("cummax");
  }
  void sort(const Tensor&, int64_t, bool, const Tensor&, const Tensor&) override { skip("sort"); }
  void select(const Tensor&, int64_t, bool, int64_t, const Tensor&, const Tensor&) override {
    skip("topk");
  }
  void median(bool, const Tensor&, int64_t, const Tensor&, const Tensor&) override {
    skip("median");
  }
  void bisect(bool, const Tensor&, const Tensor&, const Tensor&) override { skip("searchsorted"); }
  void matmul(const Tensor&, const Tensor&, const Tensor&, const Tensor&) override {
    skip("matmul");
  }
  void convolution(ConvolutionPart, const Convolution&, const Tensor&, const Tensor&, const Tensor&,
                   const Tensor&) override {
    skip("convolution");
  }
  void max_pool(const Pool&, const Tensor&, const Tensor&, const Tensor&) override {
    skip("max_pool");
  }
  void max_pool_grad(const Pool&, const Tensor&, const Tensor&, const Tensor&) override {
    skip("max_pool");
  }
  void average_pool(const Pool&, const Tensor&, const Tensor&) override { skip("avg_pool"); }
  void average_pool_grad(const Pool&, const Tensor&, const Tensor&) override { skip("avg_pool"); }
  void attention(const Attention&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                 const Tensor&, const Tensor&) override {
    skip("scaled_dot_product_attention");
  }
  void gather(const IndexRule&, const Tensor&, int64_t, const Tensor&, const Tensor&) override {
    skip("indexing by tensors");
  }
  void scatter(ScatterOp, const IndexRule&, int64_t, const Tensor&, const Operand&,
               const Tensor&) override {
    skip("indexing by tensors");
  }
  void add_offsets(const IndexRule&, int64_t, const Tensor&, const Tensor&) override {
    skip("indexing by tensors");
  }
  Tensor masked_select(const Tensor& x, const Tensor&) override { return nonzero(x, {}); }
  void update(UpdateOp, int, ArrayRef<UpdatedParameter>) override { skip("an optimizer's step"); }

 protected:
  // Called in the place of an operation. Here: nothing.
  virtual void skip(const char*) {}
};

// What computes on meta in this thread: a MetaBackend, or the one that was put in its place.
MetaBackend& meta_backend();

// Puts a backend in the place of meta's in this thread, until the end of the scope.
class MetaGuard {
 public:
  explicit MetaGuard(MetaBackend& backend);
  ~MetaGuard();
  MetaGuard(const MetaGuard&) = delete;
  MetaGuard& operator=(const MetaGuard&) = delete;

 private:
  MetaBackend* previous_;
};

}  // namespace gradus
