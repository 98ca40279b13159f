// Writing words in order of a stream, and letting streams wait for them.
#include "gradus/distributed/nccl/stream_values.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "gradus/tensor/base/error.h"

namespace gradus::distributed {

namespace {

using Call = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

// The library is linked with CUDA's runtime alone.
Call driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
  check<Error>(status == cudaSuccess, "distributed: cudaGetDriverEntryPointByVersion of ", name,
               ": ", cudaGetErrorString(status));
  check<Error>(found != nullptr, "distributed: the driver has no ", name, "; install a newer one");
  return reinterpret_cast<Call>(found);
}

void call(Call f, const char* name, const cuda::Stream& stream, const uint32_t* word,
          uint32_t value, unsigned flags) {
  const CUresult status =
      f(static_cast<CUstream>(stream.handle()), reinterpret_cast<CUdeviceptr>(word), value, flags);
  check<Error>(status == CUDA_SUCCESS, "distributed: ", name, " failed with CUresult ",
               static_cast<int>(status));
}

}  // namespace

void wait_value(const cuda::Stream& stream, const uint32_t* word, uint32_t value) {
  static const Call f = driver_function("cuStreamWaitValue32");
  call(f, "cuStreamWaitValue32", stream, word, value, CU_STREAM_WAIT_VALUE_GEQ);
}

void write_value(const cuda::Stream& stream, uint32_t* word, uint32_t value) {
  static const Call f = driver_function("cuStreamWriteValue32");
  call(f, "cuStreamWriteValue32", stream, word, value, CU_STREAM_WRITE_VALUE_DEFAULT);
}

}  // namespace gradus::distributed
