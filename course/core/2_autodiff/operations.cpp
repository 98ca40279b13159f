// Given: operations that compute with module 1 and leave nodes behind for backward().
#include "core/operations.h"

#include <algorithm>

#include "core/cpu.h"
#include "core/tensors.h"

namespace course {

namespace {

using Gradients = std::function<std::vector<Tensor>(const Tensor& gradient)>;

// The layout of a contiguous tensor, with dimensions of size 1 in front up to this rank.
Layout layout_of(const Dims& sizes, size_t rank) {
  if (rank > kMaxRank) throw std::invalid_argument("operations take tensors of at most 4 dimensions");
  Dims wide(rank - sizes.size(), 1);
  wide.insert(wide.end(), sizes.begin(), sizes.end());
  const Dims strides = strides_of(wide);
  Layout out;
  out.rank = static_cast<int>(rank);
  std::copy(wide.begin(), wide.end(), out.sizes);
  std::copy(strides.begin(), strides.end(), out.strides);
  return out;
}
Layout layout_of(const Tensor& x) { return layout_of(x.sizes, x.sizes.size()); }

// Gives the result of an operation a node, if somebody asks for the gradient of an operand.
Tensor record(Tensor result, const std::vector<Tensor>& operands, Gradients gradients) {
  const auto node = std::make_shared<Node>();
  bool wanted = false;
  for (const Tensor& each : operands) {
    node->inputs.push_back(each.node);
    wanted = wanted || each.node != nullptr;
  }
  node->gradients = std::move(gradients);
  if (wanted) result.node = node;
  return result;
}

// The elements of x, repeated where x is broadcast to `sizes`.
Tensor expanded(const Tensor& x, const Dims& sizes) {
  const Tensor out = make(sizes);
  cpu::map(Op1::identity, out.write(), layout_of(out), x.read(), layout_of(x.sizes, sizes.size()));
  return out;
}

Mat rows_of(const Tensor& x) { return {x.read(), x.sizes[1], 1}; }
Mat transposed(const Tensor& x) { return {x.read(), 1, x.sizes[1]}; }

Tensor product(const Mat& a, const Mat& b, long m, long n, long k) {
  const Tensor out = make({m, n});
  cpu::matmul(out.write(), a, b, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
  return out;
}

}  // namespace

Tensor leaf(Tensor x) {
  x.node = std::make_shared<Node>();
  return x;
}

Tensor map(Op1 op, const Tensor& x) {
  const Tensor y = make(x.sizes);
  cpu::map(op, y.write(), layout_of(y), x.read(), layout_of(x));
  return record(y, {x}, [op, x = Saved(x), y = Saved(y)](const Tensor& gradient) -> std::vector<Tensor> {
    const Tensor at = x.get(), result = y.get(), out = make(at.sizes);
    float* const to = out.write();
    for (long i = 0; i < out.count(); ++i) to[i] = gradient.read()[i] * slope(op, at.read()[i], result.read()[i]);
    return {out};
  });
}

Tensor zip(Op2 op, const Tensor& x, const Tensor& y) {
  const Tensor result = make(broadcast(x.sizes, y.sizes));
  const size_t rank = result.sizes.size();
  cpu::zip(op, result.write(), layout_of(result), x.read(), layout_of(x.sizes, rank), y.read(), layout_of(y.sizes, rank));
  return record(result, {x, y}, [op, x = Saved(x), y = Saved(y)](const Tensor& gradient) -> std::vector<Tensor> {
    const Dims& sizes = gradient.sizes;
    const Tensor a = x.get(), b = y.get(), wide_a = expanded(a, sizes), wide_b = expanded(b, sizes);
    const Tensor by_a = make(sizes), by_b = make(sizes);
    float *const to_a = by_a.write(), *const to_b = by_b.write();
    for (long i = 0; i < gradient.count(); ++i) {
      const Pair by = slopes(op, wide_a.read()[i], wide_b.read()[i]);
      to_a[i] = gradient.read()[i] * by.x;
      to_b[i] = gradient.read()[i] * by.y;
    }
    return {sum_to(by_a, a.sizes), sum_to(by_b, b.sizes)};
  });
}

Tensor matmul(const Tensor& x, const Tensor& y) {
  if (x.sizes.size() != 2 || y.sizes.size() != 2 || x.sizes[1] != y.sizes[0])
    throw std::invalid_argument("matmul takes matrices of sizes (m, k) and (k, n)");
  const long m = x.sizes[0], k = x.sizes[1], n = y.sizes[1];
  const Tensor result = product(rows_of(x), rows_of(y), m, n, k);
  return record(result, {x, y}, [=, x = Saved(x), y = Saved(y)](const Tensor& gradient) -> std::vector<Tensor> {
    return {product(rows_of(gradient), transposed(y.get()), m, k, n),
            product(transposed(x.get()), rows_of(gradient), k, n, m)};
  });
}

Tensor sum(const Tensor& x) {
  const long n = x.count();
  const Tensor out = make({});
  cpu::reduce(Op2::add, 0, out.write(), layout_of({1}, 1), x.read(), layout_of({n}, 1), 0);
  return record(out, {x}, [sizes = x.sizes](const Tensor& gradient) -> std::vector<Tensor> {
    return {make(sizes, gradient.read()[0])};
  });
}

}  // namespace course
