// evaluate: each node is one call of the backend, on values of the size of the box.
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
        nodes_(kernel.program.nodes),
        values_(nodes_.size()),
        last_use_(nodes_.size()) {
    const std::vector<int>& results = kernel.program.outputs;
    for (size_t i = 0; i < nodes_.size(); ++i)
      for (const int operand : nodes_[i].operands)
        if (operand >= 0) last_use_[operand] = i;
    std::vector<Tensor> to(nodes_.size());
    for (size_t i = 0; i < results.size(); ++i)
      to[results[i]] = part_of(outputs[i], nodes_[results[i]], outputs[i].storage_offset());
    for (size_t i = 0; i < nodes_.size(); ++i) compute(i, to[i], inputs);
    for (size_t i = 0; i < results.size(); ++i) {  // a value that is returned twice
      const Tensor out = part_of(outputs[i], nodes_[results[i]], outputs[i].storage_offset());
      if (out.data_ptr() != to[results[i]].data_ptr()) raw::copy_(out, to[results[i]]);
    }
  }

 private:
  // The node's size in dimension d of it, within the box, and where that begins.
  int64_t size(const Node& node, size_t d) const {
    return node.sizes[d] == 1 ? 1 : box_.sizes[d + box_.sizes.size() - node.sizes.size()];
  }
  Dims sizes(const Node& node) const {
    Dims out = node.sizes;
    for (size_t d = 0; d < out.size(); ++d) out[d] = size(node, d);
    return out;
  }
  // The part in the box of what lies in `memory` by the node's sizes and strides.
  Tensor part_of(const Tensor& memory, const Node& node, int64_t offset) const {
    for (size_t d = 0; d < node.sizes.size(); ++d)
      if (node.sizes[d] != 1)
        offset += box_.first[d + box_.first.size() - node.sizes.size()] * node.strides[d];
    return raw::as_strided(memory, sizes(node), node.strides, offset);
  }

  // The value without dimensions of size 1 in front that the node does not have.
  Tensor value(int from, const Node& node) const {
    const Tensor& x = values_[from];
    const size_t rank = node.sizes.size(), own = x.sizes().size();
    if (own <= rank) return x;
    return raw::as_strided(x, Dims(x.sizes().data() + own - rank, rank),
                           Dims(x.strides().data() + own - rank, rank), x.storage_offset());
  }
  // `kept` holds the tensor.
  Operand operand(const Node& node, int i, Tensor& kept) const {
    const int from = node.operands[i];
    if (nodes_[from].kind == Kind::number) return nodes_[from].number;
    kept = value(from, node);
    return kept;
  }
  // The same in the node's sizes.
  Operand number_or_full(const Node& node, int i, const Tensor& out, Tensor& kept) const {
    const Node& from = nodes_[node.operands[i]];
    if (from.kind == Kind::number) return from.number;
    return kept = full(node, i, out);
  }
  // The operand in the node's sizes; undefined where there is none.
  Tensor full(const Node& node, int i, const Tensor& out) const {
    const int from = node.operands[i];
    if (from < 0) return Tensor();
    Tensor x = nodes_[from].kind == Kind::number ? Tensor() : value(from, node);
    if (!x.defined()) {
      x = raw::empty({}, out.scalar_type(), out.device());
      backend_.fill(x, nodes_[from].number);
    }
    return x.sizes() == out.sizes() ? x : raw::expand(x, out.sizes());
  }

  void compute(size_t i, const Tensor& to, ArrayRef<Tensor> inputs) {
    const Node& node = nodes_[i];
    if (node.kind == Kind::number) return;
    if (node.kind == Kind::input) {
      const Tensor& from = inputs[node.input];
      values_[i] = part_of(from, node, from.storage_offset() + node.offset);
      if (to.defined()) raw::copy_(to, values_[i]);
      return;
    }
    const Tensor out =
        to.defined() ? to : raw::empty(sizes(node), node.dtype, inputs.front().device());
    Tensor kept[2];
    switch (node.kind) {
      case Kind::map:
        backend_.map(static_cast<UnaryOp>(node.op), full(node, 0, out), out);
        break;
      case Kind::map_grad:
        backend_.map_grad(static_cast<UnaryOp>(node.op), full(node, 0, out), full(node, 1, out),
                          full(node, 2, out), out);
        break;
      case Kind::zip:
        backend_.zip(static_cast<BinaryOp>(node.op), operand(node, 0, kept[0]),
                     operand(node, 1, kept[1]), out);
        break;
      case Kind::ternary:
        backend_.ternary(static_cast<TernaryOp>(node.op), full(node, 0, out),
                         operand(node, 1, kept[0]), operand(node, 2, kept[1]), node.number, out);
        break;
      case Kind::where: {
        const Operand x = number_or_full(node, 1, out, kept[0]);
        // Of two numbers one becomes a tensor.
        const Operand y =
            x.is_number() ? kept[1] = full(node, 2, out) : number_or_full(node, 2, out, kept[1]);
        backend_.where(full(node, 0, out), x, y, out);
        break;
      }
      case Kind::convert:
        if (nodes_[node.operands[0]].kind == Kind::number)
          backend_.fill(out, nodes_[node.operands[0]].number);
        else
          raw::copy_(out, value(node.operands[0], node));
        break;
      case Kind::reduce:
        backend_.reduce(static_cast<ReduceOp>(node.op), values_[node.operands[0]], out);
        break;
      default:
        break;
    }
    values_[i] = out;
    for (const int operand : node.operands)  // so that the next value gets its memory
      if (operand >= 0 && last_use_[operand] == i) values_[operand] = Tensor();
  }

  Backend& backend_;
  const Box& box_;
  const std::vector<Node>& nodes_;
  Tensors values_;
  std::vector<size_t> last_use_;
};

}  // namespace

void evaluate(Backend& backend, const Kernel& kernel, const Box& box, ArrayRef<Tensor> inputs,
              ArrayRef<Tensor> outputs) {
  Evaluation(backend, kernel, box, inputs, outputs);
}

}  // namespace gradus::fused
