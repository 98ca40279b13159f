// Moments that the kernel of a convolution makes beside its output, so that batch norm need not
// read it once more.
#pragma once

#include "gradus/autograd/engine/meta.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::autograd {

// Whether moments may be made beside what `weight`, a parameter or its conversion under autocast,
// makes: its parameter can remember who takes them.
bool may_make_moments(const Tensor& weight);
// Room for those of `parts` parts and `filters` filters. The table is undefined unless batch norm
// in training took the last output of this weight. REQUIRES: may_make_moments().
raw::PartMoments room_for_moments(const Tensor& weight, int64_t parts, int64_t filters);
// Says that the kernel which made `output` with `weight` makes moments. REQUIRES: moments.made.
void made_moments(const Tensor& output, const Tensor& weight, const raw::PartMoments& moments);
// The moments of x for batch norm in training. `made` is whether x is the last such output, and
// unchanged. Then batch norm makes parts itself where there is no table, so that the bits are the
// same with one. Moments are taken once.
raw::PartMoments take_moments(const Tensor& x);

}  // namespace gradus::autograd
