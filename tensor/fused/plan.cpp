// make_plan: cuts a computation into kernels, and run: computes them.
#include <algorithm>
#include <optional>

#include "gradus/tensor/fused/computation.h"
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
std::optional<size_t> folded_at_end(const Expr& expr, const Dims& from) {
  const size_t rank = from.size();
  size_t first = 0;
  while (first < rank && from[first] == expr.sizes[first]) ++first;
  if (first == rank) return std::nullopt;
  for (size_t d = first; d < rank; ++d)
    if (expr.sizes[d] != 1) return std::nullopt;
  const int64_t rows = product(from, 0, first), columns = product(from, first, rank);
  if (rows < kManyRows && columns > kShortRow) return std::nullopt;
  return rank - first;
}

bool can_broadcast(const Dims& a, const Dims& b) {
  bool out = true;
  for (size_t d = 1; d <= std::min(a.size(), b.size()); ++d) {
    const int64_t of_a = a[a.size() - d], of_b = b[b.size() - d];
    out &= of_a == of_b || of_a == 1 || of_b == 1;
  }
  return out;
}

// Whether a step of a product computes the value.
bool is_product(const Expr& expr) {
  return expr.kind == Kind::product || expr.kind == Kind::row_sums;
}

class Planner {
 public:
  Planner(const Computation& computation, int inputs)
      : computation_(computation), tensors_(inputs), exprs_(computation.exprs.size()) {}

  Plan make() {
    for (const int output : computation_.outputs) mark(output);
    do choose_reductions();
    while (part_reductions());
    for (int stage = 0; stage <= last_stage_; ++stage) add_kernels(stage);
    for (const int output : computation_.outputs) plan_.outputs.push_back(read(output));
    return std::move(plan_);
  }

 private:
  struct Facts {
    bool live = false;
    bool alone = false;     // a reduction that fits into no kernel
    bool stored = false;    // a kernel writes it
    bool separate = false;  // no value of a kernel: a view, a product, a reduction by itself
    int stage = 0;          // the steps that have to be done before
    size_t step = 0;        // of a product
    int tensor = -1;        // where it is kept
  };

  void mark(int expr) {
    if (exprs_[expr].live) return;
    exprs_[expr].live = true;
    for (const int operand : computation_.exprs[expr].operands)
      if (operand >= 0) mark(operand);
  }

  void choose_reductions() {
    std::optional<size_t> folded;
    last_stage_ = 0;
    for (size_t i = 0; i < exprs_.size(); ++i) {
      const Expr& expr = computation_.exprs[i];
      Facts& facts = exprs_[i] = {.live = exprs_[i].live, .alone = exprs_[i].alone};
      if (!facts.live) continue;
      for (const int operand : expr.operands)
        if (operand >= 0)
          facts.stage = std::max(facts.stage, exprs_[operand].stage + exprs_[operand].separate);
      if (expr.kind == Kind::reduce) {
        const auto here = folded_at_end(expr, computation_.exprs[expr.operands[0]].sizes);
        if (here && !folded && !facts.alone) folded = here;
        facts.separate = facts.alone || !here || here != folded;
      } else {
        facts.separate = expr.kind == Kind::view || is_product(expr);
      }
      if (facts.separate)
        for (int operand : expr.operands) {
          if (expr.kind == Kind::reduce && operand >= 0) operand = without_conversion(operand);
          if (operand >= 0 && computation_.exprs[operand].kind != Kind::input)
            exprs_[operand].stored = true;
        }
      last_stage_ = std::max(last_stage_, facts.stage);
    }
    folded_ = folded.value_or(0);
    for (const int output : computation_.outputs) exprs_[output].stored = true;
  }

  // The operand of a reduction by itself, or the half types that it was converted from.
  int without_conversion(int operand) const {
    const Expr& expr = computation_.exprs[operand];
    if (expr.kind != Kind::convert) return operand;
    const Expr& from = computation_.exprs[expr.operands[0]];
    const bool is_half = from.dtype == kHalf || from.dtype == kBFloat16;
    return is_half && std::ranges::equal(from.sizes, expr.sizes) ? expr.operands[0] : operand;
  }

