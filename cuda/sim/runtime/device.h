// The state of the simulated runtime that its functions share.
#pragma once

#include <cuda_runtime_api.h>

namespace gradus::cuda::sim {

// What every function of the runtime returns: notes it as the last error of the thread.
cudaError_t result(cudaError_t status);
// What every call returns that needs a device: the error of an earlier kernel, or that of a machine
// without devices; cudaSuccess without one.
cudaError_t pending_error();
cudaError_t without_devices();

bool is_device(int device);
int current_zone();                        // the current device
bool is_stream(cudaStream_t stream);       // or the default stream
bool is_stream_here(cudaStream_t stream);  // of the current device
bool may_access(int device, int peer);

}  // namespace gradus::cuda::sim
