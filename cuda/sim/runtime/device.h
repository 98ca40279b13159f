// The state of the simulated runtime that its functions share.
#pragma once

#include <cuda_runtime_api.h>

namespace gradus::cuda::sim {

// Notes the status as the last error of the thread, and returns it. Every function of the runtime
// returns through this.
cudaError_t result(cudaError_t status);
// pending_error: the error of an earlier kernel, else that of without_devices(), which is the error
// of a machine without devices. cudaSuccess without an error. Calls that need a device return it.
cudaError_t pending_error();
cudaError_t without_devices();

bool is_device(int device);
int current_zone();                        // the current device
bool is_stream(cudaStream_t stream);       // true also for the default stream
bool is_stream_here(cudaStream_t stream);  // whether it is one of the current device
bool may_access(int device, int peer);

}  // namespace gradus::cuda::sim
