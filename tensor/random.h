// Random tensors. A generator that is left out, or undefined, is that of the device; one seed gives
// the same uniform numbers and integers on every device.
// Errors: Error where the generator belongs to another kind of device.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus {

// Uniform in [0, 1); normal with mean 0 and deviation 1; integers in [low, high) (int64 unless
// given).
Tensor rand(IntArrayRef size, const TensorOptions& options = {});
Tensor rand(IntArrayRef size, std::optional<Generator> generator,
            const TensorOptions& options = {});
Tensor randn(IntArrayRef size, const TensorOptions& options = {});
Tensor randn(IntArrayRef size, std::optional<Generator> generator,
             const TensorOptions& options = {});
// Errors: ValueError where low is not below high, or the dtype does not hold them.
Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options = kLong);
Tensor randint(int64_t high, IntArrayRef size, std::optional<Generator> generator,
               const TensorOptions& options = kLong);
Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options = kLong);
Tensor randint(int64_t low, int64_t high, IntArrayRef size, std::optional<Generator> generator,
               const TensorOptions& options = kLong);
// 0 ... n-1 in random order, int64 unless given. Drawn on the CPU.
Tensor randperm(int64_t n, const TensorOptions& options = kLong);
Tensor randperm(int64_t n, std::optional<Generator> generator,
                const TensorOptions& options = kLong);

// Of the shape, dtype and device of `self`, but for what the options say.
Tensor rand_like(const Tensor& self, const TensorOptions& options = {},
                 std::optional<MemoryFormat> memory_format = std::nullopt);
Tensor randn_like(const Tensor& self, const TensorOptions& options = {},
                  std::optional<MemoryFormat> memory_format = std::nullopt);
Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options = {},
                    std::optional<MemoryFormat> memory_format = std::nullopt);
Tensor randint_like(const Tensor& self, int64_t low, int64_t high,
                    const TensorOptions& options = {},
                    std::optional<MemoryFormat> memory_format = std::nullopt);

// Normal numbers, each with its mean and deviation. Their gradients are zero.
Tensor normal(double mean, double std, IntArrayRef size,
              std::optional<Generator> generator = std::nullopt, const TensorOptions& options = {});
Tensor normal(const Tensor& mean, double std = 1, std::optional<Generator> generator = {});
Tensor normal(double mean, const Tensor& std, std::optional<Generator> generator = {});
Tensor normal(const Tensor& mean, const Tensor& std, std::optional<Generator> generator = {});

// 1 with the probability of the element, or with p, otherwise 0; of the dtype of self. The gradient
// is zero. Errors: ValueError for a probability outside of [0, 1]; those on a GPU are not looked
// at.
Tensor bernoulli(const Tensor& self, std::optional<Generator> generator = {});
Tensor bernoulli(const Tensor& self, double p, std::optional<Generator> generator = {});
// num_samples indices (int64) for each row of weights, which need not sum to 1: all different, or
// with replacement. Drawn on the CPU. Errors: ValueError where a row has negative weights, none
// above zero, or fewer of those than different samples.
Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement = false,
                   std::optional<Generator> generator = {});

}  // namespace gradus
