// Where the NaN and the infinities of tensors are: what a NanGuard (watch/guard) asks of a device.
#pragma once

#include <cstdint>

#include "gradus/tensor/tensor.h"

namespace gradus {

// Kinds of elements, as bits.
inline constexpr unsigned kNans = 1, kInfinities = 2;
// A mark beside them: operands have been overwritten since, and are not looked at.
inline constexpr unsigned kChanged = 4;

// The elements of some tensors that are not finite. Complex ones are where a part of them is.
struct Nonfinite {
  int64_t nans = 0, infinities = 0;
  // The number of the first tensor with a NaN, and the place of that, row-major; of the first
  // infinity where there is no NaN.
  int tensor = 0;
  int64_t place = 0;

  unsigned kinds() const { return (nans ? kNans : 0u) | (infinities ? kInfinities : 0u); }
};

// An operation that is looked at.
struct CheckedOperation {
  uint64_t number = 0;                     // that the finding names
  ArrayRef<Tensor> results{}, operands{};  // of floating point and complex dtypes
  unsigned given = 0;                      // kinds that operands have, as far as it is known
  // The rest is for GPUs. Bit i: NaN and infinities of operand i make some result not finite,
  // whatever else there is.
  uint64_t passed = 0;
  // Bit i: wherever result i is not finite, another result is not finite either.
  uint64_t repeated = 0;
  bool noted = false;    // cuda_note_kinds was called
  bool updates = false;  // a step of an optimizer
};

// An operation whose results are not finite. made: the results have kinds of elements that the
// operands lack. Otherwise the results have NaN, and so has an operand.
struct NonfiniteFinding {
  uint64_t number = 0;
  bool made = false;
  Nonfinite results{}, operands{};
  unsigned given = 0;  // the kinds of all operands
  double largest = 0;  // finite magnitude in the operands
};

// --- Defined in cpu/, for tensors of the CPU.
// The kinds of elements in tensors of the CPU.
unsigned cpu_kinds(ArrayRef<Tensor> tensors);
// Whether there is something to tell of.
bool cpu_find_nonfinite(const CheckedOperation& operation, NonfiniteFinding& finding);

// --- Defined in cuda/. Nothing waits: work is queued on the current stream of the tensors' device.
// `tell` is called where a thread waits for the device, or launches a kernel, after an operation
// with a finding; `tell` may throw. Null: nobody is told any more.
void cuda_tell_nonfinite(void (*tell)(int device, const NonfiniteFinding&));
// Notes the kinds of elements in tensors that the operation of this number will change.
void cuda_note_kinds(uint64_t number, ArrayRef<Tensor> changed);
// Call this behind the operation. The search is queued at once, or later together with others,
// which is why the results and operands stay in memory. A result is not read where a later
// operation passes on what it has; the results of that one are. Errors, of both: Error where the
// first one of a device is captured.
void cuda_find_nonfinite(const CheckedOperation& operation);
// Call this before an operation writes to these tensors. updates: it is an optimizer's step.
void cuda_will_change(ArrayRef<Tensor> tensors, bool updates);
// How many owners the storage has beside the searches that wait.
int64_t owners_of(const StoragePtr& storage);
// Whether a graph only takes the arguments of launches anew, which are then not run.
bool cuda_is_renewing();
// Queues the searches that wait on a device. Returns whether there were some.
bool cuda_flush_nonfinite(Device device);
// Waits for all devices that were asked, and tells what they found.
void cuda_finish_nonfinite();

}  // namespace gradus
