// Conversions of a list of tensors.
#include "gradus/cuda/kernels/copy_list.cuh"

#include <algorithm>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/base/half.h"

namespace gradus::cuda {

namespace {

template <class To, class From>
void convert_list(ArrayRef<Tensor> from, ArrayRef<Tensor> to) {
  const Context context(to[0]);
  using Table = CopyTable<To, From>;
  static_assert(sizeof(Table) <= 4096);
  for (size_t begin = 0; begin < from.size(); begin += Table::kMost) {
    Table table;
    unsigned blocks = 0;
    for (size_t i = begin; i < std::min(from.size(), begin + Table::kMost); ++i) {
      table.rows[table.count++] = {static_cast<const From*>(from[i].data_ptr()),
                                   static_cast<To*>(to[i].data_ptr()), to[i].numel()};
      blocks += static_cast<unsigned>(ceil_div(to[i].numel(), int64_t{kCopyPiece}));
      table.first_block[table.count] = blocks;
    }
    if (blocks > 0)
      launch_pdl(copy_list_kernel<To, From>, {dim3(blocks), kCopyThreads, 0, context.stream},
                 table);
  }
}

}  // namespace

// One launch where all are of Float and go to one half type, as autocast converts weights.
void CudaBackend::copy_list(ArrayRef<Tensor> from, ArrayRef<Tensor> to) {
  const auto all = [](ArrayRef<Tensor> list, ScalarType dtype) {
    return std::all_of(list.begin(), list.end(),
                       [&](const Tensor& x) { return x.dtype() == dtype; });
  };
  if (from.empty()) return;
  if (all(from, kFloat) && all(to, kHalf)) return convert_list<Half, float>(from, to);
  if (all(from, kFloat) && all(to, kBFloat16)) return convert_list<BFloat16, float>(from, to);
  Backend::copy_list(from, to);
}

}  // namespace gradus::cuda
