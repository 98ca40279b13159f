// Tracer: writes down what a function does to tensors on meta, as a computation of expressions.
#pragma once

#include <unordered_map>

#include "gradus/tensor/fused/computation.h"
#include "gradus/tensor/meta.h"

namespace gradus::fused {

// A function, or a device, has something that no kernel is made of; what() names it.
class NotFusable : public Error {
 public:
  using Error::Error;
};

// Elements that dropout sets to 0, drawn before the computation runs: an input of bools.
struct Draw {
  double probability;
  Dims sizes;
  int input;
};

// Input `of` in another dtype, which somebody keeps: an input where the computation converts it.
struct Copy {
  int of;
  ScalarType dtype;
  int input;
  bool used = false;
};

// While it lives, what this thread does to tensors on meta becomes expressions, as on a device of
// this type.
class Tracer final : public MetaBackend {
 public:
  explicit Tracer(DeviceType device) : device_(device), guard_(*this) {}

  // A tensor on meta that stands for x, input number inputs() of the computation. REQUIRES: no draw
  // yet.
  Tensor input(const Tensor& x);
  int inputs() const { return inputs_; }
  // Input `of` need not be converted to this dtype: input number inputs() is what a conversion
  // gives. REQUIRES: the copy lies as the input does.
  void offer_copy(int of, ScalarType dtype) { copies_.push_back({of, dtype, inputs_++}); }
  const std::vector<Copy>& copies() const { return copies_; }
  const std::vector<Draw>& draws() const { return draws_; }
  // The computation that computes these tensors on meta.
  Computation computation(ArrayRef<Tensor> outputs);

  DeviceType stands_for() const override { return device_; }
  void fill(const Tensor& out, const Scalar& value) override;
  void copy(const Tensor& src, const Tensor& dst) override;
  void transfer(const Tensor& src, const Tensor& dst, bool non_blocking) override;
  [[noreturn]] void meet(const Tensor& x) override;  // Errors: NotFusable
  void random_map(RandomMap op, double number, PhiloxState state, const Tensor& x,
                  const Tensor& out) override;
  void map(UnaryOp op, const Tensor& x, const Tensor& out) override;
  void map_grad(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                const Tensor& out) override;
  void zip(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) override;
  void ternary(TernaryOp op, const Tensor& x, const Operand& y, const Operand& z, const Scalar& w,
               const Tensor& out) override;
  void where(const Tensor& condition, const Operand& x, const Operand& y,
             const Tensor& out) override;
  void reduce(ReduceOp op, const Tensor& x, const Tensor& out) override;
  void matmul(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) override;
  void matmul_sums(const Tensor& a, const Tensor& b, const Tensor& out,
                   const Tensor& sums) override;
  void softmax(bool log, const Tensor& x, int64_t dim, const Tensor& out) override;
  void softmax_grad(bool log, const Tensor& grad, const Tensor& y, int64_t dim,
                    const Tensor& out) override;
  void normalize(const NormalizedRows& rows, double eps, const Tensor& x, const Tensor& weight,
                 const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                 const Tensor& out) override;
  void normalize_sums(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                      const Tensor& mean, const Tensor& rstd, const Tensor& sums) override;
  void normalize_grad(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                      const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                      const Tensor& sums, const Tensor& out) override;

 protected:
  void skip(const char* op) override;  // Errors: NotFusable, always

 private:
  // A value and where a storage has it; a negative one stands for input -1 - expression.
  struct Piece {
    int expr;
    Dims sizes, strides;
    int64_t offset;
  };
  struct Memory {
    StoragePtr storage;  // kept, so that no other one gets its address
    std::vector<Piece> pieces;
  };

  // x (B, M, N) as a matrix where it is one.
  static Tensor matrix(const Tensor& x);
  // The value of as many elements in x's sizes, which have other dimensions of size 1.
  int reshaped(int expr, const Tensor& x);
  // The value of x in its sizes, also where it was expanded.
  int whole(const Tensor& x);
  // The same for a factor of a product.
  int factor(const Tensor& x);
  // The expression of these elements of an input.
  int read(const Expr& input);
  // The expression whose value the tensor shows.
  int value(const Tensor& x);
  int value(const Operand& x);
  // The whole memory of `out` stands for the expression from now on.
  void set(const Tensor& out, int expr);
  // A new one. op: a row of the kind's table.
  template <class Op>
  void set(const Tensor& out, Kind kind, Op op, int x, int y = -1, int z = -1,
           const Scalar& number = {});
  // These functions append an expression and return its number.
  int add(Expr expr);
  int number(const Scalar& value);
  int map(UnaryOp op, int x);
  int zip(BinaryOp op, int x, int y);
  // Folds the dimensions from first to last.
  int reduce(ReduceOp op, int x, size_t first, size_t last);
  const Dims& sizes(int expr) const { return exprs_[static_cast<size_t>(expr)].sizes; }
  // How many dimensions of x lie before the rows, whose elements are normalised together.
  size_t first_of_row(const NormalizedRows& rows, const Tensor& x);
  // The expression of a mean or rstd, which normalize has made.
  int statistic(const Tensor& x);
  // (x - mean) * rstd.
  int normal(const Tensor& x, const Tensor& mean, const Tensor& rstd);

  DeviceType device_;
  MetaGuard guard_;
  std::vector<Expr> exprs_;
  std::unordered_map<const StorageImpl*, Memory> memory_;
  struct Statistic {
    StoragePtr storage;
    int expr;
  };
  std::unordered_map<const StorageImpl*, Statistic> statistics_;
  std::unordered_map<uint64_t, int> drawn_;  // the expr of a state's draw
  std::vector<Draw> draws_;
  std::vector<Copy> copies_;
  int inputs_ = 0;
};

}  // namespace gradus::fused
