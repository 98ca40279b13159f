// All steps of an LSTM in one launch: Backend::lstm_steps of half types on Hopper.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Whether this build and the current device run the functions below for so many units in a half
// type: 128, 256 or 512 on compute capability 9.0, where a cluster of a block for each 32 units
// fits on the chip.
bool has_lstm_clusters(ScalarType dtype, int64_t units);

// Backend::lstm_steps and lstm_steps_grad. REQUIRES: has_lstm_clusters().
void lstm_by_clusters(bool reverse, const Tensor& x, const Tensor& h, const Tensor& c,
                      const Tensor& weight, const Tensor& bias, const Tensor& gates,
                      const Tensor& cells, const Tensor& states);
void lstm_grad_by_clusters(bool reverse, const Tensor& grad_states, const Tensor& grad_cells,
                           const Tensor& c, const Tensor& weight, const Tensor& gates,
                           const Tensor& cells, const Tensor& grad_x, const Tensor& grad_h,
                           const Tensor& grad_c);

}  // namespace gradus::cuda
