// Eigenvalues of any square matrices by cuSOLVER's geev, which is newer than the functions of
// cusolver.cpp: it came with CUDA 12.8.
#include "gradus/cuda/ops/linalg/cusolver.h"

#ifndef GRADUS_SIMULATED

#include <library_types.h>

#include <memory>
#include <vector>

#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/tensor/base/called.h"

namespace gradus::cuda {

namespace {

// Pointers stand for handles, and 0 is success (cusolver.cpp).
struct Geev {
  int (*room)(void* handle, void* parameters, int left, int right, int64_t n, cudaDataType type_a,
              const void* a, int64_t lda, cudaDataType type_w, const void* w, cudaDataType type_vl,
              const void* vl, int64_t ldvl, cudaDataType type_vr, const void* vr, int64_t ldvr,
              cudaDataType computed_in, size_t* on_device, size_t* on_host);
  int (*run)(void* handle, void* parameters, int left, int right, int64_t n, cudaDataType type_a,
             void* a, int64_t lda, cudaDataType type_w, void* w, cudaDataType type_vl, void* vl,
             int64_t ldvl, cudaDataType type_vr, void* vr, int64_t ldvr, cudaDataType computed_in,
             void* on_device, size_t device_size, void* on_host, size_t host_size, int* info);
  int (*create_parameters)(void**);
  int (*destroy_parameters)(void*);
};

const Geev& geev() {
  static const Geev found = [] {
    Geev out{};
    load_cusolver([&](const rtc::LoadedLibrary& library) {
      library.load(out.room, "cusolverDnXgeev_bufferSize");
      library.load(out.run, "cusolverDnXgeev");
      library.load(out.create_parameters, "cusolverDnCreateParams");
      library.load(out.destroy_parameters, "cusolverDnDestroyParams");
    });
    return out;
  }();
  return found;
}

cudaDataType data_type(ScalarType dtype) {
  switch (dtype) {
    case kFloat:
      return CUDA_R_32F;
    case kDouble:
      return CUDA_R_64F;
    case kComplexFloat:
      return CUDA_C_32F;
    default:
      return CUDA_C_64F;
  }
}

void check_geev(int status, const char* call, const Tensor& a) {
  check<Error>(status == 0, Called::name(), ": ", call, " failed with status ", status,
               " for tensors of shape ", a.sizes(), "; compute on the CPU: x.cpu()");
}

}  // namespace

void cusolver_eig(const FactorizationForm& form, ArrayRef<Tensor> tensors, cudaStream_t stream) {
  const Geev& library = geev();
  void* const handle = cusolver_handle(stream);
  const Tensor &a = tensors[0], &values = tensors[1], &vectors = tensors[2];
  const int64_t batch = a.size(0), n = a.size(-1);
  const cudaDataType type = data_type(a.scalar_type());
  const int job = form.vectors;
  const auto part = [batch](const Tensor& x, int64_t i) -> char* {
    return x.defined() ? static_cast<char*>(x.data_ptr()) +
                             static_cast<size_t>(i) * (x.nbytes() / static_cast<size_t>(batch))
                       : nullptr;
  };
  void* made = nullptr;
  check_geev(library.create_parameters(&made), "cusolverDnCreateParams", a);
  const std::unique_ptr<void, int (*)(void*)> parameters(made, library.destroy_parameters);
  size_t on_device = 0, on_host = 0;
  check_geev(library.room(handle, parameters.get(), 0, job, n, type, a.data_ptr(), n, type,
                          values.data_ptr(), type, nullptr, n, type, part(vectors, 0), n, type,
                          &on_device, &on_host),
             "cusolverDnXgeev_bufferSize", a);
  const Scratch work(on_device);
  std::vector<char> host_work(on_host);
  for (int64_t i = 0; i < batch; ++i)
    check_geev(
        library.run(handle, parameters.get(), 0, job, n, type, part(a, i), n, type, part(values, i),
                    type, nullptr, n, type, part(vectors, i), n, type, work.data(), on_device,
                    host_work.data(), on_host, static_cast<int*>(tensors[3].data_ptr()) + i),
        "cusolverDnXgeev", a);
  // The library may read host_work until then.
  check_cuda(cudaStreamSynchronize(stream), "linalg.eig");
}

}  // namespace gradus::cuda

#endif
