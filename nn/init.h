// Initial values of parameters, in place, outside the graph.
#pragma once

#include <tuple>

#include "gradus/nn/nonlinearity.h"
#include "gradus/tensor/tensor.h"

namespace gradus {

// torch::kFanIn, kFanOut: whether kaiming_* keeps the size of values or that of gradients.
enum class FanMode : uint8_t { In, Out };
inline constexpr FanMode kFanIn = FanMode::In, kFanOut = FanMode::Out;

namespace nn::init {

using NonlinearityType = Nonlinearity;
using FanModeType = FanMode;

// The factor by which to enlarge the values of a layer before this function: 5/3 for tanh, sqrt(2)
// for ReLU, sqrt(2 / (1 + param^2)) for leaky ReLU of negative slope `param`, else 1.
// Errors: ValueError for kGELU, which has none.
double calculate_gain(NonlinearityType nonlinearity, double param = 0.01);
// The number of inputs of an output, and of outputs of an input, of a layer with this weight.
// Errors: ValueError for less than 2 dimensions; so do the functions that call it.
std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor);

// Each returns its argument. Random values come from the default generator of the tensor's device.
Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
Tensor constant_(Tensor tensor, const Scalar& value);
Tensor zeros_(Tensor tensor);
Tensor ones_(Tensor tensor);
// The identity. Errors: ValueError for other than 2 dimensions.
Tensor eye_(Tensor matrix);
// The weight of a convolution that returns its input, for as many channels as there are.
// Errors: ValueError for other than 3 to 5 dimensions.
Tensor dirac_(Tensor tensor);
// Uniform in +-gain sqrt(6 / (fan_in + fan_out)), and normal of the same variance: Glorot and
// Bengio, "Understanding the difficulty of training deep feedforward neural networks" (2010).
Tensor xavier_uniform_(Tensor tensor, double gain = 1);
Tensor xavier_normal_(Tensor tensor, double gain = 1);
// Uniform in +-gain sqrt(3 / fan), and normal of the same variance. `mode` selects the fan and
// `nonlinearity` the gain; `a` is the slope of a leaky ReLU. See He et al., "Delving deep into
// rectifiers" (2015), section 2.2. A weight without inputs or outputs is left as it is.
Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                        NonlinearityType nonlinearity = kLeakyReLU);
Tensor kaiming_normal_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                       NonlinearityType nonlinearity = kLeakyReLU);
// A random matrix [size(0), the rest]. Its rows or its columns, whichever are fewer, are orthogonal
// and have the length `gain`. See Saxe et al., "Exact solutions to the nonlinear dynamics of
// learning in deep linear neural networks" (2013). Errors: ValueError for less than 2 dimensions.
Tensor orthogonal_(Tensor tensor, double gain = 1);
// Normal, with ceil(sparsity * size(0)) zeros in each column: Martens, "Deep learning via
// Hessian-free optimization" (2010). Errors: ValueError for other than 2 dimensions, and for a
// sparsity that is not in [0, 1].
Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);

}  // namespace nn::init
}  // namespace gradus
