// Sums, means and extremes over any dimensions.
//
// The reduced elements are cut into chunks of a fixed length, each chunk is folded, and the results
// are folded pairwise: a tree that depends on the shape alone, never on the number of threads.
#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk.h"
#include "gradus/tensor/dispatch.h"
#include "gradus/tensor/elementwise.h"

namespace gradus::cpu {

namespace {

// Elements of one chunk of a run in memory, which is folded in lanes; and of a column, which is
// folded one by one.
constexpr int64_t kRunChunk = 4096;
constexpr int64_t kColumnChunk = 128;
// Runs of a chunk, where the reduced elements are not one run: they are folded one by one, too.
constexpr int64_t kMaxRuns = 128;
// Columns that are folded side by side; their accumulators stay in the first-level cache.
constexpr int64_t kPanel = 2048;

// Folds `count` rows of `width` values, `step` apart, into the first, neighbours first.
template <class R, class T>
void fold_pairwise(T* values, int64_t count, int64_t step, int64_t width) {
  for (int64_t reach = 1; reach < count; reach *= 2)
    for (int64_t i = 0; i + reach < count; i += 2 * reach)
      for (int64_t w = 0; w < width; ++w)
        values[i * step + w] =
            R::template combine<T>(values[i * step + w], values[(i + reach) * step + w]);
}

template <class R, class T>
T fold_run(const T* x, int64_t n, int64_t step) {
  constexpr int64_t kLanes = 128 / sizeof(T);
  if (n < kLanes) {
    T result = R::template start<T>();
    for (int64_t i = 0; i < n; ++i) result = R::template combine<T>(result, x[i * step]);
    return result;
  }
  T lane[kLanes];
  for (int64_t l = 0; l < kLanes; ++l) lane[l] = x[l * step];
  int64_t i = kLanes;
  if (step == 1) {
    for (; i + kLanes <= n; i += kLanes)
      for (int64_t l = 0; l < kLanes; ++l) lane[l] = R::template combine<T>(lane[l], x[i + l]);
  } else {
    for (; i + kLanes <= n; i += kLanes)
      for (int64_t l = 0; l < kLanes; ++l)
        lane[l] = R::template combine<T>(lane[l], x[(i + l) * step]);
  }
  for (int64_t l = 0; i < n; ++i, ++l) lane[l] = R::template combine<T>(lane[l], x[i * step]);
  fold_pairwise<R>(lane, kLanes, 1, 1);
  return lane[0];
}

// Folds n rows, `step` apart, into the `width` elements of result; four at a time, to touch it
// less.
template <class R, class T>
void fold_columns(const T* x, int64_t n, int64_t step, int64_t width, T* result) {
  constexpr auto combine = [](T a, T b) { return R::template combine<T>(a, b); };
  int64_t i = 0;
  for (; i + 4 <= n; i += 4, x += 4 * step)
    for (int64_t w = 0; w < width; ++w) {
      const T low = combine(x[w], x[step + w]), high = combine(x[2 * step + w], x[3 * step + w]);
      result[w] = combine(result[w], combine(low, high));
    }
  for (; i < n; ++i, x += step)
    for (int64_t w = 0; w < width; ++w) result[w] = combine(result[w], x[w]);
}

// A reduction as two walks: over the outputs, and over the elements behind each.
struct Plan {
  Strided<2> outputs;   // of out and x
  Strided<1> elements;  // of x
  bool columns;         // neighbouring outputs are neighbours in x: fold them side by side
  int64_t chunk;        // elements folded at a time
  int64_t chunks;

