// Rules of functions whose operands have a batch of their own, or an order of dimensions.
#include "gradus/tensor/batching/rules.h"

#include <mutex>
#include <set>

#include "gradus/tensor/base/warning.h"

namespace gradus::batching {

namespace {

int64_t samples_of(const Axes& axes) {
  int64_t out = 1;
  for (const Axis& axis : axes) out *= axis.size;
  return out;
}

// All samples of x, row-major, with these sizes.
Tensor block(const Tensor& x, const Axes& axes, IntArrayRef sizes) {
  return x.defined() ? *raw::try_view(raw::contiguous(physical(x, axes)), sizes) : x;
}
Tensor block(const Tensor& x, const Axes& axes) {
  return x.defined() ? raw::contiguous(physical(x, axes)) : x;
}
// A tensor of `sizes` for the results of all samples.
Tensor room(const Tensor& out, IntArrayRef sizes) {
  return raw::empty(sizes, out.scalar_type(), out.device());
}
// The sizes of all samples of x.
Dims full_sizes(const Tensor& x, const Axes& axes) {
  Dims out;
  for (const Axis& axis : axes) out.push_back(axis.size);
  for (const int64_t size : x.sizes()) out.push_back(size);
  return out;
}
Tensor room(const Tensor& out, const Axes& axes) { return room(out, full_sizes(out, axes)); }

Tensor shaped(const Tensor& x, IntArrayRef sizes) {
  return *raw::try_view(raw::contiguous(x), sizes);
}

// (first, second, rest) as (second, first, rest).
Tensor swapped(const Tensor& x) { return raw::contiguous(raw::transpose(x, 0, 1)); }

}  // namespace

Axes drawing_axes() {
  Axes out;
  for (const Level* level = here(); level; level = level->outer)
    if (!level->loops && level->randomness == Randomness::different)
      out.insert(out.begin(), {level->depth, level->size, 0});
  return out;
}

Axes without(const Axes& all, const Axes& some) {
  Axes out;
  for (const Axis& axis : all) {
    bool kept = true;
    for (const Axis& other : some) kept &= other.depth != axis.depth;
    if (kept) out.push_back(axis);
  }
  return out;
}

void say_that_it_loops(const char* called) {
  static std::mutex mutex;
  static std::set<std::string> said;
  {
    const std::lock_guard lock(mutex);
    if (!said.insert(called).second && !Warning::get_warnAlways()) return;
  }
  warn(std::string("vmap: ") + called +
       " has no rule for batches, and is called for one sample after the other (said once)");
}

// A tensor of one element may have the wider dtype that the other one is computed in. A batch of
// such tensors has more elements, so that it is converted here.
bool Special::zip(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) const {
  const auto is_wide = [&](const Operand& o) {
    return !o.is_number() && o.tensor->numel() == 1 && o.tensor->dtype() != out.dtype();
  };
  if (gives_bool(op) || raw::takes_beside(Function::zip, out).mixed || !(is_wide(x) || is_wide(y)))
    return false;
  const ScalarType wide = computed_type(out.dtype());
  const auto ready = [&](const Operand& o) {
    return o.is_number() ? Tensor() : raw::to(physical(*o.tensor, axes, out.dim()), wide);
  };
  Tensor result;
  {
    const Scope outside(nullptr);
    const Tensor a = ready(x), b = ready(y);
    result = raw::to(raw::zip(op, a.defined() ? Operand(a) : x, b.defined() ? Operand(b) : y),
                     out.scalar_type());
  }
  give(called, out, axes, result);
  return true;
}

// A matrix that all samples share is one factor of one product: samples are rows of the other one.
bool Special::matmul(const Tensor& a, const Tensor& b, const Tensor& bias,
                     const Tensor& out) const {
  const bool shares_left = axes_of(a).empty() && a.size(0) == 1,
             shares_right = axes_of(b).empty() && b.size(0) == 1;
  const bool adds = bias.defined() && !(shares_right && axes_of(bias).empty());
  const Axes& varied = axes_of(shares_right ? a : b);
  if (axes.size() == 1 && shares_left != shares_right && !adds && varied.size() == 1 &&
      (shares_right ? a.size(1) : b.size(2)) == 1 && (shares_right || !bias.defined())) {
    // Vectors are the rows at once.
    spread(called, out, axes);
    const Scope outside(nullptr);
    const auto rows = [&](const Tensor& x, int64_t d) {
      const Tensor all = physical(x, axes);
      return raw::alias(all, {1, all.size(0), x.size(d)}, {0, all.stride(0), x.stride(d)});
    };
    const Tensor to = rows(out, shares_right ? 2 : 1), shared = physical(shares_right ? b : a, {});
    if (to.is_contiguous()) {
      gradus::backend(to).matmul(rows(shares_right ? a : b, shares_right ? 2 : 1),
                                 shares_right ? shared : raw::transpose(shared, 1, 2),
                                 physical(bias, {}), to);
      return true;
    }
  }
  Tensor result;
  {
    const Scope outside(nullptr);
    const auto matrix = [](const Tensor& x) {
      const Tensor all = physical(x, {});
      return raw::alias(all, {x.size(1), x.size(2)}, {x.stride(1), x.stride(2)});
    };
    const Tensor left = physical(a, axes), right = physical(b, axes);
    const int64_t last = left.dim() - 1;
    if (shares_right)
      result =
          raw::linear(left, raw::transpose(matrix(b), 0, 1), adds ? Tensor() : physical(bias, {}));
    else if (shares_left && b.size(2) == 1)
      result = raw::transpose(
          raw::linear(raw::transpose(right, last - 1, last), matrix(a), Tensor()), last - 1, last);
    else
      result = raw::matmul(left, right);
    if (adds) raw::zip_(BinaryOp::add, result, physical(bias, axes, 3));
  }
  give(called, out, axes, result);
  return true;
}

// Samples are more samples of the batch where they share the weight, and more groups elsewhere.
bool Special::convolution(ConvolutionPass part, const Convolution& shape, const Tensor& a,
                          const Tensor& b, const Tensor& bias, const Tensor& out) const {
  const int64_t n = samples_of(axes);
  Convolution all = shape;
  Tensor result;
  {
    const Scope outside(nullptr);
    Backend& below = gradus::backend(out);
    if (part != ConvolutionPass::wgrad && axes_of(b).empty() &&
        (!bias.defined() || axes_of(bias).empty())) {
      all.batch *= n;
      result = room(out, axes);
      below.convolution(part, all, block(a, axes), physical(b, {}), physical(bias, {}), result);
    } else {
      all.channels *= n, all.filters *= n, all.groups *= n;
      const auto inner = [&](const Tensor& x, int64_t first) {
        Dims sizes{first};
        for (int64_t d = first == n ? 0 : 1; d < x.dim(); ++d) sizes.push_back(x.sizes()[d]);
        return sizes;
      };
      // (samples, batch, channels, ...) as (batch, samples, channels, ...).
      const auto grouped = [&](const Tensor& x) { return swapped(block(x, axes, inner(x, n))); };
      const bool of_weight = part == ConvolutionPass::wgrad;
      const Tensor second = of_weight ? grouped(b) : block(b, axes);
      Dims sizes = inner(out, n);
      if (!of_weight) std::swap(sizes[0], sizes[1]);
      result = room(out, sizes);
      below.convolution(part, all, grouped(a), second, block(bias, axes), result);
      result = shaped(of_weight ? result : swapped(result), full_sizes(out, axes));
    }
  }
  give(called, out, axes, result);
  return true;
}

namespace {

Pool pool_of(Pool pool, const Axes& axes) {
  pool.planes *= samples_of(axes);
  return pool;
}

}  // namespace

bool Special::max_pool(const Pool& pool, const Tensor& x, const Tensor& values,
                       const Tensor& indices) const {
  Tensor found, places;
  {
    const Scope outside(nullptr);
    found = room(values, axes), places = room(indices, axes);
    gradus::backend(x).max_pool(pool_of(pool, axes), block(x, axes), found, places);
  }
  give(called, values, axes, found);
  give(called, indices, axes, places);
  return true;
}
bool Special::max_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& indices,
                            const Tensor& out) const {
  Tensor result;
  {
    const Scope outside(nullptr);
    result = room(out, axes);
    gradus::backend(out).max_pool_grad(pool_of(pool, axes), block(grad, axes), block(indices, axes),
                                       result);
  }
  give(called, out, axes, result);
  return true;
}
bool Special::average_pool(const Pool& pool, const Tensor& x, const Tensor& out) const {
  Tensor result;
  {
    const Scope outside(nullptr);
    result = room(out, axes);
    gradus::backend(out).average_pool(pool_of(pool, axes), block(x, axes), result);
  }
  give(called, out, axes, result);
  return true;
}
bool Special::average_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& out) const {
  Tensor result;
  {
    const Scope outside(nullptr);
    result = room(out, axes);
    gradus::backend(out).average_pool_grad(pool_of(pool, axes), block(grad, axes), result);
  }
  give(called, out, axes, result);
  return true;
}

