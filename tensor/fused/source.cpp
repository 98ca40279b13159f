// The CUDA C++ text of a kernel.
#include "gradus/tensor/fused/source.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "gradus/tensor/fused/formulas.h"
#include "gradus/tensor/fused/tracer.h"

namespace gradus::fused {

namespace {

constexpr int kThreads = 256, kWarp = 32, kMostPerRow = 1024, kMostKept = 8;

// One argument of the kernel: where an input is read, or an output written, in the domain.
struct Access {
  int node;
  bool is_output;
  Dims strides;  // by dimensions of the domain; 0 where the value repeats
};

class Writer {
 public:
  Writer(const Kernel& kernel, int most_vector)
      : kernel_(kernel), nodes_(kernel.program.nodes), most_vector_(most_vector) {}

  Source write() {
    collect();
    if (reduces())
      write_rows();
    else
      write_elements();
    out_.text = head() + formulas_.text() + body_;
    return std::move(out_);
  }

 private:
  static std::string str(int64_t x) { return std::to_string(x); }
  bool reduces() const { return kernel_.columns < static_cast<int64_t>(kernel_.domain.size()); }

  // --- Types
  static const char* type_in_memory(ScalarType dtype) {
    switch (dtype) {
      case kFloat: return "float";
      case kDouble: return "double";
      case kBool: return "bool";
      case kHalf: return "__half";
      case kBFloat16: return "__nv_bfloat16";
      case kLong: return "long long";
      case kInt: return "int";
      case kShort: return "short";
      case kChar: return "signed char";
      case kByte: return "unsigned char";
      default: fail<NotFusable>("fuse: dtype ", dtype, " has no kernels made at run time");
    }
  }
  static const char* type(ScalarType dtype) {
    return dtype == kHalf || dtype == kBFloat16 ? "float" : type_in_memory(dtype);
  }
  // x, as it is kept in memory, as a number, and the other way.
  std::string loaded(ScalarType dtype, const std::string& x) {
    if (dtype == kHalf) return uses_half_ = true, "__half2float(" + x + ")";
    if (dtype == kBFloat16) return uses_bfloat16_ = true, "__bfloat162float(" + x + ")";
    return x;
  }
  std::string stored(ScalarType dtype, const std::string& x) {
    if (dtype == kHalf) return uses_half_ = true, "__float2half_rn(" + x + ")";
    if (dtype == kBFloat16) return uses_bfloat16_ = true, "__float2bfloat16_rn(" + x + ")";
    return x;
  }
  std::string rounded(ScalarType dtype, const std::string& x) {
    return dtype == kHalf || dtype == kBFloat16 ? loaded(dtype, stored(dtype, x)) : x;
  }

  // --- Nodes
  std::string name(int i) const {
    const Node& node = nodes_[i];
    if (node.kind != Kind::number) return "v" + str(i);
    return literal(node.number, kDouble);
  }
  static std::string literal(const Scalar& number, ScalarType dtype) {
    if (number.isBoolean()) return number.toBool() ? "true" : "false";
    if (!number.isFloatingPoint()) return number.toLong() == INT64_MIN ? "(-9223372036854775807LL - 1)" : str(number.toLong());
    const double x = number.toDouble();
    if (std::isnan(x)) return "NAN";
    if (std::isinf(x)) return x > 0 ? "INFINITY" : "-INFINITY";
    char text[40];
    std::snprintf(text, sizeof text, dtype == kDouble ? "%.17g" : "%.9g", x);
    std::string out = text;
    if (out.find_first_of(".e") == std::string::npos) out += ".0";
    return out;
  }
  // An operand as a number of the type.
  std::string operand(const Node& node, int i, const std::string& of_type) {
    const int from = node.operands[i];
    if (from < 0) return of_type + "()";
    if (nodes_[from].kind != Kind::number && type(nodes_[from].dtype) == of_type) return name(from);
    return of_type + "(" + name(from) + ")";
  }
  static bool is_real(ScalarType dtype) { return isFloatingType(dtype); }

  // The type that a node is computed in.
  std::string computed_in(const Node& node) {
    if (node.dtype != kBool || node.kind == Kind::convert || node.kind == Kind::where)
      return type(node.dtype);
    for (const int from : node.operands)
      if (from >= 0 && nodes_[from].kind != Kind::number) return type(nodes_[from].dtype);
    return "double";
  }

