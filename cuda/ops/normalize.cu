// Normalisations by rows, and the sums that their gradients need.
#include "gradus/cuda/kernels/normalize.cuh"

#include <bit>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

template <class T>
const T* data(const Tensor& x) {
  return x.defined() ? static_cast<const T*>(x.data_ptr()) : nullptr;
}

// Threads for n elements: as many as keep their vectors, of which each may have `most`; up to a
// warp, and for longer rows up to a block.
int lanes_for(int64_t n, int width, int most) {
  const int64_t vectors = ceil_div<int64_t>(n, width);
  const int64_t lanes = vectors <= 32 * most
                            ? std::min<int64_t>(vectors, 32)
                            : std::min<int64_t>(ceil_div<int64_t>(vectors, most), kMostNormThreads);
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(lanes)));
}

// Whether rows of these tensors begin and end between vectors, as runs of one weight do.
template <class T>
bool has_vectors(const NormalizedRows& rows, std::initializer_list<const Tensor*> tensors) {
  constexpr int V = vector_width<T>;
  bool out = rows.length % V == 0 && (rows.inner == 1 || rows.inner % V == 0);
  for (const Tensor* x : tensors)
    out &= !x->defined() || is_aligned<V>(static_cast<const T*>(x->data_ptr()));
  return out;
}

// f(a constant, the width of vectors).
template <class T, class F>
void with_width(bool vectors, const F& f) {
  if (vectors)
    f(std::integral_constant<int, vector_width<T>>());
  else
    f(std::integral_constant<int, 1>());
}

LaunchConfig config_for(const Context& context, int64_t teams, int lanes) {
  const int threads = lanes > 32 ? lanes : kNormThreads;
  return {dim3(static_cast<unsigned>(ceil_div<int64_t>(teams, threads / lanes))),
          dim3(static_cast<unsigned>(threads)), 0, context.stream};
}

}  // namespace

void CudaBackend::normalize(const NormalizedRows& rows, double eps, const Tensor& x,
                            const Tensor& weight, const Tensor& bias, const Tensor& mean,
                            const Tensor& rstd, const Tensor& out) {
  const Context context(out);
  visit_floating("normalize", x.dtype(), [&]<class T>(TypeTag<T>) {
    with_width<T>(has_vectors<T>(rows, {&x, &weight, &bias, &out}), [&](auto width) {
      const int lanes = lanes_for(rows.length, width, kNormVectors);
      launch(normalize_kernel<T, width>, config_for(context, rows.rows, lanes),
             NormTeam<width>{rows, lanes}, eps, data<T>(x), data<T>(weight), data<T>(bias),
             mean.data_ptr<T>(), rstd.data_ptr<T>(), out.data_ptr<T>());
    });
  });
}

void CudaBackend::normalize_grad(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                                 const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                                 const Tensor& sums, const Tensor& out) {
  const Context context(out);
  visit_floating("normalize", x.dtype(), [&]<class T>(TypeTag<T>) {
    with_width<T>(has_vectors<T>(rows, {&grad, &x, &weight, &out}), [&](auto width) {
      const int lanes = lanes_for(rows.length, width, kNormVectors / 2);
      launch(normalize_grad_kernel<T, width>, config_for(context, rows.rows, lanes),
             NormTeam<width>{rows, lanes}, data<T>(grad), data<T>(x), data<T>(mean), data<T>(rstd),
             data<T>(weight), data<T>(sums), out.data_ptr<T>());
    });
  });
}

void CudaBackend::normalize_sums(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                                 const Tensor& mean, const Tensor& rstd, const Tensor& sums) {
  const Context context(x);
  const bool by_element = rows.inner == 1 && rows.groups == 1;
  // Lines of sums, which are added up after this: one for each sample, or for so many rows that
  // every multiprocessor has a few blocks.
  constexpr int64_t kBlocks = 512, kLeastRows = 32;
  const int64_t width = rows.groups * rows.weights();
  const int64_t wanted = ceil_div<int64_t>(kBlocks, ceil_div<int64_t>(rows.length, 128));
  const int64_t most = ceil_div<int64_t>(rows.rows, kLeastRows);
  const int64_t share = ceil_div<int64_t>(rows.rows, std::min(wanted, most));
  const int64_t lines = by_element ? ceil_div<int64_t>(rows.rows, share) : rows.rows / rows.groups;
  const Tensor table = raw::empty({2, lines, width}, x.dtype(), x.device());
  visit_floating("normalize", x.dtype(), [&]<class T>(TypeTag<T>) {
    T *const weight_sums = table.data_ptr<T>(), *const bias_sums = weight_sums + lines * width;
    with_width<T>(has_vectors<T>(rows, {&grad, &x, &table}), [&](auto vector) {
      if (by_element) {
        const auto blocks = static_cast<unsigned>(ceil_div<int64_t>(rows.length, 32 * vector));
        launch(column_sums_kernel<T, vector>,
               {dim3(blocks, static_cast<unsigned>(lines)), kNormThreads, 0, context.stream}, rows,
               share, data<T>(grad), data<T>(x), data<T>(mean), data<T>(rstd), weight_sums,
               bias_sums);
      } else {
        const int lanes = std::min(lanes_for(rows.inner, vector, kNormVectors / 2), kNormThreads);
        launch(run_sums_kernel<T, vector>, config_for(context, rows.rows * rows.weights(), lanes),
               rows, lanes, data<T>(grad), data<T>(x), data<T>(mean), data<T>(rstd), weight_sums,
               bias_sums);
      }
    });
  });
  reduce(ReduceOp::sum, table, raw::unsqueeze(sums, 1));
}

}  // namespace gradus::cuda
