// A GPU as a device: the kernels of modules 3 and 4, in the order in which they are queued.
#include "core/cuda.h"
#include "core/devices.h"
#include "core/launch.h"

namespace course {

namespace {

class GpuDevice final : public Device {
 public:
  ~GpuDevice() { cudaFree(one_); }
  float* allocate(long count) override {
    void* out = nullptr;
    check(cudaMalloc(&out, (count > 0 ? bytes(count) : 1)), "cudaMalloc");
    return static_cast<float*>(out);
  }
  void release(float* memory) override { cudaFree(memory); }
  void upload(float* to, const float* from, long count) override {
    check(cudaMemcpyAsync(to, from, bytes(count), cudaMemcpyHostToDevice, nullptr), "copy to the device");
  }
  void download(float* to, const float* from, long count) override {
    check(cudaMemcpy(to, from, bytes(count), cudaMemcpyDeviceToHost), "copy from the device");
  }

  void zero(float* out, long n) override { check(cudaMemsetAsync(out, 0, bytes(n), nullptr), "cudaMemset"); }
  void map(Op1 op, float* out, const float* x, long n) override { gpu::map(op, out, x, n); }
  void zip(Op2 op, float* out, Layout out_at, const float* x, Layout x_at, const float* y, Layout y_at) override {
    gpu::zip_strided(op, out, out_at, x, x_at, y, y_at);
  }
  void copy(float* out, Mat x, long m, long n) override {
    gpu::map_strided(Op1::identity, out, {2, {m, n}, {n, 1}}, x.data, {2, {m, n}, {x.row, x.column}}, 64);
  }
  void matmul(float* out, Mat a, Mat b, long m, long n, long k) override {
    gpu::matmul_register(out, a, b, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
  }
  // The product of a row of ones and x. One number with strides 0 is a matrix of any size.
  void sum_rows(float* out, Mat x, long m, long n) override { matmul(out, {one(), 0, 0}, x, 1, n, m); }
  void mse(float* loss, float* gradient, const float* y, const float* target, long n) override {
    gpu::mse(loss, gradient, y, target, n);
  }
  void sgd(const Params& params, const Sgd& sgd, bool first_step) override { gpu::sgd_step(params, sgd, first_step); }

 private:
  static size_t bytes(long count) { return static_cast<size_t>(count) * sizeof(float); }

  const float* one() {
    static constexpr float kOne = 1;
    if (one_ == nullptr) upload(one_ = allocate(1), &kOne, 1);
    return one_;
  }
  float* one_ = nullptr;
};

}  // namespace

Device& gpu_device() {
  static GpuDevice device;
  return device;
}

}  // namespace course