  Plan(const Tensor& x, const Tensor& out) {
    const ReductionWalks walks =
        reduction_walks(x.sizes(), x.strides(), out.sizes(), out.strides());
    outputs = walks.kept;
    elements = walks.reduced;
    columns = inner_strides(outputs)[1] == 1 && inner_strides(elements)[0] != 1;
    const int64_t run = elements.dims ? elements.size[elements.dims - 1] : 1;
    chunk = columns ? kColumnChunk : std::clamp<int64_t>(run * kMaxRuns, 1, kRunChunk);
    chunks = std::max<int64_t>((elements.numel + chunk - 1) / chunk, 1);
  }
};

// Folds elements [begin, end) behind each of `count` outputs that lie `x_step` apart in x.
template <class R, class T>
void fold_outputs(const Plan& plan, const T* x, int64_t x_step, int64_t count, int64_t begin,
                  int64_t end, T* result) {
  const int64_t step = inner_strides(plan.elements)[0];
  std::fill_n(result, count, R::template start<T>());
  walk(plan.elements, begin, end, [&](const auto& at, int64_t n) {
    const T* const from = x + at[0];
    if (plan.columns) {
      fold_columns<R>(from, n, step, count, result);
    } else {
      for (int64_t o = 0; o < count; ++o)
        result[o] = R::template combine<T>(result[o], fold_run<R>(from + o * x_step, n, step));
    }
  });
}

template <ReduceOp op, class T>
void reduce_tensor(const Tensor& x_tensor, const Tensor& out_tensor) {
  using R = scalar::Reduction<op>;
  const Plan plan(x_tensor, out_tensor);
  const T* const x = static_cast<const T*>(x_tensor.data_ptr());
  T* const out = static_cast<T*>(out_tensor.data_ptr());
  const int64_t outputs = plan.outputs.numel, n = plan.elements.numel;
  const auto step = inner_strides(plan.outputs);

  // Row c holds what chunk c gives for every output; the one row of a short reduction is `out`.
  const bool direct = plan.chunks == 1 && out_tensor.is_contiguous();
  StoragePtr memory;
  if (!direct)
    memory = cpu_backend().allocate(static_cast<size_t>(plan.chunks * outputs) * sizeof(T),
                                    Device(kCPU));
  T* const rows = direct ? out : static_cast<T*>(memory->data());

  const int64_t group =
      plan.columns ? kPanel : std::max<int64_t>(kGrain / std::min(n + 1, kRunChunk), 1);
  const int64_t groups = (outputs + group - 1) / group;
  const auto fold_group = [&](int64_t chunk, int64_t from) {
    T* row = rows + chunk * outputs + from;
    const int64_t begin = chunk * plan.chunk, end = std::min(begin + plan.chunk, n);
    walk(plan.outputs, from, std::min(from + group, outputs), [&](const auto& at, int64_t count) {
      fold_outputs<R>(plan, x + at[1], step[1], count, begin, end, row);
      row += count;
    });
  };
  const int64_t work = std::min(group, outputs) * std::min(n, plan.chunk) + 1;
  const int64_t grain = std::max<int64_t>(kGrain / work, 1);
  parallel_for(0, groups * plan.chunks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fold_group(i / groups, i % groups * group);
  });

  const int64_t final_grain = std::max<int64_t>(kGrain / plan.chunks, 1);
  parallel_for(0, outputs, final_grain, [&](int64_t begin, int64_t end) {
    fold_pairwise<R>(rows + begin, plan.chunks, outputs, end - begin);
    const T* row = rows + begin;
    walk(plan.outputs, begin, end, [&](const auto& at, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        out[at[0] + i * step[0]] = R::template finish<T>(*row++, n);
    });
  });
}

}  // namespace

void CpuBackend::reduce(ReduceOp op, const Tensor& x, const Tensor& out) {
  visit_op(op, [&](auto row) {
    if constexpr (row.value == ReduceOp::mean)
      visit_floating(name_of(op), x.dtype(),
                     [&]<class T>(TypeTag<T>) { reduce_tensor<row.value, T>(x, out); });
    else
      visit_numbers(name_of(op), x.dtype(),
                    [&]<class T>(TypeTag<T>) { reduce_tensor<row.value, T>(x, out); });
  });
}

}  // namespace gradus::cpu