bool Special::searchsorted(bool right, const Tensor& list, const Tensor& values,
                           const Tensor& out) const {
  Tensor result;
  {
    const Scope outside(nullptr);
    const Tensor wanted = block(values, axes);
    Tensor lists = physical(list, {});
    if (list.dim() > 1 || !axes_of(list).empty()) {
      Dims sizes = wanted.impl().sizes;
      sizes[wanted.dim() - 1] = list.size(-1);
      lists = raw::contiguous(raw::expand(physical(list, axes, values.dim()), sizes));
    }
    result = room(out, axes);
    gradus::backend(out).searchsorted(right, lists, wanted, result);
  }
  give(called, out, axes, result);
  return true;
}

// Samples are more rows; each has a mean of its own.
bool Special::cross_entropy(const CrossEntropyRule& rule, const Tensor& x, const Tensor& target,
                            const Tensor& weight, const Tensor& table, const Tensor& mean) const {
  if (weight.defined() && !axes_of(weight).empty()) return false;
  const int64_t n = samples_of(axes), rows = x.size(0);
  Tensor all, means;
  {
    const Scope outside(nullptr);
    all = room(table, {4, n * rows});
    gradus::backend(x).cross_entropy(rule, block(x, axes, {n * rows, x.size(1)}),
                                     block(target, axes, {n * rows}), physical(weight, {}), all,
                                     Tensor());
    all = shaped(all, {4, n, rows});
    if (mean.defined()) {
      const auto line = [&](int64_t i) { return shaped(raw::narrow(all, 0, i, 1), {n, rows}); };
      const Tensor factors = line(1), sum = raw::reduce(ReduceOp::sum, factors, IntArrayRef{1});
      means = raw::zip(BinaryOp::div, raw::reduce(ReduceOp::sum, line(0), IntArrayRef{1}), sum);
      means = shaped(means, full_sizes(mean, axes));
      raw::zip_(BinaryOp::div, factors, sum);
    }
    all = shaped(swapped(all), full_sizes(table, axes));
  }
  give(called, table, axes, all);
  if (mean.defined()) give(called, mean, axes, means);
  return true;
}
bool Special::cross_entropy_grad(const CrossEntropyRule& rule, const Tensor& grad, const Tensor& x,
                                 const Tensor& target, const Tensor& rows,
                                 const Tensor& out) const {
  const int64_t n = samples_of(axes), count = x.size(0);
  Tensor result;
  {
    const Scope outside(nullptr);
    const Tensor lines = swapped(block(rows, axes, {n, rows.size(0), count}));
    result = room(out, {n * count, x.size(1)});
    gradus::backend(out).cross_entropy_grad(
        rule, block(grad, axes, {n * count}), block(x, axes, {n * count, x.size(1)}),
        block(target, axes, {n * count}), shaped(lines, {rows.size(0), n * count}), result);
    result = shaped(result, full_sizes(out, axes));
  }
  give(called, out, axes, result);
  return true;
}