  // Takes reductions out of kernels that go through other columns than theirs, as where two shapes
  // are reduced for one value, and of those whose result would be stored for several columns.
  // Returns whether there was one.
  bool part_reductions() {
    bool parted = false;
    for (size_t i = 0; i < exprs_.size(); ++i) {
      if (!exprs_[i].live || !exprs_[i].stored || exprs_[i].separate) continue;
      const Dims& sizes = computation_.exprs[i].sizes;
      Dims domain = sizes;
      std::vector<int> reductions;
      std::vector<bool> seen(exprs_.size());
      bool fits = spread(static_cast<int>(i), seen, domain, reductions);
      fits &=
          has_columns_of(domain, sizes) || product(sizes, first_column(sizes), sizes.size()) == 1;
      for (const int each : reductions)
        if (!fits || !has_columns_of(domain, operand_sizes(each)))
          exprs_[each].alone = parted = true;
    }
    return parted;
  }
  const Dims& operand_sizes(int reduction) const {
    return computation_.exprs[computation_.exprs[reduction].operands[0]].sizes;
  }
  size_t first_column(const Dims& sizes) const {
    return sizes.size() > folded_ ? sizes.size() - folded_ : 0;
  }
  bool has_columns_of(const Dims& domain, const Dims& sizes) const {
    return std::equal(
        domain.begin() + static_cast<std::ptrdiff_t>(first_column(domain)), domain.end(),
        sizes.begin() + static_cast<std::ptrdiff_t>(first_column(sizes)), sizes.end());
  }

  int new_tensor(const Expr& expr) {
    plan_.made.push_back(expr);
    return tensors_++;
  }

  // Everything that is stored in a stage, by one kernel for each domain; then its reductions and
  // products.
  void add_kernels(int stage) {
    struct Group {
      Dims domain;
      bool reduces;
      std::vector<int> roots;
    };
    std::vector<Group> groups;
    for (size_t i = 0; i < exprs_.size(); ++i) {
      const Facts& facts = exprs_[i];
      if (!facts.live || !facts.stored || facts.separate || facts.stage != stage) continue;
      Dims domain = computation_.exprs[i].sizes;
      std::vector<int> reductions;
      std::vector<bool> seen(exprs_.size());
      spread(static_cast<int>(i), seen, domain, reductions);
      const bool reduces = !reductions.empty();
      const auto group = std::ranges::find_if(
          groups, [&](const Group& g) { return std::ranges::equal(g.domain, domain); });
      if (group == groups.end())
        groups.push_back({domain, reduces, {static_cast<int>(i)}});
      else
        group->roots.push_back(static_cast<int>(i)), group->reduces |= reduces;
    }
    for (const Group& group : groups) add_kernel(group.domain, group.reduces, group.roots);
    for (size_t i = 0; i < exprs_.size(); ++i) {
      if (!exprs_[i].live || !exprs_[i].separate || exprs_[i].stage != stage) continue;
      const Expr& expr = computation_.exprs[i];
      if (expr.kind == Kind::view) continue;
      exprs_[i].tensor = new_tensor(expr);
      if (expr.kind == Kind::row_sums) {
        plan_.steps[exprs_[expr.operands[0]].step].outputs.push_back(exprs_[i].tensor);
        continue;
      }
      Step step{.kind = expr.kind,
                .reduction = static_cast<ReduceOp>(expr.op),
                .operand = read(expr.kind == Kind::reduce ? without_conversion(expr.operands[0])
                                                          : expr.operands[0])};
      if (expr.kind == Kind::product) step.factor = read(expr.operands[1]);
      if (expr.operands[2] >= 0) step.bias = read(expr.operands[2]);
      step.outputs = {exprs_[i].tensor};
      exprs_[i].step = plan_.steps.size();
      plan_.steps.push_back(std::move(step));
    }
  }

  // The domain that a value is computed on, and the reductions there. False where shapes do not
  // broadcast.
  bool spread(int i, std::vector<bool>& seen, Dims& domain, std::vector<int>& reductions) const {
    if (seen[i]) return true;
    seen[i] = true;
    const Expr& expr = computation_.exprs[i];
    bool broadcast = can_broadcast(domain, expr.sizes);
    if (broadcast) domain = broadcast_shapes("fuse", domain, expr.sizes);
    if (exprs_[i].separate) return broadcast;
    if (expr.kind == Kind::reduce) reductions.push_back(i);
    for (const int operand : expr.operands)
      if (operand >= 0) broadcast &= spread(operand, seen, domain, reductions);
    return broadcast;
  }

  // The stored value, or the view of one, as an input of another kernel.
  Expr read(int i) const {
    Expr out = computation_.exprs[i];
    if (out.kind == Kind::input && exprs_[i].tensor < 0) return out;
    const int from = out.kind == Kind::view ? out.operands[0] : i;
    out.input = exprs_[from].tensor >= 0 ? exprs_[from].tensor : computation_.exprs[from].input;
    out.kind = Kind::input;
    out.operands = {-1, -1, -1};
    return out;
  }

