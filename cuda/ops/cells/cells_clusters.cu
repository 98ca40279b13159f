// Runs an LSTM's steps by clusters: chooses how many sequences a cluster takes.
#include "gradus/cuda/ops/cells/cells_clusters.h"

#ifndef GRADUS_HOPPER

namespace gradus::cuda {
bool has_lstm_clusters(ScalarType, int64_t) { return false; }
void lstm_by_clusters(bool, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                      const Tensor&, const Tensor&, const Tensor&, const Tensor&) {}
void lstm_grad_by_clusters(bool, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                           const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                           const Tensor&) {}
}  // namespace gradus::cuda

#else

#include <map>
#include <mutex>
#include <utility>

#include "gradus/cuda/kernels/hopper/lstm_clusters.cuh"
#include "gradus/cuda/ops/matmul/wgmma.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {
namespace {

// How many clusters of the kernel the current device runs at once.
int count_clusters(const void* kernel, int blocks, int threads, int shared_bytes) {
  // More than 8 blocks are no portable size: a chip may lack a group of so many multiprocessors.
  cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  cudaLaunchAttribute size{};
  size.id = cudaLaunchAttributeClusterDimension;
  size.val.clusterDim.x = static_cast<unsigned>(blocks);
  size.val.clusterDim.y = size.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<size_t>(shared_bytes);
  config.attrs = &size;
  int count = 0;
  for (const unsigned named : {1u, 0u}) {  // the kernel has a size of its own, which may be enough
    config.numAttrs = named;
    if (cudaOccupancyMaxActiveClusters(&count, kernel, &config) == cudaSuccess && count > 0) break;
    cudaGetLastError();  // a size that the chip lacks is no error of the caller
    count = 0;
  }
  return count;
}
int most_clusters(const void* kernel, int blocks, int threads, int shared_bytes) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::pair<const void*, int>, int>;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace({kernel, current_device()});
  if (is_new) found->second = count_clusters(kernel, blocks, threads, shared_bytes);
  return found->second;
}

template <class T, int kBlocks, int kTiles>
struct Forward {
  using Tile = LstmTile<T, kBlocks, kTiles>;
  static constexpr auto kKernel = lstm_clusters<T, kBlocks, kTiles>;
  static constexpr int kSharedBytes = Tile::kSharedBytes;
};
template <class T, int kBlocks, int kTiles>
struct Backward {
  using Tile = LstmTile<T, kBlocks, kTiles>;
  static constexpr auto kKernel = lstm_clusters_grad<T, kBlocks, kTiles>;
  static constexpr int kSharedBytes = Tile::kSharedBytesOfGrad;
};
template <class Kernel, int kBlocks>
int clusters_of() {
  return most_clusters(detail::handle(Kernel::kKernel), kBlocks, Kernel::Tile::kThreads,
                       Kernel::kSharedBytes);
}

// f(type, blocks): the element type and the size of a cluster as types.
template <class F>
void visit(ScalarType dtype, int64_t units, const F& f) {
  const auto of_type = [&]<class T>(TypeTag<T> type) {
    if (units == 128) f(type, std::integral_constant<int, 4>());
    if (units == 256) f(type, std::integral_constant<int, 8>());
    if (units == 512) f(type, std::integral_constant<int, 16>());
  };
  if (dtype == kBFloat16) of_type(TypeTag<BFloat16>());
  if (dtype == kHalf) of_type(TypeTag<Half>());
}

// Launches Of with 8 sequences to a cluster; with 16 where these take fewer turns.
template <template <class, int, int> class Of, class T, int kBlocks, class Args>
void launch_steps(const Args& args, cudaStream_t stream) {
  const auto turns = [&](int rows, int clusters) {
    return ceil_div(ceil_div(args.batch, rows), clusters);
  };
  const auto run = [&]<class Kernel>(TypeTag<Kernel>) {
    const int clusters = ceil_div(args.batch, Kernel::Tile::kRows);
    launch_pdl(Kernel::kKernel,
               {dim3(static_cast<unsigned>(clusters * kBlocks)), Kernel::Tile::kThreads,
                Kernel::kSharedBytes, stream},
               args);
  };
  using Small = Of<T, kBlocks, 1>;
  using Large = Of<T, kBlocks, 2>;
  if (turns(8, clusters_of<Small, kBlocks>()) <= turns(16, clusters_of<Large, kBlocks>()))
    run(TypeTag<Small>());
  else
    run(TypeTag<Large>());
}

template <class T>
T* at(const Tensor& x) {
  return x.defined() ? static_cast<T*>(x.data_ptr()) : nullptr;
}
// Kernels read several elements at once.
Tensor aligned(const Tensor& weight) {
  return reinterpret_cast<uintptr_t>(weight.data_ptr()) % 8 == 0 ? weight : raw::clone(weight);
}

}  // namespace

bool has_lstm_clusters(ScalarType dtype, int64_t units) {
  bool out = false;
  if (!has_wgmma()) return out;
  visit(dtype, units, [&]<class T, int kBlocks>(TypeTag<T>, std::integral_constant<int, kBlocks>) {
    out = clusters_of<Forward<T, kBlocks, 1>, kBlocks>() > 0 &&
          clusters_of<Forward<T, kBlocks, 2>, kBlocks>() > 0 &&
          clusters_of<Backward<T, kBlocks, 1>, kBlocks>() > 0 &&
          clusters_of<Backward<T, kBlocks, 2>, kBlocks>() > 0;
  });
  return out;
}

void lstm_by_clusters(bool reverse, const Tensor& x, const Tensor& h, const Tensor& c,
                      const Tensor& weight, const Tensor& bias, const Tensor& gates,
                      const Tensor& cells, const Tensor& states) {
  const Context context(states);
  const Tensor matrix = aligned(weight);
  const auto batch = static_cast<int>(h.size(0)), steps = static_cast<int>(x.size(0)) / batch;
  visit(x.scalar_type(), h.size(1),
        [&]<class T, int kBlocks>(TypeTag<T>, std::integral_constant<int, kBlocks>) {
          const LstmSteps<T> args = {steps,        batch,        reverse,       at<T>(x),
                                     at<T>(h),     at<T>(c),     at<T>(matrix), at<T>(bias),
                                     at<T>(gates), at<T>(cells), at<T>(states)};
          launch_steps<Forward, T, kBlocks>(args, context.stream);
        });
}

void lstm_grad_by_clusters(bool reverse, const Tensor& grad_states, const Tensor& grad_cells,
                           const Tensor& c, const Tensor& weight, const Tensor& gates,
                           const Tensor& cells, const Tensor& grad_x, const Tensor& grad_h,
                           const Tensor& grad_c) {
  const Context context(grad_x);
  const Tensor matrix = aligned(weight);
  const auto batch = static_cast<int>(c.size(0)), steps = static_cast<int>(gates.size(0)) / batch;
  visit(c.scalar_type(), c.size(1),
        [&]<class T, int kBlocks>(TypeTag<T>, std::integral_constant<int, kBlocks>) {
          const LstmStepsGrad<T> args = {
              steps,         batch,         reverse,      at<T>(grad_states), at<T>(grad_cells),
              at<T>(c),      at<T>(matrix), at<T>(gates), at<T>(cells),       at<T>(grad_x),
              at<T>(grad_h), at<T>(grad_c)};
          launch_steps<Backward, T, kBlocks>(args, context.stream);
        });
}

}  // namespace gradus::cuda

#endif
