// The student's functions for one kind of device, by the tasks that they solve.
#pragma once

#include <cstdint>

#include "core/training.h"

namespace course::plug {

struct Code {
  const char *map_task, *zip_task, *reduce_task, *sgd_task;
  void (*map)(Op1, float* out, const Layout&, const float* x, const Layout&);
  void (*zip)(Op2, float* out, const Layout&, const float* x, const Layout&, const float* y,
              const Layout&);
  // Along the last dimension of a row-major (rows, n); scratch holds rows * scratch_row numbers.
  void (*reduce)(Op2, float start, float* out, const float* x, int64_t rows, int64_t n,
                 float* scratch);
  int64_t scratch_row;
  // Products, the best first: of matrices of any strides, or of row-major ones.
  struct Product {
    const char* task;
    bool any_strides;
    void (*matmul)(float* out, const Mat& a, const Mat& b, int m, int n, int k);
  };
  Product products[3];
  // Null where no task of the course has one: then a step is made of zip.
  void (*sgd)(const Params&, const Sgd&, bool first_step);
};

const Code& cpu_code();
const Code& gpu_code();  // in builds with CUDA, or simulated devices

}  // namespace course::plug
