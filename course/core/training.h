// Module 4: a layer, a loss, an optimizer, and the loop that trains with them on any device.
#pragma once

#include <vector>

#include "core/types.h"

namespace course {

// A parameter of a model as an optimizer sees it: arrays of `size` numbers in the device's memory.
struct Param {
  float* weight = nullptr;
  const float* gradient = nullptr;
  float* velocity = nullptr;  // of the momentum; nullptr where the momentum is 0
  long size = 0;
};

// A table of parameters that is small enough (1 KB) to be an argument of a kernel.
constexpr int kMaxParams = 32;
struct Params {
  int count = 0;
  Param list[kMaxParams] = {};
};

struct Sgd {
  float lr = 0.01f, momentum = 0, weight_decay = 0;
};

// What computes: a CPU or a GPU. Pointers are to memory of the device; the host cannot follow them.
// The calls under "kernels" queue one kernel each and do not wait for it; out gets the result.
struct Device {
  // --- Memory. upload copies from the host to the device, without waiting. download copies back:
  // it waits until all that was queued before is done.
  virtual float* allocate(long count) = 0;
  virtual void release(float* memory) = 0;
  virtual void upload(float* to, const float* from, long count) = 0;
  virtual void download(float* to, const float* from, long count) = 0;

  // --- Kernels
  virtual void zero(float* out, long n) = 0;
  virtual void map(Op1 op, float* out, const float* x, long n) = 0;
  virtual void zip(Op2 op, float* out, Layout out_at, const float* x, Layout x_at, const float* y, Layout y_at) = 0;
  virtual void copy(float* out, Mat x, long m, long n) = 0;  // a row-major (m, n) copy of x
  virtual void matmul(float* out, Mat a, Mat b, long m, long n, long k) = 0;  // (m, n) = (m, k) (k, n), row-major
  virtual void sum_rows(float* out, Mat x, long m, long n) = 0;  // out[j] = sum over the m rows i of x (i, j)
  virtual void mse(float* loss, float* gradient, const float* y, const float* target, long n) = 0;  // task 4.2
  virtual void sgd(const Params& params, const Sgd& sgd, bool first_step) = 0;                      // task 4.3

 protected:
  ~Device() = default;
};

// Memory of a device, which is given back at the end of the block.
class Buffer {
 public:
  Buffer(Device& device, long count) : device_(device), data_(device.allocate(count)) {}
  ~Buffer() { device_.release(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  operator float*() const { return data_; }

 private:
  Device& device_;
  float* data_;
};

// Task 4.1. The gradients of a linear layer y = x w^T + b, where x is (rows, in), w (out, in),
// b (out) and y (rows, out), all row-major: dx like x, dw like w, db like b, from dy like y. What they
// held before is replaced, with 0 where rows is 0. dx is nullptr where the input needs no gradient, db where there is no bias.
// At most three kernels, no copies, and no work for a gradient that nobody wants.
void linear_backward(Device& device, float* dx, float* dw, float* db, const float* dy, const float* x,
                     const float* w, long rows, long in, long out);

namespace gpu {

// Task 4.2. loss[0] = the mean of (y[i] - target[i])^2, and gradient[i] = the slope of the loss by y[i],
// for n numbers, in one launch without atomics: the same bits every time. Neighbouring threads take
// neighbouring elements. gradient is nullptr where only the loss is wanted. REQUIRES: n > 0.
void mse(float* loss, float* gradient, const float* y, const float* target, long n);

// Task 4.3. A step of gradient descent with momentum, as PyTorch's, of all parameters in one launch:
//   d = gradient + weight_decay * weight
//   velocity = momentum * velocity + d      (at the first step velocity = d: it holds nothing yet)
//   weight = weight - lr * velocity
// Where the momentum is 0, d takes the place of the velocity, and the velocity is not touched.
void sgd_step(const Params& params, const Sgd& sgd, bool first_step);

}  // namespace gpu

// A model on a device. All its calls queue kernels and do not wait.
struct Model {
  virtual long inputs() const = 0;   // numbers of a row of x
  virtual long outputs() const = 0;  // numbers of a row of y
  virtual void zero_grad() = 0;      // sets the gradients of all parameters to 0
  virtual const float* forward(const float* x, long rows) = 0;  // y, in memory of the device
  virtual void backward(const float* dy) = 0;  // adds to the gradients, for what forward got last
  virtual void step() = 0;                     // changes the parameters by their gradients

 protected:
  ~Model() = default;
};

// Rows of x and of the wanted y, row-major, in memory of the host.
struct Data {
  const float *x = nullptr, *y = nullptr;
  long rows = 0;
};

// Task 4.4. Trains for some epochs by the mean squared error. An epoch takes the rows in order, `batch`
// at a time; the last batch of an epoch has the rows that are left. Returns the loss of each epoch: the
// mean over all its rows of what a row's loss was when its batch was computed.
// The data are moved to the device once. The host waits for the device once in each epoch, at its end.
// REQUIRES: data.rows > 0, batch > 0.
std::vector<float> train(Device& device, Model& model, const Data& data, long batch, int epochs);

}  // namespace course
