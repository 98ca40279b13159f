// Copies into and out of variables that are __constant__ or __device__. The host must not use these
// by name, which is not seen: it would get and set the device's own.
#pragma once

#include <cuda_runtime_api.h>

namespace gradus::cuda::sim {
struct Symbol {
  void* data;
  size_t nbytes;
};
template <class T>
Symbol symbol_of(const T& variable) {
  return {const_cast<void*>(static_cast<const volatile void*>(__builtin_addressof(variable))),
          sizeof(T)};
}
cudaError_t copy_to(Symbol to, const void* from, size_t nbytes, size_t offset, cudaMemcpyKind kind,
                    cudaStream_t stream);
cudaError_t copy_from(void* to, Symbol from, size_t nbytes, size_t offset, cudaMemcpyKind kind,
                      cudaStream_t stream);
cudaError_t address_of(void** address, Symbol symbol);
cudaError_t size_of(size_t* nbytes, Symbol symbol);
}  // namespace gradus::cuda::sim

template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t nbytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  using namespace gradus::cuda::sim;
  return copy_to(symbol_of(symbol), from, nbytes, offset, kind, stream);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t nbytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbolAsync(symbol, from, nbytes, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t nbytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  using namespace gradus::cuda::sim;
  return copy_from(to, symbol_of(symbol), nbytes, offset, kind, stream);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t nbytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbolAsync(to, symbol, nbytes, offset, kind);
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
  return gradus::cuda::sim::address_of(address, gradus::cuda::sim::symbol_of(symbol));
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t* nbytes, const T& symbol) {
  return gradus::cuda::sim::size_of(nbytes, gradus::cuda::sim::symbol_of(symbol));
}
