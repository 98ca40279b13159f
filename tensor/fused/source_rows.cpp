// The text of a kernel with reductions: a block, or a warp, has a row, and folds it as often as its
// values depend on folds.
#include <algorithm>

#include "gradus/tensor/fused/tracer.h"
#include "gradus/tensor/fused/writer.h"

namespace gradus::fused {

namespace {

constexpr int kWarp = 32, kMostThreads = 1024;
constexpr int kMostKept = 8;     // vectors of each input that a thread keeps in registers
constexpr int kRowsOfBlock = 4;  // where a warp has a row

class RowWriter final : public Writer {
 public:
  RowWriter(const Kernel& kernel, int most_vector) : Writer(kernel, most_vector) {
    if (columns_ > 1) fail<NotFusable>("fuse: what a kernel folds lies in several dimensions");
    vectors_ = domain_.back() / width_;
    while (threads_ < kMostThreads && threads_ * 2 < vectors_) threads_ *= 2;
    keeps_ = vectors_ <= int64_t{threads_} * kMostKept;
    per_thread_ = static_cast<int>((vectors_ + threads_ - 1) / threads_);
    for (const Node& node : nodes_) {
      of_row_.push_back(is_of_row(kernel, node));
      int folds = 0;
      for (const int from : node.operands)
        if (from >= 0) folds = std::max(folds, folds_before_[from]);
      folds_before_.push_back(folds + (node.kind == Kind::reduce));
      last_fold_ = std::max(last_fold_, folds_before_.back());
    }
  }

 private:
  std::string body() override {
    const int64_t rows = size_before(domain_.size() - 1);
    const int rows_of_block = threads_ == kWarp ? kRowsOfBlock : 1;
    source_.blocks = (rows + rows_of_block - 1) / rows_of_block;
    source_.threads_x = threads_, source_.threads_y = rows_of_block;

    std::string text = "  const long long row = blockIdx.x";
    text += rows_of_block > 1 ? " * " + str(rows_of_block) + "LL + threadIdx.y;\n" : ";\n";
    if (rows_of_block > 1) text += "  if (row >= " + number("rows", rows) + ") return;\n";
    number("vectors", vectors_);
    number("columns", domain_.back());
    text += offsets("row", domain_.size() - 1) + inputs() + row_values(0);
    for (int fold = 1; fold <= last_fold_; ++fold) text += folds(fold) + row_values(fold);
    return text + results();
  }

  // The fold of a row's threads; by warps, and where there are several in shared memory.
  std::string helpers() const override {
    std::string text =
        "// The fold of all threads of a row, in each of them.\n"
        "template <class T, class F>\n"
        "__device__ T over_row(T x, F combine) {\n"
        "#pragma unroll\n"
        "  for (int step = 16; step > 0; step /= 2)\n"
        "    x = combine(x, __shfl_xor_sync(0xffffffffu, x, step));\n";
    if (threads_ > kWarp) {
      const std::string warps = str(threads_ / kWarp);
      text += "  __shared__ T of_warp[" + warps + "];\n";
      text += "  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;\n";
      text += "  __syncthreads();\n";
      text += "  x = of_warp[0];\n";
      text += "  for (int i = 1; i < " + warps + "; ++i) x = combine(x, of_warp[i]);\n";
    }
    return text + "  return x;\n}\n";
  }

  bool is_kept_input(size_t i) const { return nodes_[i].kind == Kind::input && !of_row_[i]; }

  // Those of the row, and where a thread keeps its part of the row, all others.
  std::string inputs() {
    std::string text, loads;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const auto node = static_cast<int>(i);
      if (nodes_[i].kind == Kind::input && of_row_[i])
        text += line(node, "  ", loaded(nodes_[i].dtype, pointer(argument_of(node)) + "[0]"));
      if (!keeps_ || !is_kept_input(i)) continue;
      text += "  " + vector_type(nodes_[i].dtype) + " x" + str(i) + "[" + str(per_thread_) + "];\n";
      loads += load(node, "x" + str(i) + "[j]");
    }
    return text + (loads.empty() ? "" : each_vector(loads));
  }

  // `inside` for each vector j of this thread, which begins at `column`.
  std::string each_vector(const std::string& inside) const {
    std::string text = keeps_ ? "#pragma unroll\n" : "";
    text += "  for (int j = 0; j < ";
    text += keeps_ ? str(per_thread_) : "(int)((vectors + blockDim.x - 1) / blockDim.x)";
    text += "; ++j) {\n    const long long vector = j * (long long)blockDim.x + threadIdx.x;\n";
    text += "    if (vector >= vectors) break;\n";
    if (inside.find("column") != std::string::npos)
      text += "    const long long column = vector" + times(width_) + ";\n";
    return text + inside + "  }\n";
  }

