// How functions of Backend run on batched tensors.
#pragma once

#include <vector>

#include "gradus/tensor/backend.h"
#include "gradus/tensor/batching/storage.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/contract.h"

namespace gradus::batching {

// An operand in the place of another one, which it outlives the call of.
struct HeldOperand {
  const Operand& given;
  Tensor tensor;
  operator Operand() const { return given.is_number() ? given : Operand(tensor); }  // NOLINT
};

// An argument for the backend below: f makes plain tensors of the tensors in it.
template <class F>
Tensor changed(const Tensor& x, int64_t, F f) {
  return f(x);
}
template <class F>
HeldOperand changed(const Operand& x, int64_t, F f) {
  return {x, x.is_number() ? Tensor() : f(*x.tensor)};
}
template <class F>
Tensors changed(const ArrayRef<Tensor>& list, int64_t, F f) {
  Tensors out;
  for (const Tensor& x : list) out.push_back(f(x));
  return out;
}
template <class F>
int64_t changed(const int64_t& dim, int64_t shift, F) {
  return dim + shift;
}
template <class F>
FourierTransform changed(const FourierTransform& how, int64_t shift, F) {
  FourierTransform out = how;
  for (int64_t& dim : out.dims) dim += shift;
  return out;
}
template <class T, class F>
const T& changed(const T& x, int64_t, F) {
  return x;
}

// The tensors among a call's arguments.
class Operands {
 public:
  template <class... A>
  explicit Operands(int results, const A&... args) {
    all_.reserve(sizeof...(args));
    (see(args), ...);
    first_result_ = all_.size() - std::min(static_cast<size_t>(results), all_.size());
  }
  // Where any of them differs between samples. An operand that nobody has written counts for none.
  Axes axes() const;
  ArrayRef<const Tensor*> results() const {
    return {all_.data() + first_result_, all_.size() - first_result_};
  }
  // Whether results that are contiguous are so with these axes in front.
  bool fill_memory(const Axes& axes) const;
  // Dimensions of the operand that has most.
  int64_t rank() const;

 private:
  void see(const Tensor& x) { all_.push_back(&x); }
  void see(const Operand& x) {
    if (x.tensor) all_.push_back(x.tensor);
  }
  void see(const ArrayRef<Tensor>& list) {
    for (const Tensor& x : list) all_.push_back(&x);
  }
  template <class T>
  void see(const T&) {}

  std::vector<const Tensor*> all_;
  size_t first_result_;
};

// Calls f with the places of each sample, in row-major order.
template <class F>
void for_samples(const Axes& axes, F f) {
  std::vector<int64_t> places(axes.size(), 0);
  for (;;) {
    f(places);
    size_t i = axes.size();
    while (i > 0 && ++places[i - 1] == axes[i - 1].size) places[--i] = 0;
    if (i == 0) return;
  }
}

// The axes of levels whose samples draw different numbers, row-major. REQUIRES: here().
Axes drawing_axes();
// The axes of `all` that are not in `some`.
Axes without(const Axes& all, const Axes& some);
// Says once for each operation that vmap calls it for one sample after the other.
void say_that_it_loops(const char* called);

// The functions whose rows say `special`: they return false where the call is none of theirs.
// REQUIRES: the axes are those of the operands, and some.
struct Special {
  const char* called;
  const Axes& axes;

  bool zip(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) const;
  bool matmul(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) const;
  bool convolution(ConvolutionPass part, const Convolution& shape, const Tensor& a, const Tensor& b,
                   const Tensor& bias, const Tensor& out) const;
  bool max_pool(const Pool& pool, const Tensor& x, const Tensor& values,
                const Tensor& indices) const;
  bool max_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& indices,
                     const Tensor& out) const;
  bool average_pool(const Pool& pool, const Tensor& x, const Tensor& out) const;
  bool average_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& out) const;
  bool searchsorted(bool right, const Tensor& list, const Tensor& values, const Tensor& out) const;
  bool cross_entropy(const CrossEntropyRule& rule, const Tensor& x, const Tensor& target,
                     const Tensor& weight, const Tensor& table, const Tensor& mean) const;
  bool cross_entropy_grad(const CrossEntropyRule& rule, const Tensor& grad, const Tensor& x,
                          const Tensor& target, const Tensor& rows, const Tensor& out) const;
  bool normalize(const NormalizedRows& rows, double eps, const Tensor& x, const Tensor& weight,
                 const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                 const Tensor& out) const;
  bool moments(const NormalizedRows& rows, const Tensor& x, const Tensor& mean,
               const Tensor& variance) const;
  bool normalize_sums(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                      const Tensor& mean, const Tensor& rstd, const Tensor& sums) const;
  bool normalize_grad(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                      const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                      const Tensor& sums, const Tensor& out) const;
  bool factorize(Factorization op, const FactorizationForm& form, ArrayRef<Tensor> tensors) const;
};

}  // namespace gradus::batching
