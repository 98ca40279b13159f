// The text of a kernel with reductions: a block, or a warp, has a row, and folds it as often as its
// values depend on folds.
#include <algorithm>

#include "gradus/tensor/codegen/prelude.h"
#include "gradus/tensor/fused/tracer.h"
#include "gradus/tensor/fused/writer.h"

namespace gradus::fused {

namespace {

constexpr int kWarp = 32, kMostThreads = 1024;
constexpr int kMostKept = 8;     // vectors of each input that a thread keeps in registers
constexpr int kRowsOfBlock = 4;  // where a warp has a row

// Each thread of a row gets the fold of the whole row, which has WARPS warps.
constexpr char kOverRow[] = R"(
template <int WARPS, class T, class F>
__device__ T over_row(T x, F combine) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    x = combine(x, __shfl_xor_sync(0xffffffffu, x, step));
  if constexpr (WARPS > 1) {
    __shared__ T of_warp[WARPS];
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    x = of_warp[0];
    for (int i = 1; i < WARPS; ++i) x = combine(x, of_warp[i]);
  }
  return x;
}
)";

class RowWriter final : public Writer {
 public:
  explicit RowWriter(const Kernel& kernel)
      : Writer(kernel), rows_(sizes(false), strides_), row_(sizes(true), strides_) {
    for (const Expr& expr : exprs_) {
      of_row_.push_back(is_of_row(kernel, expr));
      int folds = 0;
      for (const int from : expr.operands)
        if (from >= 0) folds = std::max(folds, folds_before_[from]);
      folds_before_.push_back(folds + (expr.kind == Kind::reduce));
      last_fold_ = std::max(last_fold_, folds_before_.back());
    }
  }

  KernelText write(int most_vector) {
    const int64_t rows = rows_.elements(), columns = row_.elements();
    width_ =
        codegen::vector_width(row_, element_sizes_, std::min(most_vector, kMostVector), &rows_);
    const int64_t vectors = columns / width_;
    while (threads_ < kMostThreads && threads_ * 2 < vectors) threads_ *= 2;
    keeps_ = vectors <= int64_t{threads_} * kMostKept;
    per_thread_ = static_cast<int>((vectors + threads_ - 1) / threads_);
    const int rows_of_block = threads_ == kWarp ? kRowsOfBlock : 1;
    out_.blocks = (rows + rows_of_block - 1) / rows_of_block;
    out_.threads_x = threads_, out_.threads_y = rows_of_block;
    out_.vector = width_;
    // Indices of 64 bits: narrower ones take more registers, as each is added to several pointers.
    out_.more.add(rows_.bytes(true));
    out_.more.add(row_.bytes(true, width_));
    out_.more.add(rows);
    out_.more.add(columns);

    std::string text = "  const Index row = Index(blockIdx.x)";
    text += rows_of_block > 1 ? " * " + str(rows_of_block) + " + threadIdx.y;\n" : ";\n";
    if (rows_of_block > 1) text += "  if (row >= rows) return;\n";
    text += "  const Index vectors = columns / " + str(width_) + ";\n";
    for (size_t t = 0; t < tensors_.size(); ++t)
      text += "  " + parameters_[t].name + "_data += walk_of_rows.offset(" + str(t) + ", row);\n";
    text += inputs() + row_values(0);
    for (int fold = 1; fold <= last_fold_; ++fold) text += folds(fold) + row_values(fold);
    text += results();

    out_.text = prelude(true) + kOverRow + "\n__global__ void __launch_bounds__(" +
                str(threads_ * rows_of_block) + ")\nfused(";
    out_.text += codegen::kernel_parameters(parameters_) + rows_.parameter("walk_of_rows") + ", " +
                 row_.parameter("walk_of_row") + ", const Index rows, const Index columns) {\n" +
                 text + "}\n";
    return std::move(out_);
  }

 private:
  // The domain with size 1 for the dimensions of a row, or for all others.
  Dims sizes(bool of_row) const {
    Dims out = kernel_.domain;
    for (size_t d = 0; d < out.size(); ++d)
      if ((static_cast<int64_t>(d) >= kernel_.columns) != of_row) out[d] = 1;
    return out;
  }
  // Where a vector of the row begins, and "gradus::Vector<float, 4> ".
  std::string place(size_t tensor) const {
    const std::string data = parameters_[tensor].name + "_data";
    const bool is_flat = row_.sizes.size() == 1;
    if (is_flat && row_.strides[tensor][0] == 0) return data;
    if (is_flat && row_.strides[tensor][0] == 1) return data + " + vector * " + str(width_);
    return data + " + walk_of_row.offset(" + str(tensor) + ", vector)";
  }
  std::string vector_type(size_t tensor) const {
    return "gradus::Vector<" + parameters_[tensor].type + ", " + str(width_) + "> ";
  }

  // Those of the row, and where a thread keeps its part of the row, all others.
  std::string inputs() {
    std::string text, loads;
    for (size_t t = 0; t < out_.inputs.size(); ++t) {
      const int expr = tensors_[t];
      const std::string& x = parameters_[t].name;
      if (of_row_[expr]) {
        text += line(expr, "  ", loaded(exprs_[expr].dtype, x + "_data[0]"));
      } else if (keeps_) {
        text += "  " + vector_type(t) + x + "[" + str(per_thread_) + "];\n";
        loads += load(t, x + "[j]");
      }
    }
    return text + (loads.empty() ? "" : each_vector(loads));
  }