  std::string expression(const Node& node) {
    const std::string t = computed_in(node);
    const bool compares = node.dtype == kBool;
    const bool computes = node.kind == Kind::map || node.kind == Kind::map_grad ||
                          node.kind == Kind::zip || node.kind == Kind::zip3;
    if (computes && !compares && !is_real(node.dtype))
      fail<NotFusable>("fuse: kernels made at run time do not compute in ", node.dtype);
    const auto call = [&](const std::string& f, int operands, const std::string& more = "") {
      std::string out = f + "(";
      for (int i = 0; i < operands; ++i) out += (i ? ", " : "") + operand(node, i, t);
      return out + more + ")";
    };
    switch (node.kind) {
      case Kind::map: return call(formulas_.use(static_cast<UnaryOp>(node.op)), 1);
      case Kind::map_grad:
        return operand(node, 0, t) + " * " + formulas_.use_slope(static_cast<UnaryOp>(node.op)) +
               "(" + operand(node, 1, t) + ", " + operand(node, 2, t) + ")";
      case Kind::zip: {
        static constexpr BinaryOp plain[] = {BinaryOp::add, BinaryOp::sub, BinaryOp::mul,
                                             BinaryOp::div};
        static constexpr const char* sign[] = {" + ", " - ", " * ", " / "};
        for (int i = 0; i < 4; ++i)
          if (static_cast<BinaryOp>(node.op) == plain[i])
            return operand(node, 0, t) + sign[i] + operand(node, 1, t);
        return call(formulas_.use(static_cast<BinaryOp>(node.op)), 2);
      }
      case Kind::zip3:
        return call(formulas_.use(static_cast<TernaryOp>(node.op)), 3,
                    ", " + t + "(" + literal(node.number, kDouble) + ")");
      case Kind::where:
        return operand(node, 0, "bool") + " ? " + operand(node, 1, t) + " : " +
               operand(node, 2, t);
      case Kind::convert:
        if (node.dtype == kBool) return name(node.operands[0]) + " != 0";
        if (!is_real(node.dtype) && node.dtype != kLong) return t + "((long long)" + name(node.operands[0]) + ")";
        return operand(node, 0, t);
      default: return "";
    }
  }
  // "const float v3 = v1 + v2;"
  std::string line(int i, const std::string& indent) {
    const Node& node = nodes_[i];
    return indent + "const " + type(node.dtype) + " v" + str(i) + " = " +
           rounded(node.dtype, expression(node)) + ";\n";
  }

  // --- Arguments
  void collect() {
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].kind == Kind::input) {
        out_.inputs.push_back(static_cast<int>(i));
        accesses_.push_back({static_cast<int>(i), false, strides_of(nodes_[i])});
      }
    for (const int output : kernel_.program.outputs)
      accesses_.push_back({output, true, strides_of(nodes_[output])});
    // Neighbouring dimensions that all walk as one become one.
    domain_ = Dims();
    std::vector<Dims> strides(accesses_.size());
    columns_ = 0;
    for (size_t d = 0; d < kernel_.domain.size(); ++d) {
      const bool is_column = static_cast<int64_t>(d) >= kernel_.columns;
      const int64_t size = kernel_.domain[d];
      if (size == 1) continue;
      bool joins = !domain_.empty() && (columns_ > 0) == is_column;
      for (size_t a = 0; a < accesses_.size() && joins; ++a)
        joins = strides[a].back() == accesses_[a].strides[d] * size;
      if (joins) {
        domain_[domain_.size() - 1] *= size;
        for (size_t a = 0; a < accesses_.size(); ++a)
          strides[a][strides[a].size() - 1] = accesses_[a].strides[d];
      } else {
        domain_.push_back(size);
        columns_ += is_column;
        for (size_t a = 0; a < accesses_.size(); ++a) strides[a].push_back(accesses_[a].strides[d]);
      }
    }
    if (domain_.empty() || (reduces() && columns_ == 0)) {
      domain_.push_back(1);
      columns_ += reduces();
      for (Dims& s : strides) s.push_back(0);
    }
    for (size_t a = 0; a < accesses_.size(); ++a) accesses_[a].strides = strides[a];
  }

  Dims strides_of(const Node& node) const {
    Dims out = Dims::filled(static_cast<int64_t>(kernel_.domain.size()), 0);
    const size_t shift = out.size() - node.sizes.size();
    for (size_t d = 0; d < node.sizes.size(); ++d)
      if (node.sizes[d] != 1) out[d + shift] = node.strides[d];
    return out;
  }

