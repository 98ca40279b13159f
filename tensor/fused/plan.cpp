// make_plan: cuts a program into kernels, and run: computes them.
#include <algorithm>
#include <optional>

#include "gradus/tensor/fused/program.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::fused {

namespace {

// Rows that a GPU is busy with, and columns that one block sums quickly. A reduction of longer
// rows, of which there are few, is left to Backend::reduce.
constexpr int64_t kManyRows = 32, kShortRow = 8192;

int64_t product(const Dims& sizes, size_t first, size_t last) {
  int64_t out = 1;
  for (size_t d = first; d < last; ++d) out *= sizes[d];
  return out;
}

// How many dimensions at the end a reduction folds; none where it folds nothing, others, too, or
// few long rows.
std::optional<size_t> folded_at_end(const Node& node, const Dims& from) {
  const size_t rank = from.size();
  size_t first = 0;
  while (first < rank && from[first] == node.sizes[first]) ++first;
  if (first == rank) return std::nullopt;
  for (size_t d = first; d < rank; ++d)
    if (node.sizes[d] != 1) return std::nullopt;
  const int64_t rows = product(from, 0, first), columns = product(from, first, rank);
  if (rows < kManyRows && columns > kShortRow) return std::nullopt;
  return rank - first;
}

class Planner {
 public:
  Planner(const Program& program, int inputs)
      : program_(program), tensors_(inputs), nodes_(program.nodes.size()) {}

  Plan make() {
    for (const int output : program_.outputs) mark(output);
    choose_reductions();
    for (int stage = 0; stage <= last_stage_; ++stage) add_kernels(stage);
    for (const int output : program_.outputs) plan_.outputs.push_back(read(output));
    return std::move(plan_);
  }

 private:
  struct Facts {
    bool live = false;
    bool stored = false;    // a kernel writes it
    bool separate = false;  // no value of a kernel: a view, or a reduction that is its own step
    int stage = 0;          // the steps that have to be done before
    int tensor = -1;        // where it is kept
  };

  void mark(int node) {
    if (nodes_[node].live) return;
    nodes_[node].live = true;
    for (const int operand : program_.nodes[node].operands)
      if (operand >= 0) mark(operand);
  }

  void choose_reductions() {
    std::optional<size_t> folded;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = program_.nodes[i];
      Facts& facts = nodes_[i];
      if (!facts.live) continue;
      for (const int operand : node.operands)
        if (operand >= 0)
          facts.stage = std::max(facts.stage, nodes_[operand].stage + nodes_[operand].separate);
      if (node.kind == Kind::reduce) {
        const auto here = folded_at_end(node, program_.nodes[node.operands[0]].sizes);
        if (here && !folded) folded = here;
        facts.separate = !here || here != folded;
      } else {
        facts.separate = node.kind == Kind::view;
      }
      if (facts.separate && program_.nodes[node.operands[0]].kind != Kind::input)
        nodes_[node.operands[0]].stored = true;
      last_stage_ = std::max(last_stage_, facts.stage);
    }
    folded_ = folded.value_or(0);
    for (const int output : program_.outputs) nodes_[output].stored = true;
  }

  int new_tensor(const Node& node) {
    plan_.made.push_back(node);
    return tensors_++;
  }

