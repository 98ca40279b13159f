// at::globalContext(): devices and their generators, the precision of products and convolutions, the
// order of sums.
#pragma once

#include <atomic>

#include "gradus/cuda/runtime/device.h"
#include "gradus/cuda/runtime/generator.h"
#include "gradus/tensor/backend.h"
#include "gradus/tensor/base/batch_invariant.h"
#include "gradus/tensor/base/precision.h"

namespace gradus {

class Context {
 public:
  // Errors: Error where there is no such device.
  const Generator& defaultGenerator(Device device) { return default_generator(device); }
  // Whether products of float32 may be rounded to TF32.
  static bool allowTF32CuBLAS() {
    return float32MatmulPrecision() != Float32MatmulPrecision::HIGHEST;
  }
  static void setAllowTF32CuBLAS(bool allow) {
    setFloat32MatmulPrecision(allow ? "high" : "highest");
  }
  // Whether convolutions of float32 may.
  static bool allowTF32CuDNN() { return detail::allows_tf32_convolutions(); }
  static void setAllowTF32CuDNN(bool allow) { detail::allow_tf32_convolutions(allow); }
  // Whether each row of a forward pass has the same bits in every batch and at every place of it,
  // at some cost in speed (docs/reproducibility.md). false at first, or as GRADUS_BATCH_INVARIANT
  // says. A captured graph keeps the kernels that it was captured with.
  static bool batchInvariant() { return detail::batch_invariant(); }
  static void setBatchInvariant(bool invariant) { detail::set_batch_invariant(invariant); }
  // Algorithms are chosen by shapes alone, without trials, and each one is deterministic. cuDNN
  // runs where cuda::set_convolution_kernel names it. So these settings are kept, and change
  // nothing.
  bool userEnabledCuDNN() const { return enabled_cudnn_; }
  void setUserEnabledCuDNN(bool enabled) { enabled_cudnn_ = enabled; }
  bool benchmarkCuDNN() const { return benchmark_; }
  void setBenchmarkCuDNN(bool benchmark) { benchmark_ = benchmark; }
  bool deterministicCuDNN() const { return deterministic_cudnn_; }
  void setDeterministicCuDNN(bool deterministic) { deterministic_cudnn_ = deterministic; }
  bool deterministicAlgorithms() const { return deterministic_; }
  bool deterministicAlgorithmsWarnOnly() const { return warns_only_; }
  void setDeterministicAlgorithms(bool deterministic, bool warn_only) {
    deterministic_ = deterministic, warns_only_ = warn_only;
  }
  static Float32MatmulPrecision float32MatmulPrecision() {
    return detail::float32_matmul_precision();
  }
  static void setFloat32MatmulPrecision(const std::string& precision) {
    set_float32_matmul_precision(precision);
  }
  static bool hasCUDA() { return cuda::is_available(); }
  // Gradus has no use for these.
  static bool hasHIP() { return false; }
  static bool hasMAGMA() { return false; }
  static bool hasMKL() { return false; }
  static bool hasMPS() { return false; }
  static bool hasXLA() { return false; }

 private:
  std::atomic<bool> enabled_cudnn_ = true, benchmark_ = false, deterministic_cudnn_ = false,
                    deterministic_ = false, warns_only_ = false;
};
inline Context& globalContext() {
  static Context context;
  return context;
}
inline bool hasCUDA() { return Context::hasCUDA(); }
inline bool hasHIP() { return Context::hasHIP(); }
inline bool hasMAGMA() { return Context::hasMAGMA(); }
inline bool hasMKL() { return Context::hasMKL(); }
inline bool hasMPS() { return Context::hasMPS(); }
inline bool hasXLA() { return Context::hasXLA(); }

}  // namespace gradus

#include "gradus/compat/torch/torch.h"  // the namespaces at and c10
