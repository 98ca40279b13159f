// The search for NaN and infinities on GPUs: a kernel behind each operation, and the host that
// hears of what it found.
#include <mutex>
#include <vector>

#include "gradus/cuda/kernels/nonfinite.cuh"
#include "gradus/cuda/runtime/capture.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/cuda/runtime/graph.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/cuda/runtime/nonfinite.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/nonfinite.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

namespace {

// The rows of a launch: few with any strides, or many without gaps.
constexpr int kFewRows = 12, kManyRows = 320;

// Searches that run at once have scratches of their own. Captured ones keep theirs.
constexpr uint64_t kScratches = 1 << 15;

struct OfDevice {
  std::mutex mutex;
  Tensor memory;  // of the scratches: those of single operations, then those of captured ones
};

// The first search on a device makes its scratches. The program gives them back when it ends.
OfDevice& of_device(int device) {
  static std::vector<OfDevice> all(static_cast<size_t>(device_count()));
  OfDevice& mine = all[static_cast<size_t>(device)];
  const std::lock_guard lock(mine.mutex);
  if (mine.memory.defined()) return mine;
  check_not_captured("NanGuard: the first operation on this GPU under a guard",
                     "the guard allocates memory for it");
  const std::vector<NonfiniteScratch> fresh(2 * kScratches, {0, 0, 0, 0, kNowhere});
  const auto bytes = static_cast<int64_t>(fresh.size() * sizeof fresh[0]);
  const Tensor here = from_blob(const_cast<NonfiniteScratch*>(fresh.data()), {bytes}, kByte);
  mine.memory = raw::to(here, Device(kCUDA, static_cast<DeviceIndex>(device)));
  synchronize(device);  // other streams read it
  return mine;
}

NonfiniteScratch* scratch_of(uint64_t number, int device) {
  auto* const all = static_cast<NonfiniteScratch*>(of_device(device).memory.data_ptr());
  return all + (Graph::capturing(device) ? kScratches : 0) + number % kScratches;
}

int parts_of(const Tensor& x) { return isComplexType(x.scalar_type()) ? 2 : 1; }

void fill_row(DenseWords& row, const Tensor& x) {
  const int parts = parts_of(x);
  row.data = x.data_ptr(), row.numel = x.numel() * parts, row.dtype = x.scalar_type();
  row.bytes = static_cast<int>(x.element_size()) / parts;
}
void fill_row(StridedWords& row, const Tensor& x) {
  DenseWords words;
  fill_row(words, x);
  row.data = words.data, row.numel = words.numel, row.dtype = words.dtype, row.bytes = words.bytes;
  row.dense = x.is_contiguous();
  if (row.dense) return;
  row.walk.dims = static_cast<int>(x.dim());  // row-major, as places are told
  row.walk.numel = x.numel();
  for (int d = 0; d < row.walk.dims; ++d)
    row.walk.size[d] = x.sizes()[d], row.walk.stride[0][d] = x.strides()[d];
}

template <class Words, int most>
void launch_search(const CheckedOperation& operation, bool before, bool ends,
                   NonfiniteScratch* scratch) {
  NonfiniteTable<Words, most> table;
  table.number = operation.number, table.given = operation.given;
  table.before = before, table.ends = ends;
  table.count = table.all = 0;
  table.scratch = scratch;
  const int device = operation.results[0].device().index();
  table.record = nonfinite_record(device);
  unsigned blocks = 0;
  table.first_block[0] = 0;
  for (const Tensor& x : operation.results) {
    fill_row(table.rows[table.all++], x);
    const int64_t words = table.rows[table.count].numel;
    blocks += static_cast<unsigned>(ceil_div(words, int64_t{kNonfiniteChunk}));
    table.first_block[++table.count] = blocks;
  }
  for (const Tensor& x : operation.operands) fill_row(table.rows[table.all++], x);
  const Context context(operation.results[0]);
  launch(nonfinite_kernel<Words, most>, {dim3(blocks), kNonfiniteThreads, 0, context.stream},
         table);
}

// Copies of those that a row cannot describe.
Tensors described(ArrayRef<Tensor> list, bool strided) {
  Tensors out;
  out.reserve(list.size());
  for (const Tensor& x : list)
    out.push_back(x.is_contiguous() || (strided && parts_of(x) == 1) ? x : raw::contiguous(x));
  return out;
}

void search(CheckedOperation operation, bool before) {
  const int device = operation.results[0].device().index();
  NonfiniteScratch* const scratch = scratch_of(operation.number, device);
  const size_t rows = operation.results.size() + operation.operands.size();
  const bool few = rows <= kFewRows;
  const Tensors results = described(operation.results, few),
                operands = described(operation.operands, few);
  operation.results = results, operation.operands = operands;
  if (few) return launch_search<StridedWords, kFewRows>(operation, before, /*ends=*/true, scratch);
  if (rows <= kManyRows)
    return launch_search<DenseWords, kManyRows>(operation, before, /*ends=*/true, scratch);
  // The lists of an optimizer's step. The gradients are left out: they were results before.
  for (size_t begin = 0; begin < results.size(); begin += kManyRows) {
    CheckedOperation part = operation;
    part.results =
        operation.results.slice(begin, std::min<size_t>(kManyRows, results.size() - begin));
    part.operands = {};
    launch_search<DenseWords, kManyRows>(part, before, begin + kManyRows >= results.size(),
                                         scratch);
  }
}

}  // namespace

}  // namespace gradus::cuda

namespace gradus {

void cuda_tell_nonfinite(void (*tell)(int device, const NonfiniteFinding&)) {
  cuda::tell_nonfinite(tell);
}
void cuda_note_kinds(uint64_t number, ArrayRef<Tensor> changed) {
  cuda::search({.number = number, .results = changed}, /*before=*/true);
}
void cuda_find_nonfinite(const CheckedOperation& operation) {
  cuda::search(operation, /*before=*/false);
}
void cuda_finish_nonfinite() {
  for (int device = 0; device < cuda::device_count(); ++device)
    if (cuda::nonfinite_is_used(device)) cuda::synchronize(device);
}

}  // namespace gradus