  std::string load(int input, const std::string& to) {
    const size_t a = argument_of(input);
    if (arguments_[a].strides.back() == 1) return "    " + to + " = " + vector(a) + ";\n";
    return "    for (int k = 0; k < " + str(width_) + "; ++k) " + to + ".at[k] = " + element(a) +
           ";\n";
  }

  // `inside` for each element k of a vector, after the values that the wanted nodes need.
  std::string each_element(const std::vector<int>& wanted, const std::string& inside) {
    std::vector<bool> needed(nodes_.size());
    for (const int node : wanted) need(node, needed);
    std::string values, loads;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const auto node = static_cast<int>(i);
      if (!needed[i] || nodes_[i].kind == Kind::number) continue;
      if (!is_kept_input(i)) {
        values += line(node, "      ");
        continue;
      }
      const std::string x = "x" + str(i);
      if (!keeps_) loads += "    " + vector_type(nodes_[i].dtype) + " " + x + ";\n" + load(node, x);
      values +=
          line(node, "      ", loaded(nodes_[i].dtype, x + (keeps_ ? "[j].at[k]" : ".at[k]")));
    }
    return loads + "#pragma unroll\n    for (int k = 0; k < " + str(width_) + "; ++k) {\n" +
           values + inside + "    }\n";
  }
  void need(int node, std::vector<bool>& needed) const {
    if (needed[node] || of_row_[node]) return;
    needed[node] = true;
    for (const int from : nodes_[node].operands)
      if (from >= 0) need(from, needed);
  }

  // The folds that follow so many others, less one.
  std::string folds(int fold) {
    std::string starts, combines, ends;
    std::vector<int> wanted;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      if (node.kind != Kind::reduce || folds_before_[i] != fold) continue;
      const auto op = static_cast<ReduceOp>(node.op);
      if (!isFloatingType(node.dtype))
        fail<NotFusable>("fuse: kernels made at run time do not reduce in ", node.dtype);
      formulas_.use(op);
      const std::string t = type(node.dtype), f = name_of(op), s = "s" + str(i);
      wanted.push_back(node.operands[0]);
      starts += "  " + t + " " + s + " = " + f + "_start<" + t + ">();\n";
      combines += "      " + s + " = " + f + "_combine(" + s + ", " + f + "_enter(" +
                  operand(node, 0, t) + "));\n";
      ends += "  " + s + " = over_row(" + s + ", [](" + t + " a, " + t + " b) { return " + f +
              "_combine(a, b); });\n";
      ends += line(static_cast<int>(i), "  ", f + "_finish(" + s + ", columns)");
    }
    return starts + each_vector(each_element(wanted, combines)) + ends;
  }

  // The values of the row that are known after so many folds.
  std::string row_values(int fold) {
    std::string text;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Kind kind = nodes_[i].kind;
      if (of_row_[i] && folds_before_[i] == fold && kind != Kind::input && kind != Kind::number &&
          kind != Kind::reduce)
        text += line(static_cast<int>(i), "  ");
    }
    return text;
  }

  std::string results() {
    std::string of_row, vectors, elements, stores;
    std::vector<int> wanted;
    for (size_t a = source_.inputs.size(); a < arguments_.size(); ++a) {
      const int node = arguments_[a].node;
      const ScalarType dtype = nodes_[node].dtype;
      const std::string value = stored(dtype, name(node)), y = "y" + str(a);
      if (of_row_[node]) {
        of_row += "  if (threadIdx.x == 0) " + pointer(a) + "[0] = " + value + ";\n";
        continue;
      }
      wanted.push_back(node);
      const bool moves_vectors = arguments_[a].strides.back() == 1;
      vectors += "    " + vector_type(dtype) + " " + y + ";\n";
      elements += "      " + y + ".at[k] = " + value + ";\n";
      stores += "    " +
                (moves_vectors ? vector(a) + " = " + y : element(a) + " = " + y + ".at[0]") + ";\n";
    }
    if (wanted.empty()) return of_row;
    return of_row + each_vector(vectors + each_element(wanted, elements) + stores);
  }

  int64_t vectors_;                // in a row
  int threads_ = kWarp;            // of a row
  int per_thread_;                 // vectors
  bool keeps_;                     // a thread keeps its part of the inputs, and reads it once
  std::vector<bool> of_row_;       // by node: one value for a row
  std::vector<int> folds_before_;  // by node: how many folds it depends on, one after the other
  int last_fold_ = 0;
};

}  // namespace

Source write_rows(const Kernel& kernel, int most_vector) {
  return RowWriter(kernel, most_vector).write();
}

}  // namespace gradus::fused
