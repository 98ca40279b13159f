// evaluate: each expression is one call of the backend, on values of the size of the box.
#include "gradus/tensor/fused/evaluate.h"

#include <algorithm>

#include "gradus/tensor/raw/raw.h"

namespace gradus::fused {

namespace {

class Evaluation {
 public:
  Evaluation(Backend& backend, const Kernel& kernel, const Box& box, ArrayRef<Tensor> inputs,
             ArrayRef<Tensor> outputs)
      : backend_(backend),
        box_(box),
        exprs_(kernel.computation.exprs),
        values_(exprs_.size()),
        last_use_(exprs_.size()) {
    const std::vector<int>& results = kernel.computation.outputs;
    for (size_t i = 0; i < exprs_.size(); ++i)
      for (const int operand : exprs_[i].operands)
        if (operand >= 0) last_use_[operand] = i;
    std::vector<Tensor> to(exprs_.size());
    for (size_t i = 0; i < results.size(); ++i)
      to[results[i]] = part_of(outputs[i], exprs_[results[i]], outputs[i].storage_offset());
    for (size_t i = 0; i < exprs_.size(); ++i) compute(i, to[i], inputs);
    for (size_t i = 0; i < results.size(); ++i) {  // a value that is returned twice
      const Tensor out = part_of(outputs[i], exprs_[results[i]], outputs[i].storage_offset());
      if (out.data_ptr() != to[results[i]].data_ptr()) raw::copy_(out, to[results[i]]);
    }
  }

 private:
  // The expression's size in dimension d of it, within the box, and where that begins.
  int64_t size(const Expr& expr, size_t d) const {
    return expr.sizes[d] == 1 ? 1 : box_.sizes[d + box_.sizes.size() - expr.sizes.size()];
  }
  Dims sizes(const Expr& expr) const {
    Dims out = expr.sizes;
    for (size_t d = 0; d < out.size(); ++d) out[d] = size(expr, d);
    return out;
  }
  // The part in the box of what lies in `memory` by the expression's sizes and strides.
  Tensor part_of(const Tensor& memory, const Expr& expr, int64_t offset) const {
    for (size_t d = 0; d < expr.sizes.size(); ++d)
      if (expr.sizes[d] != 1)
        offset += box_.first[d + box_.first.size() - expr.sizes.size()] * expr.strides[d];
    return raw::as_strided(memory, sizes(expr), expr.strides, offset);
  }

  // The value without dimensions of size 1 in front that the expression does not have.
  Tensor value(int from, const Expr& expr) const {
    const Tensor& x = values_[from];
    const size_t rank = expr.sizes.size(), own = x.sizes().size();
    if (own <= rank) return x;
    return raw::as_strided(x, Dims(x.sizes().data() + own - rank, rank),
                           Dims(x.strides().data() + own - rank, rank), x.storage_offset());
  }
  // `kept` holds the tensor.
  Operand operand(const Expr& expr, int i, Tensor& kept) const {
    const int from = expr.operands[i];
    if (exprs_[from].kind == Kind::number) return exprs_[from].number;
    kept = value(from, expr);
    return kept;
  }
  // The same in the expression's sizes.
  Operand number_or_full(const Expr& expr, int i, const Tensor& out, Tensor& kept) const {
    const Expr& from = exprs_[expr.operands[i]];
    if (from.kind == Kind::number) return from.number;
    return kept = full(expr, i, out);
  }
  // The operand in the expression's sizes; undefined where there is none.
  Tensor full(const Expr& expr, int i, const Tensor& out) const {
    const int from = expr.operands[i];
    if (from < 0) return Tensor();
    Tensor x = exprs_[from].kind == Kind::number ? Tensor() : value(from, expr);
    if (!x.defined()) {
      x = raw::empty({}, out.scalar_type(), out.device());
      backend_.fill(x, exprs_[from].number);
    }
    return x.sizes() == out.sizes() ? x : raw::expand(x, out.sizes());
  }

  void compute(size_t i, const Tensor& to, ArrayRef<Tensor> inputs) {
    const Expr& expr = exprs_[i];
    if (expr.kind == Kind::number) return;
    if (expr.kind == Kind::input) {
      const Tensor& from = inputs[expr.input];
      values_[i] = part_of(from, expr, from.storage_offset() + expr.offset);
      if (to.defined()) raw::copy_(to, values_[i]);
      return;
    }
    const Tensor out =
        to.defined() ? to : raw::empty(sizes(expr), expr.dtype, inputs.front().device());
    Tensor kept[2];
    switch (expr.kind) {
      case Kind::map:
        backend_.map(static_cast<UnaryOp>(expr.op), full(expr, 0, out), out);
        break;
      case Kind::map_grad:
        backend_.map_grad(static_cast<UnaryOp>(expr.op), full(expr, 0, out), full(expr, 1, out),
                          full(expr, 2, out), out);
        break;
      case Kind::zip:
        backend_.zip(static_cast<BinaryOp>(expr.op), operand(expr, 0, kept[0]),
                     operand(expr, 1, kept[1]), out);
        break;
      case Kind::ternary:
        backend_.ternary(static_cast<TernaryOp>(expr.op), full(expr, 0, out),
                         operand(expr, 1, kept[0]), operand(expr, 2, kept[1]), expr.number, out);
        break;
      case Kind::where: {
        const Operand x = number_or_full(expr, 1, out, kept[0]);
        // Of two numbers one becomes a tensor.
        const Operand y =
            x.is_number() ? kept[1] = full(expr, 2, out) : number_or_full(expr, 2, out, kept[1]);
        backend_.where(full(expr, 0, out), x, y, out);
        break;
      }
      case Kind::convert:
        if (exprs_[expr.operands[0]].kind == Kind::number)
          backend_.fill(out, exprs_[expr.operands[0]].number);
        else
          raw::copy_(out, value(expr.operands[0], expr));
        break;
      case Kind::reduce:
        backend_.reduce(static_cast<ReduceOp>(expr.op), values_[expr.operands[0]], out);
        break;
      default:
        break;
    }
    values_[i] = out;
    for (const int operand : expr.operands)  // so that the next value gets its memory
      if (operand >= 0 && last_use_[operand] == i) values_[operand] = Tensor();
  }

  Backend& backend_;
  const Box& box_;
  const std::vector<Expr>& exprs_;
  Tensors values_;
  std::vector<size_t> last_use_;
};

}  // namespace

void evaluate(Backend& backend, const Kernel& kernel, const Box& box, ArrayRef<Tensor> inputs,
              ArrayRef<Tensor> outputs) {
  Evaluation(backend, kernel, box, inputs, outputs);
}

}  // namespace gradus::fused