namespace {

// Normalisations of all samples: they are more groups, or more columns. Rows are ordered as
// (repeats, samples, groups).
struct ManyRows {
  ManyRows(const NormalizedRows& of, const Axes& along)
      : one(of), axes(along), n(samples_of(along)), repeats(of.rows / of.groups), all(of) {
    if (of.columns)
      all.length *= n;
    else
      all.rows *= n, all.groups *= n;
  }

  Tensor elements(const Tensor& x) const { return ordered(x, one.groups * one.length); }
  // Means and deviations.
  Tensor statistics(const Tensor& x) const {
    return one.shared ? block(x, axes) : ordered(x, one.groups);
  }
  // Where such results go, and how they are handed out.
  Tensor elements_room(const Tensor& like) const {
    return room(like, {repeats, n, one.groups * one.length});
  }
  Tensor statistics_room(const Tensor& like) const {
    return one.shared ? room(like, axes) : room(like, {repeats, n, one.groups});
  }
  Tensor elements_of(const Tensor& like, const Tensor& found) const {
    return shaped(swapped(found), full_sizes(like, axes));
  }
  Tensor statistics_of(const Tensor& like, const Tensor& found) const {
    return one.shared ? found : elements_of(like, found);
  }

  const NormalizedRows& one;
  const Axes& axes;
  int64_t n, repeats;
  NormalizedRows all;

