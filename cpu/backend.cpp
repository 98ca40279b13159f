// The one CpuBackend, and what it does in a line: devices and transfers.
#include "gradus/cpu/backend.h"

namespace gradus {

namespace cpu {

Device CpuBackend::resolve(Device) { return Device(kCPU); }
bool CpuBackend::takes_lstm_steps(Device, ScalarType, int64_t) { return false; }

void CpuBackend::transfer(const Tensor& src, const Tensor& dst, bool) {
  fail<Error>("copy: from ", src.device(), " to ", dst.device(),
              " is not a transfer of the CPU backend; ask the backend of the other device");
}

}  // namespace cpu

Backend& cpu_backend() {
  static cpu::CpuBackend backend;
  return backend;
}

}  // namespace gradus
