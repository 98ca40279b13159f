// The loops of recurrent cells over neighbouring units of a row for each instruction set.
#pragma once

#include <cstdint>

#include "gradus/cpu/instruction_set.h"

namespace gradus::cpu {

// T is float or double. The arguments are those of tensor/math/cells.h for the first unit.
template <class T>
struct CellLoops {
  void (*lstm)(int64_t count, int64_t units, const T* x, const T* s, const T* c_prev, T* gates,
               T* c, T* h);
  void (*lstm_grad)(int64_t count, int64_t units, const T* grad_h, const T* c_prev, const T* gates,
                    const T* c, T* grad_c, T* grad_x);
  void (*gru)(int64_t count, int64_t units, const T* x, const T* s, const T* h_prev, T* gates,
              T* h);
  void (*gru_grad)(int64_t count, int64_t units, const T* h_prev, const T* s, const T* gates,
                   T* grad_h, T* grad_x, T* grad_s);

  // One table for each set (cpu/instruction_set.h).
#define SET(name) static const CellLoops& name();
#include <gradus_sets.def>
};

}  // namespace gradus::cpu
