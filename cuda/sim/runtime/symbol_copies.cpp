// Copies into and out of variables of the program that kernels use by name.

#include <cuda_runtime_api.h>

#include "gradus/cuda/sim/runtime/device.h"
#include "gradus/cuda/sim/runtime/memory.h"
#include "gradus/cuda/sim/runtime/queue.h"
#include "gradus/cuda/sim/runtime/streams.h"
#include "gradus/cuda/sim/runtime/variables.h"

namespace gradus::cuda::sim {

namespace {

// `inwards`: into the symbol, of which the copy is to touch nbytes from the offset on.
cudaError_t refuse(Symbol symbol, bool inwards, const void* other, size_t nbytes, size_t offset,
                   cudaMemcpyKind kind, cudaStream_t stream) {
  if (const cudaError_t broken = pending_error()) return broken;
  if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
  const auto address = reinterpret_cast<uintptr_t>(symbol.data);
  if (!is_variable(symbol.data, symbol.nbytes) &&
      (inwards || !constants_around(address).covers(address, symbol.nbytes)))
    return cudaErrorInvalidSymbol;
  if (offset > symbol.nbytes || nbytes > symbol.nbytes - offset) return cudaErrorInvalidValue;
  const cudaMemcpyKind with_host = inwards ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  if (kind != with_host && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  const bool host = !in_arena(reinterpret_cast<uintptr_t>(other)) || is_page_locked(other);
  if (host ? kind == cudaMemcpyDeviceToDevice && !is_variable(other, nbytes) : kind == with_host)
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

// Waits on the default stream: the call may be the one that does.
cudaError_t finish_default(cudaError_t status, cudaStream_t stream) {
  if (status == cudaSuccess && !stream && queues_work()) {
    finish(end_of(current_zone(), stream));
    status = pending_error();
  }
  return result(status);
}

}  // namespace

cudaError_t copy_to(Symbol to, const void* from, size_t nbytes, size_t offset, cudaMemcpyKind kind,
                    cudaStream_t stream) {
  const cudaError_t status = refuse(to, true, from, nbytes, offset, kind, stream);
  if (status) return result(status);
  return finish_default(queue_copy(static_cast<char*>(to.data) + offset, from, nbytes, stream),
                        stream);
}

cudaError_t copy_from(void* to, Symbol from, size_t nbytes, size_t offset, cudaMemcpyKind kind,
                      cudaStream_t stream) {
  const cudaError_t status = refuse(from, false, to, nbytes, offset, kind, stream);
  if (status) return result(status);
  return finish_default(queue_copy(to, static_cast<char*>(from.data) + offset, nbytes, stream),
                        stream);
}

cudaError_t address_of(void** address, Symbol symbol) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!address) return result(cudaErrorInvalidValue);
  if (!is_variable(symbol.data, symbol.nbytes)) return result(cudaErrorInvalidSymbol);
  *address = symbol.data;
  return result(cudaSuccess);
}

cudaError_t size_of(size_t* nbytes, Symbol symbol) {
  void* ignored = nullptr;
  if (!nbytes) return result(cudaErrorInvalidValue);
  const cudaError_t status = address_of(&ignored, symbol);
  if (status == cudaSuccess) *nbytes = symbol.nbytes;
  return status;
}

}  // namespace gradus::cuda::sim
