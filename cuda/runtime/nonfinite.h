// Kernels tell the host of NaN and infinities without a wait, as of indices out of range (fault.h):
// by a record in host memory. The host reads the record after each wait and at each launch.
#pragma once

#include "gradus/tensor/nonfinite.h"

namespace gradus::cuda {

// One for each device, in page-locked memory: the first search that finds something takes it.
struct alignas(64) NonfiniteRecord {
  unsigned state;  // 0: nothing to tell; 1: taken
  unsigned given;  // the kinds of operands
  unsigned long long number, nans, infinities, first;
  unsigned long long given_nans, given_infinities, given_first;
  double largest;
  unsigned in_vain;  // 1: operations were looked at one by one, and there was nothing to tell of
};
// `first` packs three facts into one number: whether it is an infinity, the tensor's number, and the
// place in it. The least number is the one that Nonfinite names.
inline constexpr int kPlaceBits = 48, kTensorBits = 15;

// The first call makes them all, and cannot be captured.
NonfiniteRecord* nonfinite_record(int device);
// Whether a search was queued there.
bool nonfinite_is_used(int device);
// Sets the function that queues the searches that a device's operations wait for. The host calls
// flush_nonfinite before it waits for the device, and where a graph begins or ends.
void flush_nonfinite_by(void (*flush)(int device));
void flush_nonfinite(int device);
// The word of the device that is not 0 once an optimizer's step has written a number that is not
// finite; null where no guard has looked at the device.
unsigned* nonfinite_update(int device);
void set_nonfinite_update(int device, unsigned* word);
// Sets the function that is told of findings. Null: none.
void tell_nonfinite(void (*tell)(int device, const NonfiniteFinding&));
// Tells what the device's record says. Waits for the device in that case alone. Errors: what `tell`
// throws; the record is clear then.
void tell_if_nonfinite(int device);

}  // namespace gradus::cuda