  // `inside` for each vector j of this thread, number `vector` of the row.
  std::string each_vector(const std::string& inside) const {
    std::string text = keeps_ ? "#pragma unroll\n" : "";
    text += "  for (int j = 0; j < ";
    text += keeps_ ? str(per_thread_) : "(int)((vectors + blockDim.x - 1) / blockDim.x)";
    text += "; ++j) {\n    const Index vector = j * Index(blockDim.x) + threadIdx.x;\n";
    return text + "    if (vector >= vectors) break;\n" + inside + "  }\n";
  }

  std::string load(size_t t, const std::string& to) const {
    const std::string from = place(t), width = str(width_);
    if (width_ == 1 || !row_.repeats(t))
      return "    " + to + " = gradus::load<" + width + ">(" + from + ");\n";
    return "    for (int k = 0; k < " + width + "; ++k) " + to + ".at[k] = *(" + from + ");\n";
  }

  // `inside` for each element k of a vector, after the values that the wanted expressions need.
  std::string each_element(const std::vector<int>& wanted, const std::string& inside) {
    std::vector<bool> needed(exprs_.size());
    for (const int expr : wanted) need(expr, needed);
    std::string values, loads;
    for (size_t i = 0; i < exprs_.size(); ++i) {
      const auto expr = static_cast<int>(i);
      if (!needed[i] || exprs_[i].kind == Kind::number) continue;
      if (exprs_[i].kind != Kind::input) {
        values += line(expr, "      ");
        continue;
      }
      const size_t t = tensor_of(expr);
      const std::string& x = parameters_[t].name;
      if (!keeps_) loads += "    " + vector_type(t) + x + ";\n" + load(t, x);
      values +=
          line(expr, "      ", loaded(exprs_[i].dtype, x + (keeps_ ? "[j].at[k]" : ".at[k]")));
    }
    return loads + "#pragma unroll\n    for (int k = 0; k < " + str(width_) + "; ++k) {\n" +
           values + inside + "    }\n";
  }
  void need(int expr, std::vector<bool>& needed) const {
    if (needed[expr] || of_row_[expr]) return;
    needed[expr] = true;
    for (const int from : exprs_[expr].operands)
      if (from >= 0) need(from, needed);
  }

  // The folds that follow so many others, less one.
  std::string folds(int fold) {
    std::string starts, combines, ends;
    std::vector<int> wanted;
    for (size_t i = 0; i < exprs_.size(); ++i) {
      const Expr& expr = exprs_[i];
      if (expr.kind != Kind::reduce || folds_before_[i] != fold) continue;
      const auto op = static_cast<ReduceOp>(expr.op);
      if (!isFloatingType(expr.dtype))
        fail<NotFusable>("fuse: kernels made at run time do not reduce in ", expr.dtype);
      formulas_.use(op);
      const std::string t = type(expr.dtype), f = std::string("gradus::") + name_of(op),
                        s = "s" + str(i);
      wanted.push_back(expr.operands[0]);
      starts += "  " + t + " " + s + " = " + f + "_start<" + t + ">();\n";
      combines += "      " + s + " = " + f + "_combine(" + s + ", " + f + "_enter(" +
                  operand(expr, 0, t) + "));\n";
      ends += "  " + s + " = over_row<" + str(threads_ / kWarp) + ">(" + s + ", [](" + t + " a, " +
              t + " b) { return " + f + "_combine(a, b); });\n";
      ends += line(static_cast<int>(i), "  ", f + "_finish(" + s + ", columns)");
    }
    return starts + each_vector(each_element(wanted, combines)) + ends;
  }

  // The values of the row that are known after so many folds.
  std::string row_values(int fold) {
    std::string text;
    for (size_t i = 0; i < exprs_.size(); ++i) {
      const Kind kind = exprs_[i].kind;
      if (of_row_[i] && folds_before_[i] == fold && kind != Kind::input && kind != Kind::number &&
          kind != Kind::reduce)
        text += line(static_cast<int>(i), "  ");
    }
    return text;
  }

  std::string results() {
    std::string of_row, vectors, elements, stores;
    std::vector<int> wanted;
    for (size_t t = out_.inputs.size(); t < tensors_.size(); ++t) {
      const int expr = tensors_[t];
      const std::string value = stored(exprs_[expr].dtype, name(expr)), &y = parameters_[t].name;
      if (of_row_[expr]) {
        of_row += "  if (threadIdx.x == 0) " + y + "_data[0] = " + value + ";\n";
        continue;
      }
      wanted.push_back(expr);
      vectors += "    " + vector_type(t) + y + ";\n";
      elements += "      " + y + ".at[k] = " + value + ";\n";
      stores += "    gradus::store(" + place(t) + ", " + y + ");\n";
    }
    if (wanted.empty()) return of_row;
    return of_row + each_vector(vectors + each_element(wanted, elements) + stores);
  }

  codegen::Walk rows_, row_;       // to the first elements of rows, and along a row
  int width_ = 1;                  // elements of a vector
  int threads_ = kWarp;            // of a row
  int per_thread_ = 0;             // vectors
  bool keeps_ = false;             // a thread keeps its part of the inputs, and reads it once
  std::vector<bool> of_row_;       // by expression: one value for a row
  std::vector<int> folds_before_;  // by expression: how many folds it depends on in turn
  int last_fold_ = 0;
};

}  // namespace

KernelText write_rows(const Kernel& kernel, int most_vector) {
  return RowWriter(kernel).write(most_vector);
}

}  // namespace gradus::fused