 private:
  Tensor ordered(const Tensor& x, int64_t length) const {
    return swapped(block(x, axes, {n, repeats, length}));
  }
};

}  // namespace

bool Special::normalize(const NormalizedRows& rows, double eps, const Tensor& x,
                        const Tensor& weight, const Tensor& bias, const Tensor& mean,
                        const Tensor& rstd, const Tensor& out) const {
  const ManyRows many(rows, axes);
  Tensor means, deviations, result;
  {
    const Scope outside(nullptr);
    means = rows.shared ? many.statistics(mean) : many.statistics_room(mean);
    deviations = rows.shared ? many.statistics(rstd) : many.statistics_room(rstd);
    result = many.elements_room(out);
    gradus::backend(out).normalize(many.all, eps, many.elements(x), block(weight, axes),
                                   block(bias, axes), means, deviations, result);
    result = many.elements_of(out, result);
    means = many.statistics_of(mean, means), deviations = many.statistics_of(rstd, deviations);
  }
  if (!rows.shared) give(called, mean, axes, means), give(called, rstd, axes, deviations);
  give(called, out, axes, result);
  return true;
}
bool Special::moments(const NormalizedRows& rows, const Tensor& x, const Tensor& mean,
                      const Tensor& variance) const {
  const ManyRows many(rows, axes);
  Tensor means, variances;
  {
    const Scope outside(nullptr);
    means = many.statistics_room(mean), variances = many.statistics_room(variance);
    gradus::backend(x).moments(many.all, many.elements(x), means, variances);
  }
  give(called, mean, axes, means);
  give(called, variance, axes, variances);
  return true;
}
bool Special::normalize_sums(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                             const Tensor& mean, const Tensor& rstd, const Tensor& sums) const {
  const ManyRows many(rows, axes);
  Tensor result;
  {
    const Scope outside(nullptr);
    result = room(sums, {2, many.n, sums.size(1)});
    gradus::backend(x).normalize_sums(many.all, many.elements(grad), many.elements(x),
                                      many.statistics(mean), many.statistics(rstd),
                                      shaped(result, {2, many.n * sums.size(1)}));
    result = shaped(swapped(result), full_sizes(sums, axes));
  }
  give(called, sums, axes, result);
  return true;
}
bool Special::normalize_grad(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                             const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                             const Tensor& sums, const Tensor& out) const {
  const ManyRows many(rows, axes);
  Tensor result;
  {
    const Scope outside(nullptr);
    Tensor totals;
    if (sums.defined())
      totals =
          shaped(swapped(block(sums, axes, {many.n, 2, sums.size(1)})), {2, many.n * sums.size(1)});
    result = many.elements_room(out);
    gradus::backend(out).normalize_grad(many.all, many.elements(grad), many.elements(x),
                                        many.statistics(mean), many.statistics(rstd),
                                        block(weight, axes), totals, result);
    result = many.elements_of(out, result);
  }
  give(called, out, axes, result);
  return true;
}

// Samples are more matrices of the batch. All tensors but the first ones are changed.
bool Special::factorize(Factorization op, const FactorizationForm& form,
                        ArrayRef<Tensor> tensors) const {
  const size_t read = op == Factorization::lu_solve           ? 2
                      : op == Factorization::triangular_solve ? 1
                                                              : 0;
  const auto many = [&](const Tensor& x) {
    Dims sizes = x.impl().sizes;
    sizes[0] *= samples_of(axes);
    return sizes;
  };
  Tensors all;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (i >= read && tensors[i].defined()) spread(called, tensors[i], axes);
    const Scope outside(nullptr);
    all.push_back(tensors[i].defined() ? block(tensors[i], axes, many(tensors[i])) : tensors[i]);
  }
  const Scope outside(nullptr);
  gradus::backend(all[0]).factorize(op, form, all);
  for (size_t i = read; i < tensors.size(); ++i)
    if (tensors[i].defined()) {
      const Tensor to = physical(tensors[i], axes);
      if (to.data_ptr() != all[i].data_ptr()) raw::copy_(to, shaped(all[i], to.sizes()));
    }
  return true;
}

}  // namespace gradus::batching
