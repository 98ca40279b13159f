// Copies between devices.

#include <cuda_runtime_api.h>

#include <array>
#include <mutex>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/capture.h"
#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/event.h"
#include "gradus/cuda/runtime/peer.h"
#include "gradus/cuda/runtime/pinned.h"
#include "gradus/cuda/runtime/stats.h"

namespace gradus::cuda {

namespace {

bool is_page_locked(const void* host) {
  cudaPointerAttributes attributes;
  check_cuda(cudaPointerGetAttributes(&attributes, host), "transfer: cudaPointerGetAttributes");
  return attributes.type == cudaMemoryTypeHost;
}

void upload(const Tensor& src, const Tensor& dst, bool non_blocking) {
  const Context context(dst);
  check_not_captured("transfer: a copy from the CPU, as by to() or tensor(),",
                     "each replay would read the CPU's memory again, which may be gone");
  detail::count(detail::counters.host_to_device);
  check_cuda(cudaMemcpyAsync(dst.data_ptr(), src.data_ptr(), src.nbytes(), cudaMemcpyHostToDevice,
                             context.stream),
             "transfer: copy of ", src.nbytes(), " bytes from the CPU to ", dst.device());
  // Pageable memory has been read when the call returns; page-locked memory is read later.
  if (non_blocking) {
    detail::record_pinned(src.storage().impl_ptr(), Stream(dst.device().index(), context.stream));
  } else if (is_page_locked(src.data_ptr())) {
    after_wait(cudaStreamSynchronize(context.stream), dst.device().index(), "transfer");
  }
}

void download(const Tensor& src, const Tensor& dst, bool non_blocking) {
  const Context context(src);
  check_not_captured("transfer: a copy to the CPU, as by item(), cpu() or printing,",
                     "captured work is recorded and not run, so there are no numbers yet");
  detail::count(detail::counters.device_to_host);
  check_cuda(cudaMemcpyAsync(dst.data_ptr(), src.data_ptr(), src.nbytes(), cudaMemcpyDeviceToHost,
                             context.stream),
             "transfer: copy of ", src.nbytes(), " bytes from ", src.device(), " to the CPU");
  if (non_blocking) {
    detail::record_pinned(dst.storage().impl_ptr(), Stream(src.device().index(), context.stream));
  } else {
    after_wait(cudaStreamSynchronize(context.stream), src.device().index(), "transfer to the CPU");
  }
}

// The copy runs on the destination's stream, behind the work of the source's stream, whose later
// work waits for it. The host waits for nothing.
void transfer_peer(const Tensor& src, const Tensor& dst) {
  const int from = src.device().index(), to = dst.device().index();
  for (const int device : {from, to}) {
    const DeviceGuard guard(device);
    check_not_captured("transfer: a copy to another GPU", "a graph is of one device");
  }
  const Stream source = getCurrentCUDAStream(from), destination = getCurrentCUDAStream(to);
  Event ready, copied;
  ready.record(source);
  ready.block(destination);
  copy_async(dst, src, destination);
  copied.record(destination);
  copied.block(source);
}

}  // namespace

bool enable_peer_access(int device, int peer) {
  enum class Access : uint8_t { unknown, no, yes };
  static std::mutex mutex;
  static std::array<std::array<Access, kMaxDevices>, kMaxDevices> known{};
  device = checked_device("enable_peer_access", device);
  peer = checked_device("enable_peer_access", peer);
  const DeviceGuard guard(device);
  const std::lock_guard lock(mutex);
  Access& access = known[static_cast<size_t>(device)][static_cast<size_t>(peer)];
  if (access != Access::unknown) return access == Access::yes;
  int possible = device == peer;
  if (!possible)
    check_cuda(cudaDeviceCanAccessPeer(&possible, device, peer),
               "enable_peer_access: cudaDeviceCanAccessPeer");
  if (possible && device != peer) {
    const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
    if (status == cudaErrorTooManyPeers) possible = false;
    if (status == cudaErrorPeerAccessAlreadyEnabled || status == cudaErrorTooManyPeers)
      cudaGetLastError();
    else
      check_cuda(status, "enable_peer_access: cudaDeviceEnablePeerAccess to cuda:", peer);
  }
  access = possible ? Access::yes : Access::no;
  return possible;
}

void copy_async(const Tensor& dst, const Tensor& src, const Stream& stream) {
  if (dst.numel() == 0) return;
  const int from = src.device().index(), to = dst.device().index();
  const auto native = static_cast<cudaStream_t>(stream.handle());
  const DeviceGuard guard(to);
  detail::count(detail::counters.device_to_device);
  const auto queue = [&] {
    if (!src.is_contiguous() || !dst.is_contiguous()) {
      const auto pitch = [](const Tensor& x) {
        return static_cast<size_t>(x.stride(0)) * x.itemsize();
      };
      return cudaMemcpy2DAsync(dst.data_ptr(), pitch(dst), src.data_ptr(), pitch(src),
                               static_cast<size_t>(src.size(1)) * src.itemsize(),
                               static_cast<size_t>(src.size(0)), cudaMemcpyDeviceToDevice, native);
    }
    if (enable_peer_access(to, from))
      return cudaMemcpyAsync(dst.data_ptr(), src.data_ptr(), src.nbytes(), cudaMemcpyDeviceToDevice,
                             native);
    return cudaMemcpyPeerAsync(dst.data_ptr(), to, src.data_ptr(), from, src.nbytes(), native);
  };
  check_cuda(queue(), "copy_async: copy of ", src.nbytes(), " bytes from ", src.device(), " to ",
             dst.device());
}

void CudaBackend::transfer(const Tensor& src, const Tensor& dst, bool non_blocking) {
  if (src.numel() == 0) return;
  if (src.is_cpu())
    upload(src, dst, non_blocking);
  else if (dst.is_cpu())
    download(src, dst, non_blocking);
  else
    transfer_peer(src, dst);
}

}  // namespace gradus::cuda
