// Recurrent cells: a thread for each unit of each row.
#pragma once

#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/tensor/math/cells.h"

namespace gradus::cuda {

// Unit i of all rows, and where its gates begin; out of range for a thread without one.
struct CellUnit {
  __device__ CellUnit(int64_t units, int64_t gates)
      : i(int64_t{blockIdx.x} * blockDim.x + threadIdx.x),
        gate(i / units * (gates - 1) * units + i) {}
  int64_t i, gate;
};

template <class T>
__global__ void lstm_kernel(int64_t n, int64_t units, const T* x, const T* s, const T* c_prev,
                            T* gates, T* c, T* h) {
  wait_for_earlier_kernels();
  const CellUnit at(units, 4);
  if (at.i >= n) return;
  scalar::lstm_unit(units, x + at.gate, s + at.gate, c_prev[at.i], gates + at.gate, c + at.i,
                    h + at.i);
}

// grad, here and below: or null.
template <class T>
__global__ void lstm_grad_kernel(int64_t n, int64_t units, const T* grad, const T* c_prev,
                                 const T* gates, const T* c, const T* grad_h, T* grad_c,
                                 T* grad_x) {
  wait_for_earlier_kernels();
  const CellUnit at(units, 4);
  if (at.i >= n) return;
  const T all = grad ? grad_h[at.i] + grad[at.i] : grad_h[at.i];
  scalar::lstm_unit_grad(units, all, c_prev[at.i], gates + at.gate, c[at.i], grad_c + at.i,
                         grad_x + at.gate);
}

template <class T>
__global__ void gru_kernel(int64_t n, int64_t units, const T* x, const T* s, const T* h_prev,
                           T* gates, T* h) {
  wait_for_earlier_kernels();
  const CellUnit at(units, 3);
  if (at.i >= n) return;
  scalar::gru_unit(units, x + at.gate, s + at.gate, h_prev[at.i], gates + at.gate, h + at.i);
}

template <class T>
__global__ void gru_grad_kernel(int64_t n, int64_t units, const T* grad, const T* h_prev,
                                const T* s, const T* gates, T* grad_h, T* grad_x, T* grad_s) {
  wait_for_earlier_kernels();
  const CellUnit at(units, 3);
  if (at.i >= n) return;
  if (grad) grad_h[at.i] += grad[at.i];
  scalar::gru_unit_grad(units, h_prev[at.i], s + at.gate, gates + at.gate, grad_h + at.i,
                        grad_x + at.gate, grad_s + at.gate);
}

}  // namespace gradus::cuda