  // Everything that is stored in a stage, by one kernel for each domain; then its reductions.
  void add_kernels(int stage) {
    struct Group {
      Dims domain;
      bool reduces;
      std::vector<int> roots;
    };
    std::vector<Group> groups;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Facts& facts = nodes_[i];
      if (!facts.live || !facts.stored || facts.separate || facts.stage != stage) continue;
      Dims domain = program_.nodes[i].sizes;
      bool reduces = false;
      std::vector<bool> seen(nodes_.size());
      spread(static_cast<int>(i), seen, domain, reduces);
      const auto group = std::ranges::find_if(
          groups, [&](const Group& g) { return std::ranges::equal(g.domain, domain); });
      if (group == groups.end())
        groups.push_back({domain, reduces, {static_cast<int>(i)}});
      else
        group->roots.push_back(static_cast<int>(i)), group->reduces |= reduces;
    }
    for (const Group& group : groups) add_kernel(group.domain, group.reduces, group.roots);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].live || !nodes_[i].separate || nodes_[i].stage != stage) continue;
      const Node& node = program_.nodes[i];
      if (node.kind == Kind::view) continue;
      const Node operand = read(node.operands[0]);
      nodes_[i].tensor = new_tensor(node);
      plan_.steps.push_back({.outputs = {nodes_[i].tensor},
                             .reduction = static_cast<ReduceOp>(node.op),
                             .operand = operand});
    }
  }

  // The domain that a value is computed on, and whether it is made by reductions.
  void spread(int i, std::vector<bool>& seen, Dims& domain, bool& reduces) const {
    if (seen[i]) return;
    seen[i] = true;
    const Node& node = program_.nodes[i];
    domain = broadcast_shapes("fuse", domain, node.sizes);
    if (nodes_[i].separate) return;
    reduces |= node.kind == Kind::reduce;
    for (const int operand : node.operands)
      if (operand >= 0) spread(operand, seen, domain, reduces);
  }

  // The stored value, or the view of one, as an input of another kernel.
  Node read(int i) const {
    Node out = program_.nodes[i];
    if (out.kind == Kind::input && nodes_[i].tensor < 0) return out;
    out.input = nodes_[out.kind == Kind::view ? out.operands[0] : i].tensor;
    out.kind = Kind::input;
    out.operands = {-1, -1, -1};
    return out;
  }

  void add_kernel(const Dims& domain, bool reduces, const std::vector<int>& roots) {
    Step step;
    step.kernel.domain = domain;
    step.kernel.columns = static_cast<int64_t>(domain.size() - (reduces ? folded_ : 0));
    std::vector<int> place(nodes_.size(), -1);
    for (const int root : roots) {
      step.kernel.program.outputs.push_back(copy(root, place, step.kernel.program));
      step.outputs.push_back(nodes_[root].tensor = new_tensor(program_.nodes[root]));
    }
    plan_.steps.push_back(std::move(step));
  }

  int copy(int i, std::vector<int>& place, Program& into) const {
    if (place[i] >= 0) return place[i];
    Node node = program_.nodes[i];
    if (nodes_[i].separate)
      node = read(i);
    else
      for (int& operand : node.operands)
        if (operand >= 0) operand = copy(operand, place, into);
    into.nodes.push_back(node);
    return place[i] = static_cast<int>(into.nodes.size()) - 1;
  }

  const Program& program_;
  int tensors_;
  std::vector<Facts> nodes_;
  int last_stage_ = 0;
  size_t folded_ = 0;
  Plan plan_;
};

}  // namespace

bool is_of_row(const Kernel& kernel, const Node& node) {
  const int64_t folded = static_cast<int64_t>(kernel.domain.size()) - kernel.columns;
  const auto rank = static_cast<int64_t>(node.sizes.size());
  for (int64_t d = std::max<int64_t>(rank - folded, 0); d < rank; ++d)
    if (node.sizes[d] != 1) return false;
  return true;
}

Plan make_plan(const Program& program, int inputs) { return Planner(program, inputs).make(); }

Tensor view_of(ArrayRef<Tensor> tensors, const Node& input) {
  const Tensor& from = tensors[input.input];
  if (std::ranges::equal(input.sizes, from.sizes()) && input.offset == 0 &&
      std::ranges::equal(input.strides, from.strides()))
    return from;
  return raw::as_strided(from, input.sizes, input.strides, from.storage_offset() + input.offset);
}

Tensors run(const Plan& plan, ArrayRef<Tensor> inputs) {
  Tensors tensors(inputs.begin(), inputs.end());
  const Device device = tensors.front().device();
  for (const Node& made : plan.made)
    tensors.push_back(
        raw::as_strided(raw::empty(made.sizes, made.dtype, device), made.sizes, made.strides, 0));
  Backend& where = backend(device.type());
  for (const Step& step : plan.steps) {
    if (!step.kernel.program.nodes.empty()) {
      Tensors outputs;
      for (const int output : step.outputs) outputs.push_back(tensors[output]);
      where.fused(step.kernel, tensors, outputs);
    } else {
      where.reduce(step.reduction, view_of(tensors, step.operand), tensors[step.outputs[0]]);
    }
  }
  Tensors out;
  for (const Node& output : plan.outputs) out.push_back(view_of(tensors, output));
  return out;
}

}  // namespace gradus::fused