  // The most neighbours in the last dimension that all arguments can move at once.
  int vector_width() const {
    int width = 4;
    for (const Access& access : accesses_) {
      const auto bytes = static_cast<int>(element_size(nodes_[access.node].dtype));
      if (access.strides.back() != 0) width = std::min(width, std::max(1, 16 / bytes));
    }
    width = std::min(width, most_vector_);
    const auto fits = [&](const Access& access) {
      const int64_t last = access.strides.back();
      if (last != 0 && last != 1) return false;
      if (last == 0) return true;
      for (size_t d = 0; d + 1 < access.strides.size(); ++d)
        if (access.strides[d] % width != 0) return false;
      return true;
    };
    while (width > 1 && !(domain_.back() % width == 0 && std::ranges::all_of(accesses_, fits)))
      width /= 2;
    return width;
  }

  static std::string argument(const Access& access, size_t a) {
    return (access.is_output ? "out" : "in") + str(static_cast<int64_t>(a));
  }
  std::string parameters() const {
    std::string out;
    for (size_t a = 0; a < accesses_.size(); ++a) {
      const Access& access = accesses_[a];
      out += std::string(a ? ", " : "") + (access.is_output ? "" : "const ") +
             type_in_memory(nodes_[access.node].dtype) + "* " + argument(access, a);
    }
    return out;
  }
  // A number that the kernel is given.
  std::string number(const std::string& name, int64_t value) {
    numbers_ += ", long long " + name;
    out_.numbers.push_back(value);
    return name;
  }

  // --- Offsets: a sum over dimensions [0, last) of index * stride, from the row-major number.
  std::string offsets(const std::string& from, size_t last, const std::string& indent) {
    std::string text;
    if (last == 0) return text;
    text += indent + "long long rest = " + from + ";\n";
    std::vector<bool> any(accesses_.size());
    for (size_t d = last; d-- > 0;) {
      const std::string index = "i" + str(static_cast<int64_t>(d));
      if (d > 0) {
        const std::string size = number("size" + str(static_cast<int64_t>(d)), domain_[d]);
        text += indent + "const long long " + index + " = rest % " + size + ";\n";
        text += indent + "rest /= " + size + ";\n";
      } else {
        text += indent + "const long long " + index + " = rest;\n";
      }
    }
    for (size_t a = 0; a < accesses_.size(); ++a) {
      std::string sum;
      for (size_t d = 0; d < last; ++d) {
        if (accesses_[a].strides[d] == 0) continue;
        const std::string stride = number("stride" + str(static_cast<int64_t>(a)) + "_" + str(static_cast<int64_t>(d)),
                                          accesses_[a].strides[d]);
        sum += (sum.empty() ? "" : " + ") + ("i" + str(static_cast<int64_t>(d))) + " * " + stride;
      }
      if (!sum.empty())
        text += indent + argument(accesses_[a], a) + " += " + sum + ";\n";
    }
    return text;
  }

  // The place in the last dimension, whose number is `column`.
  std::string place(const Access& access, size_t a, const std::string& column) {
    const int64_t stride = access.strides.back();
    if (stride == 0) return argument(access, a) + "[0]";
    if (stride == 1) return argument(access, a) + "[" + column + "]";
    const std::string name = "stride" + str(static_cast<int64_t>(a));
    if (numbers_.find("long long " + name + ",") == std::string::npos && !numbers_.ends_with("long long " + name))
      number(name, stride);
    return argument(access, a) + "[" + column + " * " + name + "]";
  }
  static std::string vector_type(ScalarType dtype, int width) {
    return "Vector<" + std::string(type_in_memory(dtype)) + ", " + str(width) + ">";
  }

