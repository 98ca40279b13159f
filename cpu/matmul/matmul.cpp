// Backend::matmul on the CPU: chooses who multiplies each product of a batch.
#include "gradus/cpu/matmul/matmul.h"

#include <atomic>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/matmul/pack.h"
#include "gradus/cpu/matmul/product.h"
#include "gradus/cpu/parallel.h"
#include "gradus/tensor/base/batch_invariant.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus {

namespace {
std::atomic<MatmulKernel> selected{MatmulKernel::automatic};
}

const char* name_of(MatmulKernel kernel) {
  switch (kernel) {
    case MatmulKernel::automatic:
      return "automatic";
    case MatmulKernel::own:
      return "own";
    case MatmulKernel::blas:
      return "blas";
  }
  return "unknown";
}

std::vector<MatmulKernel> matmul_kernels() {
  std::vector<MatmulKernel> out{MatmulKernel::automatic, MatmulKernel::own};
  if (cpu::have_blas()) out.push_back(MatmulKernel::blas);
  return out;
}

void set_matmul_kernel(MatmulKernel kernel) {
  check<Error>(
      kernel != MatmulKernel::blas || cpu::have_blas(),
      "set_matmul_kernel: there is no kernel \"blas\", since the build or this machine has no "
      "OpenBLAS; install libopenblas-dev and configure with -DGRADUS_BLAS=AUTO");
  selected.store(kernel, std::memory_order_relaxed);
}

namespace cpu {

namespace {

// Multiplications up to which packing, or a call of BLAS, costs more than it saves; but a sum of so
// many terms alone is vector code.
constexpr int64_t kSmall = 1024, kManyTerms = 32;

// Whether BLAS, if there is one, multiplies what is not small. The rows decide in which order BLAS
// adds.
bool prefers_blas() {
  const MatmulKernel kernel = selected.load(std::memory_order_relaxed);
  if (detail::batch_invariant()) {
    check<Error>(kernel != MatmulKernel::blas,
                 "matmul: the kernel \"blas\" adds in an order that depends on the batch, which "
                 "setBatchInvariant(true) forbids; call set_matmul_kernel(MatmulKernel::own)");
    return false;
  }
  return kernel == MatmulKernel::blas ||
         (kernel == MatmulKernel::automatic && instruction_set() == InstructionSet::baseline);
}

}  // namespace

template <class T>
void multiply_chosen(const Product<T>& p) {
  const MatmulKernel kernel = selected.load(std::memory_order_relaxed);
  const bool small = p.m * p.n * p.k <= kSmall && (p.m * p.n > 1 || p.k < kManyTerms);
  if constexpr (std::is_floating_point_v<T>) {
    if ((kernel == MatmulKernel::blas || !small) && prefers_blas() && multiply_blas(p)) return;
  }
  const MicroKernel<T>& micro = table_of<MicroKernel<T>>();
  // The order of a packed product's sums depends on k alone.
  const bool alike = std::is_floating_point_v<T> && detail::batch_invariant() && p.k > 0;
  if (small && !alike) return multiply_small(p);
  if (!alike && multiply_vector(p)) return;
  if (!multiply_few(p, micro)) multiply_packed(p, micro);
}
template void multiply_chosen(const Product<float>&);
template void multiply_chosen(const Product<double>&);

namespace {

// The product of the first matrices of a batch.
template <class T>
Product<T> product_of(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
  const auto data = [](const Tensor& x) { return static_cast<T*>(x.data_ptr()); };
  Product<T> p{};
  p.m = out.size(-2), p.n = out.size(-1), p.k = a.size(-1);
  p.a = data(a), p.b = data(b), p.out = data(out);
  p.a_row = a.stride(-2), p.a_column = a.stride(-1);
  p.b_row = b.stride(-2), p.b_column = b.stride(-1);
  p.out_row = p.n, p.out_column = 1;
  if (bias.defined()) p.bias = data(bias), p.bias_column = bias.stride(0);
  return p;
}

}  // namespace

void CpuBackend::matmul(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
  if (out.numel() == 0) return;
  visit_numbers("matmul", out.dtype(), [&]<class T>(TypeTag<T>) {
    const int64_t batch = out.sizes()[0];
    const Product<T> p = product_of<T>(a, b, bias, out);
    const int64_t a_step = a.strides()[0], b_step = b.strides()[0];
    // Few products share the threads within each; many run side by side, one thread each.
    const int64_t work = std::max<int64_t>(p.m * p.n * p.k, 1);
    const int64_t grain =
        batch < thread_count() ? batch : std::max<int64_t>(2 * kProductGrain / work, 1);
    parallel_for(0, batch, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Product<T> one = p;
        one.a += i * a_step, one.b += i * b_step, one.out += i * p.m * p.n;
        multiply_chosen(one);
      }
    });
  });
}

// Panels (panel, row, column of it) of the micro-kernel, where that will multiply, else b. Products
// of two rows and more have the bits that matmul gives them. The last bits of one row's, and of
// BLAS's, may differ: there the strides of b decide matmul's order.
Tensor CpuBackend::packed(const Tensor& b, int64_t rows) {
  Tensor out;
  visit_numbers("matmul", b.dtype(), [&]<class T>(TypeTag<T>) {
    const auto& kernel = table_of<MicroKernel<T>>();
    const int64_t k = b.size(0), n = b.size(1), panels = divide_up(n, kernel.columns);
    const bool vector = rows < 2 && !detail::batch_invariant();
    const bool few = vector || n < kernel.columns || k * n <= kSmall;
    if (few || (have_blas() && prefers_blas())) {
      out = raw::contiguous(b);
      return;
    }
    out = raw::empty({panels, k, kernel.columns}, b.dtype(), b.device());
    const T* const from = static_cast<const T*>(b.data_ptr());
    T* const to = static_cast<T*>(out.data_ptr());
    parallel_for(0, panels, divide_up(kGrain, k * kernel.columns), [&](int64_t begin, int64_t end) {
      const int64_t left = begin * kernel.columns;
      pack(from + left * b.stride(1), b.stride(1), std::min(n, end * kernel.columns) - left,
           b.stride(0), k, kernel.columns, to + left * k);
    });
  });
  return out;
}

void CpuBackend::matmul_packed(const Tensor& a, const Tensor& b, const Tensor& bias,
                               const Tensor& out) {
  if (b.dim() == 2) return Backend::matmul_packed(a, b, bias, out);
  if (out.numel() == 0) return;
  visit_numbers("matmul", out.dtype(), [&]<class T>(TypeTag<T>) {
    const auto& kernel = table_of<MicroKernel<T>>();
    Product<T> p = product_of<T>(a, b, bias, out);
    p.b_row = kernel.columns, p.b_column = p.k, p.b_is_packed = true;
    multiply_packed(p, kernel);
  });
}

}  // namespace cpu
}  // namespace gradus
