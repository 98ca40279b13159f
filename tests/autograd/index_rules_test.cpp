// Python's x[...] against a loop over its rules: drawn lists of indices of every kind, read,
// written and with their gradients.
#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>
#include <utility>

#include "tests/random.h"
#include "tests/support.h"

namespace gradus {
namespace {

using namespace indexing;

// A dimension of the result, or the index of a dimension of x. counted: the index 0 of a dimension
// that True adds.
struct Axis {
  enum { kept, added, fixed, listed, counted } kind;
  int64_t start = 0, step = 1, size = 1;  // of what is kept; start: of what is fixed
  std::vector<int64_t> list = {};         // broadcast to all lists' shape, row-major
};

struct Drawn {
  std::vector<TensorIndex> indices;
  std::vector<Axis> axes;
  Dims list_shape;
};

// A mask of dimensions d to d + dims of x. As many of its elements are set as the lists have along
// their last dimension. Whether it has so many.
bool draw_mask(const Tensor& x, int64_t d, int64_t dims, Drawn& out) {
  const Dims sizes(x.sizes().data() + d, static_cast<size_t>(dims));
  const int64_t count = out.list_shape.back();
  if (numel_of(sizes) < count) return false;
  std::vector<int64_t> order(static_cast<size_t>(numel_of(sizes)));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), test::rng());
  order.resize(static_cast<size_t>(count));
  std::sort(order.begin(), order.end());
  const Tensor mask = zeros(sizes, kBool);
  for (const int64_t i : order) mask.view({-1})[i].fill_(true);
  out.indices.emplace_back(mask);
  int64_t step = numel_of(sizes);
  for (int64_t k = 0; k < dims; ++k) {
    step /= sizes[k];
    Axis axis{.kind = Axis::listed};
    for (int64_t i = 0; i < numel_of(out.list_shape); ++i)
      axis.list.push_back(order[static_cast<size_t>(i % count)] / step % sizes[k]);
    out.axes.push_back(axis);
  }
  return true;
}

// Indices of every kind for all dimensions of x. The lists' shape is drawn first.
Drawn draw(const Tensor& x) {
  Drawn out;
  out.list_shape = test::random_sizes(2, 3);
  if (out.list_shape.empty()) out.list_shape.push_back(2);
  bool has_whole = false, has_ellipsis = false;  // has_whole: a list of that shape
  int64_t d = 0;
  while (d < x.dim()) {
    const int64_t size = x.sizes()[d];
    switch (test::pick(0, 8)) {
      case 6:  // of one dimension to three
        if (const int64_t dims = test::pick(1, std::min<int64_t>(3, x.dim() - d));
            draw_mask(x, d, dims, out))
          d += dims;
        continue;
      case 7:
        if (test::pick(0, 1))
          out.indices.emplace_back(true);
        else
          out.indices.emplace_back(tensor(true));
        out.axes.push_back({.kind = Axis::counted});
        continue;
      case 8:
        if (!std::exchange(has_ellipsis, true)) {
          out.indices.emplace_back(Ellipsis);
          for (int64_t rest = test::pick(0, x.dim() - d); rest > 0; --rest, ++d)
            out.axes.push_back({.kind = Axis::kept, .size = x.sizes()[d]});
        }
        continue;
      case 0:
        out.indices.emplace_back(None);
        out.axes.push_back({.kind = Axis::added});
        continue;
      case 1: {
        const int64_t at = test::pick(-size, size - 1);
        out.indices.emplace_back(at);
        out.axes.push_back({.kind = Axis::fixed, .start = at < 0 ? at + size : at});
        break;
      }
      case 2: {
        const int64_t start = test::pick(0, size), stop = test::pick(start, size);
        const int64_t step = test::pick(1, 3);
        out.indices.emplace_back(
            Slice(start == 0 ? start : start - (size - start ? size : 0), stop, step));
        out.axes.push_back({.kind = Axis::kept,
                            .start = start,
                            .step = step,
                            .size = (stop - start + step - 1) / step});
        break;
      }
      case 3: {
        Dims stored = out.list_shape;
        if (has_whole && test::pick(0, 1)) stored[0] = 1;  // broadcasts to the first one's shape
        has_whole = true;
        const Tensor list = test::random_tensor(stored, kLong, static_cast<double>(-size),
                                                static_cast<double>(size));
        Axis axis{.kind = Axis::listed};
        for (const double value : to_vector(list.expand(out.list_shape)))
          axis.list.push_back(static_cast<int64_t>(value) + (value < 0 ? size : 0));
        out.indices.emplace_back(list);
        out.axes.push_back(axis);
        break;
      }
      default:
        out.indices.emplace_back(Slice());
        out.axes.push_back({.kind = Axis::kept, .size = size});
    }
    ++d;
  }
  if (out.indices.empty()) out.indices.emplace_back(Ellipsis);  // an empty list is refused
  const auto lists = [](const Axis& axis) { return axis.kind == Axis::listed; };
  if (!has_whole)  // the places of masks, or those of True
    out.list_shape = {std::ranges::any_of(out.axes, lists) ? out.list_shape.back() : 1};
  return out;
}