  void add_kernel(const Dims& domain, bool reduces, const std::vector<int>& roots) {
    Step step;
    step.kernel.domain = domain;
    step.kernel.columns = static_cast<int64_t>(domain.size() - (reduces ? folded_ : 0));
    std::vector<int> place(exprs_.size(), -1);
    for (const int root : roots) {
      step.kernel.computation.outputs.push_back(copy(root, place, step.kernel.computation));
      step.outputs.push_back(exprs_[root].tensor = new_tensor(computation_.exprs[root]));
    }
    plan_.steps.push_back(std::move(step));
  }

  int copy(int i, std::vector<int>& place, Computation& into) const {
    if (place[i] >= 0) return place[i];
    Expr expr = computation_.exprs[i];
    if (exprs_[i].separate)
      expr = read(i);
    else
      for (int& operand : expr.operands)
        if (operand >= 0) operand = copy(operand, place, into);
    into.exprs.push_back(expr);
    return place[i] = static_cast<int>(into.exprs.size()) - 1;
  }

  const Computation& computation_;
  int tensors_;
  std::vector<Facts> exprs_;
  int last_stage_ = 0;
  size_t folded_ = 0;
  Plan plan_;
};

}  // namespace

bool is_of_row(const Kernel& kernel, const Expr& expr) {
  const int64_t folded = static_cast<int64_t>(kernel.domain.size()) - kernel.columns;
  const auto rank = static_cast<int64_t>(expr.sizes.size());
  for (int64_t d = std::max<int64_t>(rank - folded, 0); d < rank; ++d)
    if (expr.sizes[d] != 1) return false;
  return true;
}

Plan make_plan(const Computation& computation, int inputs) {
  return Planner(computation, inputs).make();
}

Tensor view_of(ArrayRef<Tensor> tensors, const Expr& input) {
  const Tensor& from = tensors[input.input];
  if (std::ranges::equal(input.sizes, from.sizes()) && input.offset == 0 &&
      std::ranges::equal(input.strides, from.strides()))
    return from;
  return raw::as_strided(from, input.sizes, input.strides, from.storage_offset() + input.offset);
}

std::vector<int> read_stored(Computation& computation, size_t count, int input) {
  std::vector<bool> stored(computation.exprs.size()), seen(computation.exprs.size());
  for (size_t i = 0; i < count; ++i) {
    if (!is_product(computation.exprs[i])) continue;
    stored[i] = true;
    for (int operand : computation.exprs[i].operands) {
      if (operand >= 0 && computation.exprs[operand].kind == Kind::view)
        operand = computation.exprs[operand].operands[0];
      if (operand < 0) continue;
      const Kind kind = computation.exprs[operand].kind;
      stored[operand] = stored[operand] || (kind != Kind::input && kind != Kind::number);
    }
  }
  std::vector<int> found, pending = computation.outputs;
  while (!pending.empty()) {
    const int i = pending.back();
    pending.pop_back();
    if (i < 0 || seen[i]) continue;
    seen[i] = true;
    Expr& expr = computation.exprs[i];
    if (stored[i]) {
      expr.kind = Kind::input;
      expr.operands = {-1, -1, -1};
      expr.input = input++;
      found.push_back(i);
    }
    pending.insert(pending.end(), expr.operands.begin(), expr.operands.end());
  }
  return found;
}

namespace {
Tensor as_batch(const Tensor& x) { return x.dim() == 2 ? raw::unsqueeze(x, 0) : x; }
}  // namespace

Tensors run(const Plan& plan, ArrayRef<Tensor> inputs) {
  Tensors tensors(inputs.begin(), inputs.end());
  const Device device = tensors.front().device();
  for (const Expr& made : plan.made)
    tensors.push_back(
        raw::alias(raw::empty(made.sizes, made.dtype, device), made.sizes, made.strides));
  Backend& where = backend(device.type());
  for (const Step& step : plan.steps) {
    if (!step.kernel.computation.exprs.empty()) {
      Tensors outputs;
      for (const int output : step.outputs) outputs.push_back(tensors[output]);
      where.fused(step.kernel, tensors, outputs);
    } else if (step.kind == Kind::product) {
      const Tensor bias = step.bias.input >= 0 ? view_of(tensors, step.bias) : Tensor(),
                   a = as_batch(view_of(tensors, step.operand)),
                   b = as_batch(view_of(tensors, step.factor)),
                   out = as_batch(tensors[step.outputs[0]]);
      if (step.outputs.size() > 1)
        where.matmul_sums(a, b, out, tensors[step.outputs[1]]);
      else
        where.matmul(a, b, bias, out);
    } else {
      where.reduce(step.reduction, view_of(tensors, step.operand), tensors[step.outputs[0]]);
    }
  }
  Tensors out;
  // No view of another tensor: a leaf takes its gradient as it is where nobody else has it.
  for (const Expr& output : plan.outputs) out.push_back(raw::alias(view_of(tensors, output)));
  return out;
}

}  // namespace gradus::fused