  // --- Without reductions: a thread has `width` neighbours.
  void write_elements() {
    const int width = out_.vector = vector_width();
    int64_t groups = 1;
    for (const int64_t size : domain_) groups *= size;
    groups /= width;
    out_.blocks = (groups + kThreads - 1) / kThreads;
    out_.threads_x = kThreads, out_.threads_y = 1;
    const size_t last = domain_.size() - 1;

    std::string body = "  const long long group = blockIdx.x * " + str(kThreads) +
                       "LL + threadIdx.x;\n  if (group >= " + number("groups", groups) +
                       ") return;\n";
    if (last > 0) {
      const std::string columns = number("columns", domain_.back() / width);
      body += "  const long long column = group % " + columns + (width > 1 ? " * " + str(width) : "") + ";\n";
      body += offsets("group / " + columns, last, "  ");
    } else {
      body += "  const long long column = group" + (width > 1 ? " * " + str(width) : std::string()) + ";\n";
    }
    std::string lines;
    const std::string indent = width > 1 ? "    " : "  ";
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const auto n = static_cast<int>(i);
      if (nodes_[i].kind == Kind::number) continue;
      if (nodes_[i].kind != Kind::input) {
        lines += line(n, indent);
        continue;
      }
      const size_t a = access_of(n);
      const Access& access = accesses_[a];
      const ScalarType dtype = nodes_[i].dtype;
      std::string element = place(access, a, "column");
      if (width > 1 && access.strides.back() != 0) {
        body += "  const auto x" + str(n) + " = *(const " + vector_type(dtype, width) + "*)(" +
                argument(access, a) + " + column);\n";
        element = "x" + str(n) + ".at[k]";
        uses_vector_ = true;
      }
      lines += indent + "const " + type(dtype) + " v" + str(n) + " = " + loaded(dtype, element) + ";\n";
    }
    std::string stores;
    for (size_t a = 0; a < accesses_.size(); ++a) {
      const Access& access = accesses_[a];
      if (!access.is_output) continue;
      const ScalarType dtype = nodes_[access.node].dtype;
      const std::string value = stored(dtype, name(access.node));
      if (width > 1) {
        body += "  " + vector_type(dtype, width) + " y" + str(static_cast<int64_t>(a)) + ";\n";
        lines += indent + "y" + str(static_cast<int64_t>(a)) + ".at[k] = " + value + ";\n";
        stores += "  *(" + vector_type(dtype, width) + "*)(" + argument(access, a) + " + column) = y" + str(static_cast<int64_t>(a)) + ";\n";
        uses_vector_ = true;
      } else {
        stores += "  " + place(access, a, "column") + " = " + value + ";\n";
      }
    }
    if (width > 1)
      body += "#pragma unroll\n  for (int k = 0; k < " + str(width) + "; ++k) {\n" + lines + "  }\n";
    else
      body += lines;
    finish(body + stores, kThreads);
  }

  size_t access_of(int node) const {
    return static_cast<size_t>(std::ranges::find_if(accesses_, [&](const Access& access) {
                                 return access.node == node && !access.is_output;
                               }) - accesses_.begin());
  }

  // --- With reductions: one block, or one warp, has a row.
  void write_rows() {
    if (columns_ > 1) fail<NotFusable>("fuse: a row is spread over several dimensions");
    const int width = out_.vector = vector_width();
    const int64_t columns = domain_.back();
    const int64_t groups = columns / width;
    int64_t rows = 1;
    for (size_t d = 0; d + 1 < domain_.size(); ++d) rows *= domain_[d];
    // A thread keeps at most kMostKept groups in registers; of longer rows it reads them again.
    int threads = kWarp;
    while (threads < kMostPerRow && threads * 2 < groups) threads *= 2;
    const bool keeps = groups <= int64_t{threads} * kMostKept;
    const auto per_thread = static_cast<int>((groups + threads - 1) / threads);
    const int of_block = threads == kWarp ? 4 : 1;
    out_.blocks = (rows + of_block - 1) / of_block;
    out_.threads_x = threads, out_.threads_y = of_block;

    std::string body;
    if (of_block > 1) {
      const std::string limit = number("rows", rows);
      body += "  const long long row = blockIdx.x * " + str(of_block) + "LL + threadIdx.y;\n";
      body += "  if (row >= " + limit + ") return;\n";
    } else {
      body += "  const long long row = blockIdx.x;\n";
    }
    number("groups", groups);
    number("columns", columns);
    body += offsets("row", domain_.size() - 1, "  ");

    // Values of the row, and how many reductions come before each node.
    std::vector<bool> of_row(nodes_.size());
    std::vector<int> phase(nodes_.size());
    int last_phase = 0;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      of_row[i] = is_of_row(kernel_, nodes_[i]);
      for (const int from : nodes_[i].operands)
        if (from >= 0) phase[i] = std::max(phase[i], phase[from]);
      if (nodes_[i].kind == Kind::reduce) ++phase[i];
      last_phase = std::max(last_phase, phase[i]);
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      if (node.kind != Kind::input) continue;
      const size_t a = access_of(static_cast<int>(i));
      const std::string v = str(static_cast<int64_t>(i));
      if (of_row[i]) {
        body += "  const " + std::string(type(node.dtype)) + " v" + v + " = " + loaded(node.dtype, argument(accesses_[a], a) + "[0]") + ";\n";
      } else if (keeps) {
        uses_vector_ = true;
        body += "  " + vector_type(node.dtype, width) + " x" + v + "[" + str(per_thread) + "];\n";
      }
    }
    if (keeps) {
      std::string loads;
      for (size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_[i].kind == Kind::input && !of_row[i]) loads += load(static_cast<int>(i), width, "x" + str(static_cast<int64_t>(i)) + "[j]");
      body += loop(per_thread, keeps, width, loads);
    }
    body += row_values(of_row, phase, 0);
    for (int p = 0; p < last_phase; ++p) {
      std::string starts, folds, ends;
      std::vector<int> wanted;
      for (size_t i = 0; i < nodes_.size(); ++i) {
        const Node& node = nodes_[i];
        if (node.kind != Kind::reduce || phase[i] != p + 1) continue;
        const auto op = static_cast<ReduceOp>(node.op);
        if (!is_real(node.dtype)) fail<NotFusable>("fuse: kernels made at run time do not reduce in ", node.dtype);
        formulas_.use(op);
        const std::string v = str(static_cast<int64_t>(i)), t = type(node.dtype), f = name_of(op);
        wanted.push_back(node.operands[0]);
        starts += "  " + t + " s" + v + " = " + f + "_start<" + t + ">();\n";
        folds += "      s" + v + " = " + f + "_combine(s" + v + ", " + f + "_enter(" + operand(node, 0, t) + "));\n";
        ends += "  s" + v + " = over_row(s" + v + ", [](" + t + " a, " + t + " b) { return " + f + "_combine(a, b); });\n";
        ends += "  const " + t + " v" + v + " = " + f + "_finish(s" + v + ", columns);\n";
      }
      body += starts + loop(per_thread, keeps, width, element_lines(wanted, of_row, width, keeps) + folds + "    }\n") + ends;
      body += row_values(of_row, phase, p + 1);
    }
    // The results.
    std::vector<int> wanted;
    std::string stores, after, declared;
    for (size_t a = 0; a < accesses_.size(); ++a) {
      const Access& access = accesses_[a];
      if (!access.is_output) continue;
      const ScalarType dtype = nodes_[access.node].dtype;
      const std::string value = stored(dtype, name(access.node)), y = "y" + str(static_cast<int64_t>(a));
      if (of_row[access.node]) {
        after += "  if (threadIdx.x == 0) " + argument(access, a) + "[0] = " + value + ";\n";
        continue;
      }
      uses_vector_ = true;
      wanted.push_back(access.node);
      declared += "    " + vector_type(dtype, width) + " " + y + ";\n";
      stores += "      " + y + ".at[k] = " + value + ";\n";
      if (access.strides.back() == 1)
        after_ += "    *(" + vector_type(dtype, width) + "*)(" + argument(access, a) + " + column) = " + y + ";\n";
      else
        after_ += "    " + place(access, a, "column") + " = " + y + ".at[0];\n";
    }
    if (!wanted.empty())
      body += loop(per_thread, keeps, width, declared + element_lines(wanted, of_row, width, keeps) + stores + "    }\n" + after_);
    uses_row_ = true;
    row_threads_ = threads;
    finish(body + after, threads * of_block);
  }

  // Over the groups of this thread: `column` is the first of group j.
  std::string loop(int per_thread, bool keeps, int width, const std::string& inside) const {
    const std::string bound = keeps ? str(per_thread) : "(int)((groups + blockDim.x - 1) / blockDim.x)";
    return std::string(keeps ? "#pragma unroll\n" : "") + "  for (int j = 0; j < " + bound + "; ++j) {\n" +
           "    const long long group = j * (long long)blockDim.x + threadIdx.x;\n    if (group >= groups) "
           "break;\n    const long long column = group" + (width > 1 ? " * " + str(width) : "") + ";\n" +
           inside + "  }\n";
  }

  std::string load(int i, int width, const std::string& to) {
    const size_t a = access_of(i);
    const Access& access = accesses_[a];
    if (access.strides.back() == 1)
      return "    " + to + " = *(const " + vector_type(nodes_[i].dtype, width) + "*)(" + argument(access, a) + " + column);\n";
    const std::string k = width > 1 ? "k" : "0";  // one element for all, then
    return (width > 1 ? "    for (int k = 0; k < " + str(width) + "; ++k) " : "    ") + to + ".at[" +
           k + "] = " + place(access, a, "column") + ";\n";
  }

  // The head of a loop over the elements of a group, and what they need.
  std::string element_lines(const std::vector<int>& wanted, const std::vector<bool>& of_row, int width, bool keeps) {
    std::vector<bool> needed(nodes_.size());
    for (const int root : wanted) need(root, of_row, needed);
    std::string out, loads;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!needed[i] || of_row[i] || nodes_[i].kind == Kind::number) continue;
      const std::string v = str(static_cast<int64_t>(i));
      if (nodes_[i].kind != Kind::input) {
        out += line(static_cast<int>(i), "      ");
        continue;
      }
      if (!keeps) {
        uses_vector_ = true;
        loads += "    " + vector_type(nodes_[i].dtype, width) + " x" + v + ";\n" + load(static_cast<int>(i), width, "x" + v);
      }
      out += "      const " + std::string(type(nodes_[i].dtype)) + " v" + v + " = " +
             loaded(nodes_[i].dtype, "x" + v + (keeps ? "[j]" : "") + ".at[k]") + ";\n";
    }
    return loads + "#pragma unroll\n    for (int k = 0; k < " + str(width) + "; ++k) {\n" + out;
  }
  void need(int i, const std::vector<bool>& of_row, std::vector<bool>& needed) const {
    if (needed[i] || of_row[i]) return;
    needed[i] = true;
    for (const int from : nodes_[i].operands)
      if (from >= 0) need(from, of_row, needed);
  }

  // The values of the row that are known after so many reductions.
  std::string row_values(const std::vector<bool>& of_row, const std::vector<int>& phase, int p) {
    std::string out;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Kind kind = nodes_[i].kind;
      if (of_row[i] && phase[i] == p && kind != Kind::input && kind != Kind::number && kind != Kind::reduce)
        out += line(static_cast<int>(i), "  ");
    }
    return out;
  }

  void finish(const std::string& body, int threads) {
    body_ += "\nextern \"C\" __global__ void __launch_bounds__(" + str(threads) + ")\n    fused(" +
             parameters() + numbers_ + ") {\n" + body + "}\n";
  }

  // What every kernel of this kind begins with.
  std::string head() const {
    std::string out = "// Made by gradus::fuse.\n";
    if (uses_half_) out += "#include <cuda_fp16.h>\n";
    if (uses_bfloat16_) out += "#include <cuda_bf16.h>\n";
    if (uses_vector_)
      out +=
          "template <class T, int N>\nstruct alignas(sizeof(T) * N) Vector {\n  T at[N];\n};\n";
    if (uses_row_) {
      out += "// The fold of all threads of a row, in each of them.\n"
             "template <class T, class F>\n__device__ T over_row(T x, F combine) {\n"
             "#pragma unroll\n"
             "  for (int step = 16; step > 0; step /= 2)\n"
             "    x = combine(x, __shfl_xor_sync(0xffffffffu, x, step));\n";
      if (row_threads_ > kWarp) {
        const std::string warps = str(row_threads_ / kWarp);
        out += "  __shared__ T of_warp[" + warps + "];\n"
               "  __syncthreads();\n"
               "  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;\n"
               "  __syncthreads();\n"
               "  x = of_warp[0];\n"
               "  for (int i = 1; i < " + warps + "; ++i) x = combine(x, of_warp[i]);\n";
      }
      out += "  return x;\n}\n";
    }
    return out;
  }

  const Kernel& kernel_;
  const std::vector<Node>& nodes_;
  const int most_vector_;
  Source out_;
  std::vector<Access> accesses_;
  Dims domain_;      // with neighbouring dimensions joined
  int columns_ = 0;  // how many of its last dimensions are reduced
  Formulas formulas_;
  std::string body_, numbers_, after_;
  bool uses_vector_ = false, uses_half_ = false, uses_bfloat16_ = false, uses_row_ = false;
  int row_threads_ = 0;
};

}  // namespace

Source make_source(const Kernel& kernel, int most_vector) {
  return Writer(kernel, most_vector).write();
}

}  // namespace gradus::fused