// Calls f(row-major numbers of the elements of x) once, in the order of the result.
struct Expected {
  Dims sizes;
  std::vector<int64_t> elements;  // of x, row-major
};
Expected by_the_rules(const Tensor& x, const Drawn& drawn) {
  // Beside lists a number counts as a list, too, so it may stand between two of them.
  const auto is_list = [&](const Axis& axis) {
    return axis.kind == Axis::listed || axis.kind == Axis::counted;
  };
  int64_t runs = 0, lists = 0;
  bool before = false;
  for (const Axis& axis : drawn.axes) {
    if (axis.kind == Axis::fixed) continue;  // leaves no dimension between two lists
    runs += is_list(axis) && !before;
    lists += is_list(axis);
    before = is_list(axis);
  }
  Expected out;
  const auto add_lists = [&] {
    for (int64_t size : drawn.list_shape) out.sizes.push_back(size);
  };
  int64_t list_at = 0;  // where the lists' dimensions stand in the result
  if (runs > 1) add_lists();
  for (const Axis& axis : drawn.axes) {
    if (is_list(axis) && runs == 1 && lists > 0) {
      list_at = static_cast<int64_t>(out.sizes.size());
      add_lists();
      lists = 0;
    }
    if (axis.kind == Axis::kept || axis.kind == Axis::added) out.sizes.push_back(axis.size);
  }
  const int64_t list_dims = runs ? static_cast<int64_t>(drawn.list_shape.size()) : 0;
  for (int64_t i = 0; i < numel_of(out.sizes); ++i) {
    Dims at = out.sizes;
    int64_t rest = i;
    for (int64_t d = static_cast<int64_t>(at.size()); d-- > 0; rest /= out.sizes[d])
      at[d] = rest % out.sizes[d];
    int64_t in_list = 0;
    for (int64_t d = 0; d < list_dims; ++d)
      in_list = in_list * drawn.list_shape[d] + at[list_at + d];
    int64_t next = 0, element = 0, dim = 0;
    for (const Axis& axis : drawn.axes) {
      if (list_dims && next == list_at) next += list_dims;
      int64_t here = axis.start;
      if (axis.kind == Axis::listed) here = axis.list[static_cast<size_t>(in_list)];
      if (axis.kind == Axis::kept || axis.kind == Axis::added) here += axis.step * at[next++];
      if (axis.kind == Axis::added || axis.kind == Axis::counted) continue;
      element = element * x.sizes()[dim++] + here;
    }
    out.elements.push_back(element);
  }
  return out;
}

TEST(Index, ReadsWhatTheRulesSay) {
  for (int round = 0; round < 500; ++round) {
    Dims sizes = test::random_sizes(4, 5);
    const Tensor x = test::random_tensor(sizes, kDouble).detach();
    const Drawn drawn = draw(x);
    SCOPED_TRACE((std::ostringstream() << x.sizes() << ": " << drawn.indices).str());
    const Expected expected = by_the_rules(x, drawn);
    const Tensor y = x.index(drawn.indices);
    ASSERT_EQ(y.sizes(), IntArrayRef(expected.sizes));
    for (int64_t i = 0; i < y.numel(); ++i)
      ASSERT_EQ(test::get(y, i), test::get(x, expected.elements[static_cast<size_t>(i)]));
    // The gradient of an element is the sum of those of the places that it was read for.
    const Tensor leaf = x.clone().requires_grad_(), grad = test::random_tensor(y.sizes(), kDouble);
    leaf.index(drawn.indices).backward(grad);
    std::vector<double> sums(static_cast<size_t>(x.numel()));
    for (int64_t i = 0; i < y.numel(); ++i)
      sums[static_cast<size_t>(expected.elements[static_cast<size_t>(i)])] += test::get(grad, i);
    expect_values(leaf.grad().defined() ? leaf.grad() : zeros_like(x), sums, 1e-12);
  }
}

TEST(Index, PutWritesWhereIndexReads) {
  for (int round = 0; round < 500; ++round) {
    const Dims sizes = test::random_sizes(4, 5);
    const Tensor x = test::random_layout(sizes, kDouble).detach();
    for (int64_t i = 0; i < x.numel(); ++i) test::set(x, i, test::real(-3, 3));
    const Drawn drawn = draw(x);
    SCOPED_TRACE((std::ostringstream() << x.sizes() << ": " << drawn.indices).str());
    const Expected expected = by_the_rules(x, drawn);
    const Tensor values = test::random_tensor(expected.sizes, kDouble).detach().clone();
    const bool accumulate = test::pick(0, 1);
    std::vector<double> want = to_vector(x);
    for (int64_t i = 0; i < values.numel(); ++i) {
      double& there = want[static_cast<size_t>(expected.elements[static_cast<size_t>(i)])];
      there = test::get(values, i) + (accumulate ? there : 0);
    }
    const Tensor self = x.clone().requires_grad_(), put = values.clone().requires_grad_();
    const Tensor result =
        accumulate ? self.at(drawn.indices).add(put) : index_put(self, drawn.indices, put);
    expect_values(result, want, 1e-12);
    // What is written is read by its last writer, and by all that add.
    const Tensor grad = test::random_tensor(x.sizes(), kDouble);
    result.backward(grad);
    std::vector<double> of_self = to_vector(grad), of_values(expected.elements.size());
    std::map<int64_t, size_t> last;
    for (size_t i = 0; i < expected.elements.size(); ++i) last[expected.elements[i]] = i;
    for (size_t i = 0; i < expected.elements.size(); ++i) {
      const int64_t at = expected.elements[i];
      if (accumulate || last[at] == i) of_values[i] = test::get(grad, at);
      if (!accumulate) of_self[static_cast<size_t>(at)] = 0;
    }
    expect_values(self.grad(), of_self, 1e-12);
    expect_values(put.grad(), of_values, 1e-12);
    Tensor changed = x;
    changed.index_put_(drawn.indices, values, accumulate);
    expect_values(x, want, 1e-12);
  }
}

}  // namespace
}  // namespace gradus
