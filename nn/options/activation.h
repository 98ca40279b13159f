// Options of the activations, for the modules and for nn::functional.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gradus/nn/options/field.h"
#include "gradus/tensor/base/dtype.h"
#include "gradus/tensor/base/option.h"

namespace gradus::nn {

// `inplace`: the input is overwritten.
struct ReLUOptions {
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}  // NOLINT: implicit, as in libtorch
  GRADUS_OPTION(ReLUOptions, bool, inplace);
  auto fields() { return std::tuple(Field{"inplace", &inplace_}); }
};
using ReLU6Options = ReLUOptions;
using SELUOptions = ReLUOptions;

struct ELUOptions {
  GRADUS_OPTION(ELUOptions, double, alpha) = 1;
  GRADUS_OPTION(ELUOptions, bool, inplace) = false;
  auto fields() { return std::tuple(Field{"alpha", &alpha_}, Field{"inplace", &inplace_}); }
};
using CELUOptions = ELUOptions;

struct GLUOptions {
  GLUOptions(int64_t dim = -1) : dim_(dim) {}  // NOLINT: implicit
  GRADUS_OPTION(GLUOptions, int64_t, dim);
  auto fields() { return std::tuple(Field{"dim", &dim_}); }
};

struct GELUOptions {
  GRADUS_OPTION(GELUOptions, std::string, approximate) = "none";  // or "tanh"
  auto fields() { return std::tuple(Field{"approximate", &approximate_}); }
};

struct HardshrinkOptions {
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}  // NOLINT: implicit
  GRADUS_OPTION(HardshrinkOptions, double, lambda);
  auto fields() { return std::tuple(Field{"lambda", &lambda_}); }
};
using SoftshrinkOptions = HardshrinkOptions;

struct HardtanhOptions {
  GRADUS_OPTION(HardtanhOptions, double, min_val) = -1;
  GRADUS_OPTION(HardtanhOptions, double, max_val) = 1;
  GRADUS_OPTION(HardtanhOptions, bool, inplace) = false;
  auto fields() {
    return std::tuple(Field{"min_val", &min_val_}, Field{"max_val", &max_val_},
                      Field{"inplace", &inplace_});
  }
};

struct LeakyReLUOptions {
  GRADUS_OPTION(LeakyReLUOptions, double, negative_slope) = 0.01;
  GRADUS_OPTION(LeakyReLUOptions, bool, inplace) = false;
  auto fields() {
    return std::tuple(Field{"negative_slope", &negative_slope_}, Field{"inplace", &inplace_});
  }
};

struct RReLUOptions {
  GRADUS_OPTION(RReLUOptions, double, lower) = 1.0 / 8;
  GRADUS_OPTION(RReLUOptions, double, upper) = 1.0 / 3;
  GRADUS_OPTION(RReLUOptions, bool, inplace) = false;
};

struct SoftplusOptions {
  GRADUS_OPTION(SoftplusOptions, double, beta) = 1;
  GRADUS_OPTION(SoftplusOptions, double, threshold) = 20;
  auto fields() { return std::tuple(Field{"beta", &beta_}, Field{"threshold", &threshold_}); }
};

struct ThresholdOptions {
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  GRADUS_OPTION(ThresholdOptions, double, threshold);
  GRADUS_OPTION(ThresholdOptions, double, value);
  GRADUS_OPTION(ThresholdOptions, bool, inplace) = false;
  auto fields() {
    return std::tuple(Field{"threshold", &threshold_}, Field{"value", &value_},
                      Field{"inplace", &inplace_});
  }
};

struct SoftmaxOptions {
  SoftmaxOptions(int64_t dim) : dim_(dim) {}  // NOLINT: implicit
  GRADUS_OPTION(SoftmaxOptions, int64_t, dim);
  auto fields() { return std::tuple(Field{"dim", &dim_}); }
};
using SoftminOptions = SoftmaxOptions;
using LogSoftmaxOptions = SoftmaxOptions;

namespace functional {
using ThresholdFuncOptions = ThresholdOptions;

struct RReLUFuncOptions {
  GRADUS_OPTION(RReLUFuncOptions, double, lower) = 1.0 / 8;
  GRADUS_OPTION(RReLUFuncOptions, double, upper) = 1.0 / 3;
  GRADUS_OPTION(RReLUFuncOptions, bool, training) = false;
  GRADUS_OPTION(RReLUFuncOptions, bool, inplace) = false;
};

// `dtype`: the input is converted to it first.
struct SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}  // NOLINT: implicit
  GRADUS_OPTION(SoftmaxFuncOptions, int64_t, dim);
  GRADUS_OPTION(SoftmaxFuncOptions, std::optional<ScalarType>, dtype);
};
using SoftminFuncOptions = SoftmaxFuncOptions;
using LogSoftmaxFuncOptions = SoftmaxFuncOptions;
}  // namespace functional

}  // namespace gradus::nn
