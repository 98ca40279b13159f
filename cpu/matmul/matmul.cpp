// Backend::matmul on the CPU: chooses who multiplies each product of a batch.
#include "gradus/cpu/matmul/matmul.h"

#include <atomic>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/matmul/product.h"
#include "gradus/cpu/parallel.h"
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

}  // namespace

template <class T>
void multiply_chosen(const Product<T>& p) {
  const MatmulKernel kernel = selected.load(std::memory_order_relaxed);
  const bool small = p.m * p.n * p.k <= kSmall && (p.m * p.n > 1 || p.k < kManyTerms);
  if constexpr (std::is_floating_point_v<T>) {
    const bool slow = kernel == MatmulKernel::automatic && !small &&
                      instruction_set() == InstructionSet::baseline;
    if ((kernel == MatmulKernel::blas || slow) && multiply_blas(p)) return;
  }
  if (small)
    multiply_small(p);
  else if (!multiply_vector(p))
    multiply_packed(p, table_of<MicroKernel<T>>());
}
template void multiply_chosen(const Product<float>&);
template void multiply_chosen(const Product<double>&);

void CpuBackend::matmul(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) {
  if (out.numel() == 0) return;
  visit_numbers("matmul", out.dtype(), [&]<class T>(TypeTag<T>) {
    const int64_t batch = out.sizes()[0];
    Product<T> p{};
    p.m = out.sizes()[1], p.n = out.sizes()[2], p.k = a.sizes()[2];
    p.a = static_cast<const T*>(a.data_ptr()), p.b = static_cast<const T*>(b.data_ptr());
    p.out = static_cast<T*>(out.data_ptr());
    p.a_row = a.strides()[1], p.a_column = a.strides()[2];
    p.b_row = b.strides()[1], p.b_column = b.strides()[2];
    p.out_row = p.n, p.out_column = 1;
    if (bias.defined()) {
      p.bias = static_cast<const T*>(bias.data_ptr());
      p.bias_column = bias.strides()[0];
    }
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

}  // namespace cpu
}  // namespace gradus
