// Kernels of the user's own, in CUDA C++, with the names and the meaning of CuPy's RawKernel and
// RawModule (docs/own-kernels.md).
//
//   const cuda::RawKernel square(R"(
//     __global__ void square(const float* x, float* y, int n) {
//       const int i = blockIdx.x * blockDim.x + threadIdx.x;
//       if (i < n) y[i] = x[i] * x[i];
//     })", "square");
//   square({(n + 255) / 256}, {256}, {x, y, n});
#pragma once

#include <string>
#include <vector>

#include "gradus/cuda/rtc/argument.h"
#include "gradus/cuda/rtc/program.h"

namespace gradus::cuda {

namespace rtc {
struct Signature;
}

// The size of a grid in blocks, or of a block in threads.
struct Dim3 {
  Dim3(int64_t x_size = 1, int64_t y_size = 1, int64_t z_size = 1)  // NOLINT
      : x(x_size), y(y_size), z(z_size) {}
  int64_t x, y, z;
};

// A function that is __global__. Copies are cheap and share what was compiled.
class RawKernel {
 public:
  // name: the kernel, as it is named outside of all namespaces: "f", "ns::f", "g<float>".
  // options: of the compiler (Program). Compiles at the first launch, or by compile().
  // Errors: ValueError where the text has kernels, and none of this name.
  RawKernel(Source source, std::string name, std::vector<std::string> options = {});

  // Queues the kernel on the current stream of the device that the tensors are on; without tensors,
  // of the current device. shared_bytes: of dynamic shared memory, for each block.
  //
  // A parameter that is a pointer takes a CUDA tensor of its type, and gets the address of its
  // first element; an undefined tensor is null. The kernel sees no sizes and no strides: give it
  // what it needs, and .contiguous() tensors where it counts on that. void* takes any tensor.
  // A number is converted to the type of its parameter, where that holds it. Parameters of types
  // that are not known here, those of templates among them, take what is given, in its own type.
  // Tensors that the kernel may write (those for pointers to what is not const) count as changed
  // in place. A GPU notices no access out of bounds; simulated devices do (docs/simulator.md).
  //
  // Errors: TypeError where an argument is of another type or kind, or their number is wrong;
  // ValueError where a tensor is not on the device of the others, a number does not fit, or a grid
  // or block is too large; Error where a tensor requires grad and grad mode is on, for no gradient
  // is recorded; those of Program::kernel.
  void operator()(const Dim3& grid, const Dim3& block, ArrayRef<Argument> arguments = {},
                  size_t shared_bytes = 0) const;

  // Compiles for the current device now. Errors: those of Program::kernel.
  void compile() const { program_.kernel(index_); }
  const std::string& name() const { return name_; }

 private:
  friend class RawModule;
  RawKernel(Program program, size_t index, std::string name,
            std::shared_ptr<const rtc::Signature> signature);

  Program program_;
  size_t index_;
  std::string name_;
  std::shared_ptr<const rtc::Signature> signature_;  // null where it is not known
};

// A text with several kernels, which share its __device__ and __constant__ variables.
class RawModule {
 public:
  // name_expressions: instances of templates that will be asked for: "f<float>". Other kernels need
  // no mention, unless a macro makes them. Compiles when one of its functions is first used.
  explicit RawModule(Source source, std::vector<std::string> options = {},
                     std::vector<std::string> name_expressions = {});

  // Errors: ValueError where there is no such kernel.
  RawKernel get_function(const std::string& name) const;

 private:
  std::vector<std::string> names_;
  Program program_;
  std::vector<std::shared_ptr<const rtc::Signature>> signatures_;  // of names_
};

}  // namespace gradus::cuda
