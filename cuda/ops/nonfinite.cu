// The search for NaN and infinities on GPUs: a kernel behind each operation, or one for many, and
// the host that hears of what it found.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gradus/cuda/kernels/guard/nonfinite.cuh"
#include "gradus/cuda/ops/nonfinite_batch.cuh"
#include "gradus/cuda/runtime/allocator.h"
#include "gradus/cuda/runtime/capture.h"
#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/cuda/runtime/graph.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/cuda/runtime/nonfinite.h"
#include "gradus/cuda/runtime/pinned.h"
#include "gradus/cuda/runtime/relaunch.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/nonfinite.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

namespace {

// The rows of a launch: few with any strides, or some or many that are simpler.
constexpr int kFewRows = 12, kSomeRows = 32, kManyRows = 320;

// Searches that run at once have scratches of their own. Captured ones keep theirs.
constexpr uint64_t kScratches = 1 << 15;

constexpr size_t kMostWaiting = 1 << 14;

struct OfDevice {
  std::mutex making;  // of the memory: the copy to the device passes the guard
  std::atomic<bool> is_made{false};
  std::mutex mutex;
  // The scratches of operations, of captured ones, of batches and of captured ones; then the word
  // of nonfinite_update.
  Tensor memory;
  size_t most_bytes = 0;                // that the results of a batch have
  std::atomic<bool> waits{false};       // a batch is not empty
  std::atomic<bool> one_by_one{false};  // operations were looked at in vain: none waits any more
  Batch batch;                          // guarded by the mutex, as the rest
  Batch spare;                          // an empty one, with memory
  std::vector<StoragePtr> of_captures;  // operations of captured batches, which replays read
  std::unordered_map<const StorageImpl*, std::weak_ptr<StorageImpl>> updated;  // by steps alone
};
std::vector<OfDevice>& devices() {
  static std::vector<OfDevice> all(static_cast<size_t>(device_count()));
  return all;
}
std::atomic<bool> any{false};  // device has its memory

void flush_waiting(int device);

unsigned* update_word(const OfDevice& mine) {
  return &static_cast<NonfiniteScratch*>(mine.memory.data_ptr())[4 * kScratches].given;
}

// The first search on a device makes its scratches. The program gives them back when it ends.
OfDevice& of_device(int device) {
  OfDevice& mine = devices()[static_cast<size_t>(device)];
  if (mine.is_made.load(std::memory_order_acquire)) return mine;
  const std::lock_guard lock(mine.making);
  if (mine.is_made) return mine;
  check_not_captured("NanGuard: the first operation on this GPU under a guard",
                     "the guard allocates memory for it");
  std::vector<NonfiniteScratch> fresh(4 * kScratches, {0, 0, 0, 0, kNowhere});
  fresh.push_back({});
  const auto bytes = static_cast<int64_t>(fresh.size() * sizeof fresh[0]);
  const Tensor here = from_blob(fresh.data(), {bytes}, kByte);
  mine.memory = raw::to(here, Device(kCUDA, static_cast<DeviceIndex>(device)));
  synchronize(device);  // other streams read it
  size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  mine.most_bytes = total / 8;
  set_nonfinite_update(device, update_word(mine));
  flush_nonfinite_by(&flush_waiting);
  any = mine.is_made = true;
  return mine;
}

// The scratch of an operation, or of the batch that it is the first one of.
NonfiniteScratch* scratch_at(const OfDevice& mine, uint64_t number, int device,
                             bool of_batch = false) {
  auto* const all = static_cast<NonfiniteScratch*>(mine.memory.data_ptr());
  const uint64_t region = (of_batch ? 2 : 0) + (Graph::capturing(device) ? 1 : 0);
  return all + region * kScratches + number % kScratches;
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
  launch_pdl(nonfinite_kernel<Words, most>, {dim3(blocks), kNonfiniteThreads, 0, context.stream},
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
  NonfiniteScratch* const scratch = scratch_at(of_device(device), operation.number, device);
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

// --- Searches that wait

StridedRuns runs_of(const StridedWords& row) {
  StridedRuns out;
  out.data = static_cast<const char*>(row.data);
  out.dtype = row.dtype, out.bytes = row.bytes;
  int64_t words = row.numel;  // of a run
  if (!row.dense) {
    Dims sizes, strides;  // those of elements that are broadcast left out
    for (int d = 0; d < row.walk.dims; ++d)
      if (row.walk.stride[0][d] != 0)
        sizes.push_back(row.walk.size[d]), strides.push_back(row.walk.stride[0][d]);
    Strided<1>& walk = out.walk = collapse<1>(sizes, {strides});
    const bool has_runs = walk.dims > 0 && walk.stride[0][walk.dims - 1] == 1;
    words = has_runs ? walk.size[--walk.dims] : 1;
    out.count = walk.numel / words;
  }
  out.length = words * row.bytes;
  bool aligned = reinterpret_cast<uintptr_t>(out.data) % kSlotBytes == 0;
  for (int d = 0; d < out.walk.dims; ++d)
    aligned = aligned && out.walk.stride[0][d] * row.bytes % kSlotBytes == 0;
  out.slots = ceil_div(out.length, int64_t{kSlotBytes}) + (aligned ? 0 : 1);
  return out;
}
// The bytes from the first word of a row to the end of its last one.
int64_t span_of(const StridedRuns& row) {
  int64_t out = row.length;
  for (int d = 0; d < row.walk.dims; ++d)
    out += (row.walk.size[d] - 1) * row.walk.stride[0][d] * row.bytes;
  return out;
}
// Whether each word of the inner row is one of the outer row. False where that is hard to tell.
bool contains(const StridedWords& outer_words, const StridedWords& inner_words) {
  const int64_t before =
      static_cast<const char*>(inner_words.data) - static_cast<const char*>(outer_words.data);
  if (before < 0 || inner_words.numel == 0 || outer_words.numel == 0) return false;
  const StridedRuns outer = runs_of(outer_words), inner = runs_of(inner_words);
  if (outer.walk.dims == 0) return before + span_of(inner) <= outer.length;
  bool even = outer.walk.dims == inner.walk.dims && outer.bytes == inner.bytes;
  for (int d = 0; even && d < outer.walk.dims; ++d)
    even = outer.walk.size[d] == inner.walk.size[d] &&
           outer.walk.stride[0][d] == inner.walk.stride[0][d];
  return even && before + inner.length <= outer.length;
}

bool can_wait(const CheckedOperation& operation) {
  const auto can = [](const Tensor& x) { return x.is_contiguous() || parts_of(x) == 1; };
  return std::ranges::all_of(operation.results, can) &&
         std::ranges::all_of(operation.operands, can) && operation.operands.size() < 64;
}

enum class PutOff { done, full, other_stream };  // full: after it

// REQUIRES: the tensors have arrived.
PutOff put_off(const CheckedOperation& operation, OfDevice& mine, const Stream& stream) {
  const int device = stream.device_index();
  const std::lock_guard lock(mine.mutex);
  Batch& batch = mine.batch;
  if (batch.operations.empty()) {
    batch.stream = stream;
    batch.capture = capture_id(static_cast<cudaStream_t>(stream.handle()));
    batch.scratch = scratch_at(mine, operation.number, device, /*of_batch=*/true);
  } else if (*batch.stream != stream) {
    return PutOff::other_stream;
  }
  const auto first = static_cast<int>(batch.rows.size());
  const auto add = [&](const Tensor& x, bool ends) {
    fill_row(batch.rows.emplace_back().words, x);
    const StoragePtr& storage = x.impl().storage;
    if (batch.link(storage, ends) && is_allocated(storage)) record_stream(storage, stream);
  };
  for (size_t i = 0; i < operation.operands.size(); ++i) {
    if (operation.updates ? operation.passed == 0 : !(operation.passed >> i & 1)) continue;
    StridedWords words;
    fill_row(words, operation.operands[i]);
    batch.pass(operation.operands[i].impl().storage.get(),
               [&](const StridedWords& some) { return contains(words, some); });
  }
  for (size_t i = 0; i < operation.results.size(); ++i) {
    const Tensor& x = operation.results[i];
    add(x, /*ends=*/!operation.updates && !(i < 64 && (operation.repeated >> i & 1)));
    if (!operation.updates) batch.bytes += x.nbytes();
  }
  for (const Tensor& x : operation.operands) add(x, /*ends=*/false);
  batch.operations.push_back(
      {.number = operation.number,
       .given = operation.given,
       .first = first,
       .count = static_cast<int>(operation.results.size()),
       .all = static_cast<int>(operation.results.size() + operation.operands.size()),
       .noted = operation.noted ? &scratch_at(mine, operation.number, device)->given : nullptr});
  batch.noted |= operation.noted;
  batch.updates |= operation.updates;
  if (operation.updates)
    for (const Tensor& x : operation.results)
      mine.updated.insert_or_assign(x.impl().storage.get(), x.impl().storage);
  mine.waits = true;
  return batch.bytes > mine.most_bytes || batch.operations.size() >= kMostWaiting ? PutOff::full
                                                                                  : PutOff::done;
}

// One launch. waiting: that which the last launch of a batch looks at where something is found.
template <class Rows, int most>
void launch_ends(ArrayRef<StridedRuns> rows, const Batch& batch, const WaitingOperations* waiting) {
  const int device = batch.stream->device_index();
  EndsTable<Rows, most> table;
  table.waiting = waiting ? *waiting : WaitingOperations{};
  table.count = 0;
  table.scratch = batch.scratch, table.record = nonfinite_record(device);
  unsigned chunks = 0;
  table.first_block[0] = 0;
  for (const StridedRuns& row : rows) {
    if constexpr (std::is_same_v<Rows, StridedRuns>)
      table.rows[table.count] = row;
    else
      table.rows[table.count] = {row, row.walk.dims > 0 ? row.walk.stride[0][0] * row.bytes : 0};
    chunks += static_cast<unsigned>(ceil_div(row.count * row.slots, int64_t{kSlotsOfChunk}));
    table.first_block[++table.count] = chunks;
  }
  const auto resident =
      static_cast<unsigned>(kBlocksOfEnds * getDeviceProperties(device).multiprocessors);
  const unsigned blocks = std::clamp(chunks, 1u, resident);
  launch_pdl(
      nonfinite_ends<Rows, most>,
      {dim3(blocks), kNonfiniteThreads, 0, static_cast<cudaStream_t>(batch.stream->handle())},
      table);
}

// While it lives, this thread may allocate beside a capture.
class BesideCapture {
 public:
  BesideCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~BesideCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  BesideCapture(const BesideCapture&) = delete;
  BesideCapture& operator=(const BesideCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

void launch_batch(Batch& batch, OfDevice& mine) {
  const int device = batch.stream->device_index();
  const DeviceGuard guard(device);
  const auto queue = static_cast<cudaStream_t>(batch.stream->handle());
  if (capture_id(queue) != batch.capture) return;  // a capture that was given up
  std::vector<StridedRuns> even, strided;
  for (Batch::Row& row : batch.rows) {
    if (row.changed || row.storage->is_arriving()) row.words.numel = 0, row.changed = true;
    if (!row.ends || row.words.numel == 0) continue;
    const StridedRuns runs = runs_of(row.words);
    (runs.walk.dims <= 1 ? even : strided).push_back(runs);
  }
  for (WaitingOperation& operation : batch.operations)
    for (int r = operation.first + operation.count; r < operation.first + operation.all; ++r)
      if (batch.capture && batch.rows[static_cast<size_t>(r)].changed) operation.given |= kChanged;

  const size_t bytes_of_rows = batch.rows.size() * sizeof(StridedWords),
               bytes_of_operations = batch.operations.size() * sizeof(WaitingOperation);
  StoragePtr memory;
  {
    const BesideCapture scope;
    memory = allocate_pinned(bytes_of_rows + bytes_of_operations);
  }
  auto* const rows = static_cast<StridedWords*>(memory->data());
  for (size_t i = 0; i < batch.rows.size(); ++i) rows[i] = batch.rows[i].words;
  auto* const operations = reinterpret_cast<WaitingOperation*>(rows + batch.rows.size());
  std::memcpy(operations, batch.operations.data(), bytes_of_operations);
  const WaitingOperations waiting{operations, rows, static_cast<int>(batch.operations.size()),
                                  batch.noted, batch.updates ? nonfinite_update(device) : nullptr};

  const ArrayRef<StridedRuns> few(strided), many(even);
  for (size_t begin = 0; begin < few.size(); begin += kFewRows)
    launch_ends<StridedRuns, kFewRows>(
        few.slice(begin, std::min<size_t>(kFewRows, few.size() - begin)), batch, nullptr);
  size_t begin = 0;
  do {  // a launch without rows looks at the step's word all the same
    const size_t some = std::min<size_t>(kManyRows, many.size() - begin);
    const ArrayRef<StridedRuns> part = many.slice(begin, some);
    begin += some;
    const WaitingOperations* const last = begin == many.size() ? &waiting : nullptr;
    if (some <= kSomeRows)  // whose arguments arrive sooner
      launch_ends<EvenRuns, kSomeRows>(part, batch, last);
    else
      launch_ends<EvenRuns, kManyRows>(part, batch, last);
  } while (begin < many.size());
  if (batch.capture == 0) return detail::record_pinned(memory, *batch.stream);
  const std::lock_guard lock(mine.mutex);
  mine.of_captures.push_back(std::move(memory));
}

void flush_waiting(int device) {
  OfDevice& mine = devices()[static_cast<size_t>(device)];
  if (!mine.waits.load(std::memory_order_acquire)) return;
  Batch batch;
  {
    const std::lock_guard lock(mine.mutex);
    if (!mine.waits.exchange(false)) return;
    batch = std::exchange(mine.batch, std::exchange(mine.spare, {}));
  }
  launch_batch(batch, mine);
  batch.clear();  // without the mutex, since memory is given back
  const std::lock_guard lock(mine.mutex);
  mine.spare = std::move(batch);
}

// Whether the tensor may change while the batch waits. An optimizer's step changes operands, which
// then count as finite: they are what a step before left. Results are read before they change.
bool holds_change(const Tensor& x, bool updates) {
  OfDevice& mine = devices()[static_cast<size_t>(x.device().index())];
  const std::lock_guard lock(mine.mutex);
  const StorageImpl* const storage = x.impl().storage.get();
  const auto known = mine.updated.find(storage);
  const bool is_updated = known != mine.updated.end() && !known->second.expired();
  if (!updates && known != mine.updated.end()) mine.updated.erase(known);
  if (!mine.waits) return true;
  const RowsOfStorage* const rows = mine.batch.by_storage.find(storage);
  if (!rows) return true;
  if (!updates || (!Relaunch::current() && (!is_updated || rows->last_end >= 0))) return false;
  for (int r = rows->last; r >= 0;) {
    Batch::Row& row = mine.batch.rows[static_cast<size_t>(r)];
    row.changed = true;
    r = row.before;
  }
  return true;
}

// A guard begins or ends.
void forget_waiting(bool begins) {
  if (!any) return;
  for (OfDevice& mine : devices()) {
    const std::lock_guard lock(mine.mutex);
    if (!mine.is_made) continue;
    set_nonfinite_update(mine.memory.device().index(), begins ? update_word(mine) : nullptr);
    mine.waits = false, mine.one_by_one = false;
    mine.batch = {}, mine.spare = {};
    mine.updated.clear();
  }
}

}  // namespace

}  // namespace gradus::cuda

namespace gradus {

void cuda_tell_nonfinite(void (*tell)(int device, const NonfiniteFinding&)) {
  cuda::forget_waiting(/*begins=*/tell != nullptr);
  cuda::tell_nonfinite(tell);
}
void cuda_note_kinds(uint64_t number, ArrayRef<Tensor> changed) {
  cuda::search({.number = number, .results = changed}, /*before=*/true);
}
void cuda_find_nonfinite(const CheckedOperation& operation) {
  const int device = operation.results[0].device().index();
  cuda::OfDevice& mine = cuda::of_device(device);
  const volatile unsigned& in_vain =
      cuda::nonfinite_record(device)->in_vain;  // the device writes it
  if (in_vain != 0) mine.one_by_one = true;
  const cuda::Stream stream = cuda::getCurrentCUDAStream(device);
  if (operation.updates || (!mine.one_by_one && cuda::can_wait(operation))) {
    for (const ArrayRef<Tensor> list : {operation.results, operation.operands})
      for (const Tensor& x : list) x.data_ptr();  // which waits, and may throw
    cuda::PutOff how;
    while ((how = cuda::put_off(operation, mine, stream)) == cuda::PutOff::other_stream)
      cuda::flush_waiting(device);
    // Launches within Relaunch would be taken for those of the step.
    if (operation.updates ? !cuda::Relaunch::current() : how == cuda::PutOff::full)
      cuda::flush_waiting(device);
    return;
  }
  cuda::flush_waiting(device);
  cuda::search(operation, /*before=*/false);
}
void cuda_will_change(ArrayRef<Tensor> tensors, bool updates) {
  if (updates) cuda::of_device(tensors[0].device().index());  // the step's kernel asks for the word
  if (!cuda::any) return;
  for (const Tensor& x : tensors)
    if (x.defined() && x.is_cuda() && !cuda::holds_change(x, updates))
      cuda::flush_waiting(x.device().index());
}
int64_t owners_of(const StoragePtr& storage) {
  const int64_t all = storage.use_count();
  if (all == 1 || !cuda::any || storage->device().type() != kCUDA) return all;
  cuda::OfDevice& mine = cuda::devices()[static_cast<size_t>(storage->device().index())];
  if (!mine.waits) return all;
  const std::lock_guard lock(mine.mutex);
  const cuda::RowsOfStorage* const rows = mine.batch.by_storage.find(storage.get());
  return all - (rows ? rows->count : 0);
}
bool cuda_is_renewing() {
  const cuda::Relaunch* const one = cuda::Relaunch::current();
  return one && !one->is_recording();
}
bool cuda_flush_nonfinite(Device device) {
  if (!cuda::any || !device.is_cuda()) return false;
  const int index = cuda::checked_device("NanGuard", device.index());
  const bool waits = cuda::devices()[static_cast<size_t>(index)].waits;
  if (waits) cuda::flush_waiting(index);
  return waits;
}
void cuda_finish_nonfinite() {
  for (int device = 0; device < cuda::device_count(); ++device)
    if (cuda::nonfinite_is_used(device)) cuda::synchronize(device);
}

}  // namespace gradus
