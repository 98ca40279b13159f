// Whether the bits of a row may depend on the other rows of its batch.
#pragma once

namespace gradus::detail {

// Whether a row of a result has the same bits in every batch and at every place of it
// (docs/reproducibility.md). Kernels, their tiles and the order of their sums are chosen without a
// look at the batch then. The first value is the environment variable GRADUS_BATCH_INVARIANT, 0 or
// 1; the default is false. The setting holds for the whole process.
// Errors: ValueError for another value of GRADUS_BATCH_INVARIANT.
bool batch_invariant();
void set_batch_invariant(bool on);

}  // namespace gradus::detail
