// The work that a device must be able to do: Backend has one virtual function for each kind.
// tensor/table/backend.def lists them with their contracts.
#pragma once

#include <functional>
#include <optional>

#include "gradus/tensor/base/cross_entropy_rule.h"
#include "gradus/tensor/base/normalized_rows.h"
#include "gradus/tensor/base/windows.h"
#include "gradus/tensor/table/factorizations.h"
#include "gradus/tensor/table/ops.h"
#include "gradus/tensor/table/optimizers.h"
#include "gradus/tensor/tensor.h"

namespace gradus {

namespace fused {
struct Kernel;
}

// An operand of zip and ternary: a tensor, or a number for all elements.
struct Operand {
  Operand(const Tensor& x) : tensor(&x) {}  // NOLINT: implicit
  Operand(const Scalar& x) : number(x) {}   // NOLINT: implicit
  bool is_number() const { return tensor == nullptr; }

  const Tensor* tensor = nullptr;
  Scalar number;
};

// Matrices of a half type with so many elements are read once more where their columns are added up
// beside a product, and smaller ones are not.
inline constexpr int64_t kLargeMatrix = int64_t{1} << 21;

// One parameter in a step of an optimizer.
struct UpdatedParameter {
  Tensor parameter, gradient;
  std::array<Tensor, kMostStates> states;  // those that the step keeps come first
  unsigned fresh = 0;                      // bit i: states[i] is uninitialised, and counts as 0
  CoefficientList coefficients;
  // Both or neither, one Double each: not 0, and nothing changes; how many steps were passed over.
  Tensor found_inf, skipped;
};

// How queries attend to keys: softmax(scale q k^T + mask) v.
struct Attention {
  double scale;
  bool causal = false;  // query i sees the keys up to i
  double dropout = 0;   // the probability of a weight to become 0; the others are divided by 1 - it
  PhiloxState state = {};  // draws for the weights, row-major in (batch, heads, queries, keys)
};

// How a tensor is transformed: each number of a dimension becomes sum(x[j] e^(-2 pi i j k / n)).
struct FourierTransform {
  Dims dims;             // distinct; the last one is that which is halved
  bool inverse = false;  // e^(+2 pi i j k / n)
  double scale = 1;
};

class Backend {
 public:
  virtual ~Backend() = default;

#define FUNCTION(result, name, called, parameters, ...) virtual result name parameters = 0;
#define MEMORY FUNCTION
#define ROW(result, name, called, parameters, ...) virtual result name parameters;
#include "gradus/tensor/table/backend.def"
};

// The backend of a device type. Errors: Error where the build or the machine has no such device.
Backend& backend(DeviceType type);
inline Backend& backend(const Tensor& tensor) { return backend(tensor.device().type()); }
// Puts another backend in the place of a device type's; nullptr: the library's own again. Returns
// the one that was there, nullptr for the library's own. The caller keeps both alive. `other` may
// hand calls on to cpu_backend() or cuda_backend(). REQUIRES: no operation runs.
Backend* exchange_backend(DeviceType type, Backend* other);

// Defined in cpu/ and cuda/; cuda/stub.cpp answers for builds without CUDA.
Backend& cpu_backend();
Backend& cuda_backend();
// Returns a function that gives another thread this thread's current device and streams.
std::function<void()> cuda_thread_state();

}  // namespace gradus
