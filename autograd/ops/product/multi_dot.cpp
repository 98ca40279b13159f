// multi_dot and chain_matmul: products of many matrices, in the order of fewest multiplications.
#include <limits>

#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/functions.h"
#include "gradus/autograd/ops/product/named_matmul.h"

namespace gradus {

namespace {

// The cheapest order of multiplying matrices [i, j): cut[i][j] is where it is cut in two.
struct Chain {
  const char* op;
  Tensors matrices;
  std::vector<std::vector<size_t>> cut;

  Chain(const char* name, Tensors list) : op(name), matrices(std::move(list)) {
    const size_t count = matrices.size();
    cut.assign(count + 1, std::vector<size_t>(count + 1));
    std::vector<std::vector<double>> cost(count + 1, std::vector<double>(count + 1));
    const auto rows = [&](size_t i) {
      return static_cast<double>(i < count ? matrices[i].size(0) : matrices[count - 1].size(1));
    };
    for (size_t length = 2; length <= count; ++length)
      for (size_t i = 0; i + length <= count; ++i) {
        const size_t j = i + length;
        cost[i][j] = std::numeric_limits<double>::infinity();
        for (size_t k = i + 1; k < j; ++k) {
          const double sum = cost[i][k] + cost[k][j] + rows(i) * rows(k) * rows(j);
          if (sum < cost[i][j]) cost[i][j] = sum, cut[i][j] = k;
        }
      }
  }
  Tensor multiply(size_t i, size_t j) const {
    if (j == i + 1) return matrices[i];
    return autograd::matmul(multiply(i, cut[i][j]), multiply(cut[i][j], j),
                            {op, "a tensor", "the next one"});
  }
};

// REQUIRES: two tensors or more.
Tensor multi_dot(const char* op, ArrayRef<Tensor> tensors) {
  Tensors matrices = tensors.vec();
  Tensor &first = matrices.front(), &last = matrices.back();
  const auto is_vector = [op](const Tensor& x) {
    return x.operand(op, "one of the tensors").dim() == 1;
  };
  const bool row = is_vector(first), column = is_vector(last);
  if (row) first = first.unsqueeze(0);
  if (column) last = last.unsqueeze(1);
  for (size_t i = 0; i < matrices.size(); ++i) {
    check(matrices[i].operand(op, "one of the tensors").dim() == 2, op, ": tensor ", i,
          " has shape ", tensors[i].sizes(),
          "; expected 2 dimensions, or 1 of the first and the last; use matmul for batches");
    check(i == 0 || matrices[i - 1].size(1) == matrices[i].size(0), op, ": tensors ", i - (i > 0),
          " and ", i, " of shapes ", tensors[i - (i > 0)].sizes(), " and ", tensors[i].sizes(),
          " do not multiply; expected as many columns as the next one has rows");
  }
  Tensor out = Chain(op, matrices).multiply(0, matrices.size());
  if (row) out = out.squeeze(0);
  return column ? out.squeeze(-1) : out;
}

}  // namespace

Tensor linalg_multi_dot(ArrayRef<Tensor> tensors) {
  GRADUS_AUTOCAST(linalg_multi_dot, tensors);
  constexpr const char* op = "linalg.multi_dot";
  check(tensors.size() >= 2, op, ": ", tensors.size(),
        " tensors, expected at least 2; a single one is its own product");
  return multi_dot(op, tensors);
}

Tensor chain_matmul(ArrayRef<Tensor> matrices) {
  GRADUS_AUTOCAST(chain_matmul, matrices);
  check(!matrices.empty(), "chain_matmul: no matrices, expected at least 1");
  for (size_t i = 0; i < matrices.size(); ++i)
    check(matrices[i].operand("chain_matmul", "one of the matrices").dim() == 2,
          "chain_matmul: matrix ", i, " has shape ", matrices[i].sizes(),
          ", expected 2 dimensions; use linalg_multi_dot for vectors");
  return matrices.size() == 1 ? matrices[0].clone() : multi_dot("chain_matmul", matrices);
}

}  // namespace gradus
