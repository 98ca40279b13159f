// The GPU cases of the performance record, on float32. bench/gpu_peer.py runs the same in PyTorch.
//   bench_gpu [GROUP...]    elementwise, reductions, extents, permutations, softmaxes, losses,
//                           order, lookups, products, conv, half_conv, small_conv, pools, norms,
//                           optimizers, chains, own_kernels, one_query, attention, steps
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "bench/attention.h"
#include "bench/timer.h"
#include "gradus/cuda/ops/matmul.h"
#include "gradus/tensor/raw/raw.h"

namespace library = gradus;
#include "bench/resnet.h"
#include "bench/small_models.h"

using namespace gradus;
using bench::device_seconds, bench::report;

namespace {

void elementwise() {
  const int64_t n = int64_t{1} << 28;
  const double bytes = 4.0 * static_cast<double>(n);
  const Tensor x = randn({n}, kCUDA), y = randn({n}, kCUDA);
  Tensor out = empty({n}, kCUDA);
  report("copy 2^28", "gradus", device_seconds([&] { out.copy_(x); }), 2 * bytes, "B");
  report("exp 2^28", "gradus", device_seconds([&] { x.exp(); }), 2 * bytes, "B");
  report("relu 2^28", "gradus", device_seconds([&] { x.relu(); }), 2 * bytes, "B");
  report("sigmoid 2^28", "gradus", device_seconds([&] { x.sigmoid(); }), 2 * bytes, "B");
  report("x * 2 2^28", "gradus", device_seconds([&] { x * 2; }), 2 * bytes, "B");
  report("add 2^28", "gradus", device_seconds([&] { x + y; }), 3 * bytes, "B");
  report("mul 2^28", "gradus", device_seconds([&] { x* y; }), 3 * bytes, "B");
}

void reductions() {
  const int64_t n = 16384;
  const double bytes = 4.0 * static_cast<double>(n * n);
  const Tensor x = randn({n, n}, kCUDA), row = randn({n}, kCUDA);
  report("sum all 16384^2", "gradus", device_seconds([&] { x.sum(); }), bytes, "B");
  report("sum dim 0 16384^2", "gradus", device_seconds([&] { x.sum(0); }), bytes, "B");
  report("sum dim 1 16384^2", "gradus", device_seconds([&] { x.sum(1); }), bytes, "B");
  report("amax dim 1 16384^2", "gradus", device_seconds([&] { x.amax(1); }), bytes, "B");
  report("add row 16384^2", "gradus", device_seconds([&] { x + row; }), 2 * bytes, "B");
  report("add transposed 16384^2", "gradus", device_seconds([&] { x + x.t(); }), 3 * bytes, "B");
}

// Sums over the first, the middle and the last dimension, and over short last ones.
void extents() {
  const Tensor x = randn({512, 512, 512}, kCUDA), line = randn({1 << 26}, kCUDA);
  for (const int64_t dim : {0, 1, 2})
    report(("sum dim " + std::to_string(dim) + " 512^3").c_str(), "gradus",
           device_seconds([&] { x.sum(dim); }), 4.0 * static_cast<double>(x.numel()), "B");
  for (int64_t n = 2; n <= 8; ++n) {
    const int64_t rows = line.numel() / n;
    const Tensor narrow = line.narrow(0, 0, rows * n).view({rows, n});
    report(("sum of rows of " + std::to_string(n)).c_str(), "gradus",
           device_seconds([&] { narrow.sum(1); }), 4.0 * static_cast<double>(rows * (n + 1)), "B");
  }
}

void permutations() {
  const Tensor whole = randn({512, 512, 512}, kCUDA);
  for (const ScalarType dtype : {kFloat, kHalf}) {
    const Tensor x = whole.to(dtype);
    const double bytes =
        2.0 * static_cast<double>(x.element_size()) * static_cast<double>(x.numel());
    for (const auto& [name, order] : {std::pair{"(0, 2, 1)", Dims{0, 2, 1}},
                                      {"(2, 0, 1)", Dims{2, 0, 1}},
                                      {"(1, 0, 2)", Dims{1, 0, 2}}}) {
      const std::string what =
          std::string("copy permuted ") + name + " 512^3" + (dtype == kHalf ? ", half" : "");
      report(what.c_str(), "gradus",
             device_seconds([&, order = order] { x.permute(order).contiguous(); }), bytes, "B");
    }
  }
}

void softmaxes() {
  const auto time = [](const char* shape, const Tensor& x, int64_t dim) {
    const double bytes = 4.0 * static_cast<double>(x.numel());
    const Tensor y = x.softmax(dim), grad = randn_like(x);
    const auto name = [&](const char* what) { return std::string(what) + shape; };
    report(name("softmax ").c_str(), "gradus", device_seconds([&] { x.softmax(dim); }), 2 * bytes,
           "B");
    report(name("log_softmax ").c_str(), "gradus", device_seconds([&] { x.log_softmax(dim); }),
           2 * bytes, "B");
    report(name("softmax backward ").c_str(), "gradus",
           device_seconds([&] { raw::softmax_grad(false, grad, y, dim); }), 3 * bytes, "B");
  };
  time("rows of 128", randn({131072, 128}, kCUDA), 1);
  time("rows of 1024", randn({16384, 1024}, kCUDA), 1);
  time("rows of 50257", randn({1024, 50257}, kCUDA), 1);
  time("columns of 1024", randn({1024, 16384}, kCUDA), 0);
}

void losses() {
  const AutoGradMode on(true);
  const auto time = [](const std::string& shape, int64_t rows, int64_t classes) {
    const double bytes = 4.0 * static_cast<double>(rows * classes);
    const Tensor x = randn({rows, classes}, TensorOptions(kCUDA).requires_grad(true));
    const Tensor target = randint(classes, {rows}, TensorOptions(kCUDA).dtype(kLong));
    const Tensor loss = nn::functional::cross_entropy(x, target);
    report(("cross_entropy " + shape).c_str(), "gradus",
           device_seconds([&] { nn::functional::cross_entropy(x, target); }), bytes, "B");
    report(("cross_entropy backward " + shape).c_str(), "gradus",
           device_seconds([&] { autograd::grad({loss}, {x}, {}, true); }), 2 * bytes, "B");
  };
  time("4096 x 50257", 4096, 50257);
  time("16384 x 1000", 16384, 1000);
}

void order() {
  const int64_t n = 8192;
  const double bytes = 4.0 * static_cast<double>(n * n);
  const Tensor x = randn({n, n}, kCUDA);
  report("cumsum dim 1 8192^2", "gradus", device_seconds([&] { x.cumsum(1); }), 2 * bytes, "B");
  report("cumsum dim 0 8192^2", "gradus", device_seconds([&] { x.cumsum(0); }), 2 * bytes, "B");
  const double count = static_cast<double>(1 << 24);
  const Tensor line = randn({1 << 24}, kCUDA), rows = line.view({1 << 14, 1 << 10});
  report("sort 2^24", "gradus", device_seconds([&] { line.sort(); }), count, "elements");
  report("sort rows of 1024", "gradus", device_seconds([&] { rows.sort(1); }), count, "elements");
  const Tensor numbers = randint(1 << 20, {1 << 24}, kCUDA).to(kLong);
  report("sort int64 2^24", "gradus", device_seconds([&] { numbers.sort(); }), count, "elements");
  const Tensor logits = randn({1024, 50257}, kCUDA);
  report("topk(10) of rows of 50257", "gradus", device_seconds([&] { logits.topk(10); }),
         static_cast<double>(logits.numel()), "elements");
  report("median of rows of 1024", "gradus", device_seconds([&] { rows.median(1); }), count,
         "elements");
}

// Places are drawn at random. Bytes of places and of elements are counted.
void lookups() {
  const int64_t n = 8192;
  const double bytes = static_cast<double>(n * n);
  const Tensor x = randn({n, n}, kCUDA), some = randint(n, {n}, kCUDA).to(kLong);
  const Tensor places = randint(n, {n, n}, kCUDA).to(kLong), mask = x > 0;
  Tensor out = zeros({n, n}, kCUDA);
  report("index_select of rows 8192^2", "gradus", device_seconds([&] { x.index_select(0, some); }),
         8 * bytes, "B");
  report("gather along rows 8192^2", "gradus", device_seconds([&] { x.gather(1, places); }),
         16 * bytes, "B");
  report("scatter_add along rows 8192^2", "gradus",
         device_seconds([&] { out.scatter_add_(1, places, x); }), 16 * bytes, "B");
  report("index_add of rows 8192^2", "gradus", device_seconds([&] { out.index_add_(0, some, x); }),
         12 * bytes, "B");
  report("masked_fill 8192^2", "gradus", device_seconds([&] { x.masked_fill(mask, 0); }), 9 * bytes,
         "B");
  report("masked_select 8192^2", "gradus", device_seconds([&] { x.masked_select(mask); }),
         7 * bytes, "B");
  report("nonzero 8192^2", "gradus", device_seconds([&] { mask.nonzero(); }), 9 * bytes, "B");
}

// The largest relative error of the product's rows against float64, on a few rows.
double product_error(const Tensor& a, const Tensor& b, const Tensor& c) {
  const Tensor rows = a.narrow(-2, 0, 16).to(kDouble), exact = rows.matmul(b.to(kDouble));
  const Tensor difference = c.narrow(-2, 0, 16).to(kDouble) - exact;
  return std::sqrt(difference.square().sum().item<double>() / exact.square().sum().item<double>());
}

void products() {
  const auto time = [](const std::string& name, const Tensor& a, const Tensor& b) {
    const double operations =
        2.0 * static_cast<double>(a.numel()) * static_cast<double>(b.size(-1));
    for (const char* kernel : {"automatic", "cublas"}) {
      cuda::set_matmul_kernel(kernel);
      const double error = product_error(a, b, a.matmul(b));
      if (!(error < 1e-5))
        std::fprintf(stderr, "%s %s: relative error %g\n", kernel, name.c_str(), error);
      report(name.c_str(), std::strcmp(kernel, "cublas") == 0 ? "cublas" : "gradus",
             device_seconds([&] { a.matmul(b); }), operations, "FLOP");
    }
    cuda::set_matmul_kernel("automatic");
  };
  for (const int64_t n : {1024, 2048, 4096, 8192})
    time("matmul float32 " + std::to_string(n), randn({n, n}, kCUDA), randn({n, n}, kCUDA));
  time("bmm float32 8 x (10000, 64) (64, 10000)", randn({8, 10000, 64}, kCUDA),
       randn({8, 64, 10000}, kCUDA));
}

// The relative error of a part of a convolution against float64, on two samples.
void check_convolution(const char* name, const Tensor& part, const Tensor& exact) {
  const double error = ((part.to(kDouble) - exact).norm() / exact.norm()).item<double>();
  if (!(error < (part.dtype() == kBFloat16 ? 5e-3 : 1e-5)))
    std::fprintf(stderr, "%s: relative error %g\n", name, error);
}

// The three passes, which take tensors of one type and memory format.
void time_convolution(const std::string& shape, const Tensor& x, const Tensor& w, int64_t stride,
                      int64_t padding) {
  const int64_t groups = x.size(1) / w.size(1);
  const Tensor grad = randn_like(conv2d(x, w, {}, stride, padding, 1, groups));
  Convolution s;
  s.groups = groups;
  s.batch = x.size(0), s.channels = x.size(1), s.filters = w.size(0);
  for (int d = 1; d < kSpatial; ++d)
    s.dim[d] = {x.size(d + 1), grad.size(d + 1), w.size(d + 1), stride, padding, 1};
  const double operations =
      2.0 * static_cast<double>(grad.numel()) * static_cast<double>(w.numel() / w.size(0));
  const std::pair<const char*, ConvolutionPass> parts[] = {
      {"forward", ConvolutionPass::fprop},
      {"input gradient", ConvolutionPass::dgrad},
      {"weight gradient", ConvolutionPass::wgrad}};
  for (const auto& [what, part] : parts) {
    const auto make = [&, part = part](const auto& as) {
      const bool first = part == ConvolutionPass::fprop;
      return raw::convolution("conv2d", part, s, as(first ? x : grad),
                              as(part == ConvolutionPass::wgrad ? x : w));
    };
    const std::string name = std::string("conv ") + what + " " + shape;
    Convolution all = s;
    s.batch = 2;
    const auto two = [&](const Tensor& t) {
      return t.is_same(w) ? t : t.narrow(0, 0, 2).contiguous(t.suggest_memory_format());
    };
    const auto exact = make([&](const Tensor& t) { return two(t).to(kDouble); });
    check_convolution(name.c_str(), make(two), exact);
    s = all;
    report(name.c_str(), "gradus", device_seconds([&] { make([](const Tensor& t) { return t; }); }),
           operations, "FLOP");
  }
}

// x and w of such sizes, in such an order.
void time_images(ScalarType dtype, MemoryFormat format, IntArrayRef x, IntArrayRef w,
                 int64_t stride, int64_t padding) {
  std::string name = dtype == kBFloat16 ? "bfloat16 " : "";
  for (size_t i = 0; i < 4; ++i) name += std::to_string(x[i]) + (i < 3 ? " x " : ", ");
  name += std::to_string(w[0]) + " " + std::to_string(w[2]) + "x" + std::to_string(w[3]);
  if (stride > 1) name += " stride " + std::to_string(stride);
  if (w[1] < x[1]) name += " in groups of " + std::to_string(w[1]);
  const auto random = [&](IntArrayRef sizes) {
    return randn(sizes, kCUDA).to(dtype).contiguous(format);
  };
  time_convolution(name, random(x), random(w), stride, padding);
}

void convolutions() {
  const auto& time = time_convolution;
  time("256 x 64 x 56 x 56, 64 3x3", randn({256, 64, 56, 56}, kCUDA), randn({64, 64, 3, 3}, kCUDA),
       1, 1);
  time("128 x 6 x 14 x 14, 16 5x5", randn({128, 6, 14, 14}, kCUDA), randn({16, 6, 5, 5}, kCUDA), 1,
       0);
  time("128 x 128 x 28 x 28, 256 3x3 stride 2", randn({128, 128, 28, 28}, kCUDA),
       randn({256, 128, 3, 3}, kCUDA), 2, 1);
}

// Those of ResNet-18 (32 x 32, batch 128) and of ResNet-50 (224 x 224, batch 64), channels last.
void half_convolutions() {
  const struct {
    int64_t batch, channels, size, filters, kernel, stride;
  } cases[] = {{128, 3, 32, 64, 3, 1},    {128, 64, 32, 64, 3, 1},    {128, 64, 32, 128, 3, 2},
               {128, 64, 32, 128, 1, 2},  {128, 128, 16, 128, 3, 1},  {128, 256, 8, 256, 3, 1},
               {128, 512, 4, 512, 3, 1},  {64, 3, 224, 64, 7, 2},     {64, 64, 56, 64, 3, 1},
               {64, 64, 56, 256, 1, 1},   {64, 256, 56, 64, 1, 1},    {64, 128, 56, 128, 3, 2},
               {64, 512, 28, 128, 1, 1},  {64, 128, 28, 128, 3, 1},   {64, 256, 14, 256, 3, 1},
               {64, 256, 14, 1024, 1, 1}, {64, 1024, 14, 2048, 1, 2}, {64, 512, 7, 512, 3, 1}};
  for (const auto& [batch, channels, size, filters, kernel, stride] : cases)
    time_images(kBFloat16, MemoryFormat::ChannelsLast, {batch, channels, size, size},
                {filters, channels, kernel, kernel}, stride, kernel / 2);
}

// Of few channels and filters, as in LeNet-5 and in residual networks for small pictures; and of a
// group for each channel, as in MobileNet and ConvNeXt.
void small_convolutions() {
  for (const ScalarType dtype : {kFloat, kBFloat16}) {
    const auto time = [&](IntArrayRef x, IntArrayRef w, int64_t stride, int64_t padding) {
      time_images(dtype, MemoryFormat::Contiguous, x, w, stride, padding);
    };
    time({128, 1, 28, 28}, {6, 1, 5, 5}, 1, 2);
    time({128, 6, 14, 14}, {16, 6, 5, 5}, 1, 0);
    time({128, 3, 32, 32}, {16, 3, 3, 3}, 1, 1);
    time({128, 16, 32, 32}, {16, 16, 3, 3}, 1, 1);
    time({64, 32, 56, 56}, {32, 1, 3, 3}, 1, 1);
    time({64, 96, 56, 56}, {96, 1, 3, 3}, 2, 1);
    time({64, 512, 14, 14}, {512, 1, 3, 3}, 1, 1);
    time({64, 240, 28, 28}, {240, 1, 5, 5}, 1, 2);
    time({32, 96, 56, 56}, {96, 1, 7, 7}, 1, 3);
  }
}

void pools() {
  const Tensor x = randn({256, 64, 56, 56}, kCUDA);
  const double bytes = 4.0 * static_cast<double>(x.numel());
  report("max_pool2d(2) 256 x 64 x 56 x 56", "gradus", device_seconds([&] { max_pool2d(x, 2); }),
         1.75 * bytes, "B");
  report("avg_pool2d(2) 256 x 64 x 56 x 56", "gradus", device_seconds([&] { avg_pool2d(x, 2); }),
         1.25 * bytes, "B");
}

// Forward: x is read, y written; backward: the gradient of y and x are read, that of x written.
void norms() {
  const auto time = [](const char* name, const auto& layer, const Tensor& input) {
    layer->to(kCUDA);
    Tensor x = input;
    x.requires_grad_();
    const double bytes = 4.0 * static_cast<double>(x.numel());
    report((std::string(name) + ", forward").c_str(), "gradus",
           device_seconds([&] { layer->forward(x); }), 2 * bytes, "B");
    const AutoGradMode grad(true);
    const Tensor y = layer->forward(x), g = randn_like(y);
    const Tensors inputs = {x, layer->weight, layer->bias};
    report((std::string(name) + ", backward").c_str(), "gradus",
           device_seconds([&] { autograd::grad({y}, inputs, {g}, true); }), 3 * bytes, "B");
  };
  time("layer_norm 16384 x 1024", nn::LayerNorm(std::vector<int64_t>{1024}),
       randn({16384, 1024}, kCUDA));
  time("layer_norm 8192 x 4096", nn::LayerNorm(std::vector<int64_t>{4096}),
       randn({8192, 4096}, kCUDA));
  time("group_norm(32) 64 x 256 x 32 x 32", nn::GroupNorm(32, 256),
       randn({64, 256, 32, 32}, kCUDA));
  time("batch_norm 128 x 64 x 56 x 56", nn::BatchNorm2d(64), randn({128, 64, 56, 56}, kCUDA));
  time("batch_norm 128 x 512 x 4 x 4", nn::BatchNorm2d(512), randn({128, 512, 4, 4}, kCUDA));
}

// Chains that fuse() makes one kernel of, beside PyTorch as it is and compiled.
void chains() {
  const Tensor x = randn({10'000'000}, kCUDA), some = randn({1'000'000}, kCUDA);
  const double bytes = 8.0 * static_cast<double>(x.numel());
  const auto circle = fuse([](const Tensor& a) { return a.cos().square() + a.sin().square(); });
  report("cos^2 + sin^2 1e7, fused", "gradus", device_seconds([&] { circle(x); }), bytes, "B");
  const auto fused_selu = fuse([](const Tensor& a) { return selu(a); });
  report("selu 1e6, fused, by the host's clock", "gradus",
         bench::host_seconds([&] { fused_selu(some), cuda::synchronize(); }, 20, 20), 8e6, "B");

  const AutoGradMode grad(true);
  const int64_t rows = 16384, columns = 1024;
  Tensor in = randn({rows, columns}, kCUDA), weight = randn({columns}, kCUDA),
         bias = randn({columns}, kCUDA);
  const Tensors inputs = {in.requires_grad_(), weight.requires_grad_(), bias.requires_grad_()};
  const auto chain = fuse([](const Tensor& a, const Tensor& w, const Tensor& b) {
    return dropout(gelu(layer_norm(a, {a.size(1)}, w, b)), 0.1, true);
  });
  const double size = 4.0 * static_cast<double>(rows * columns);
  report("layer_norm, gelu, dropout 16384 x 1024, fused, forward", "gradus",
         device_seconds([&] { chain(in, weight, bias); }), 2 * size, "B");
  const Tensor y = chain(in, weight, bias), g = randn_like(y).detach();
  report("layer_norm, gelu, dropout 16384 x 1024, fused, backward", "gradus",
         device_seconds([&] { autograd::grad({y}, inputs, {g}, true); }), 3 * size, "B");
}

// Kernels that a user writes, beside CuPy's of the same texts.
void own_kernels() {
  const Tensor x = randn({10'000'000}, kCUDA), rows = randn({16384, 1024}, kCUDA);
  const auto bytes = [](const Tensor& t, int passes) {
    return 4.0 * passes * static_cast<double>(t.numel());
  };
  const cuda::ElementwiseKernel circle("T x", "T y", "T c = cos(x), s = sin(x); y = c * c + s * s",
                                       "circle");
  report("ElementwiseKernel, cos^2 + sin^2 1e7", "gradus", device_seconds([&] { circle(x); }),
         bytes(x, 2), "B");
  const cuda::ReductionKernel norm("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm");
  report("ReductionKernel, l2norm of all of 1e7", "gradus", device_seconds([&] { norm(x); }),
         bytes(x, 1), "B");
  report("ReductionKernel, l2norm of rows of 1024", "gradus",
         device_seconds([&] { norm(rows, 1); }), bytes(rows, 1), "B");
}

// Bytes: parameter and gradient are read, and what is kept; all but the gradient are written.
void optimizers() {
  Tensors parameters;
  for (int i = 0; i < 100; ++i) {
    parameters.push_back(randn({1'000'000}, kCUDA).set_requires_grad(true));
    parameters.back().mutable_grad() = randn({1'000'000}, kCUDA);
  }
  const auto time = [](const std::string& name, optim::Optimizer& optimizer, double accesses) {
    const double seconds = device_seconds([&] { optimizer.step(); });
    for (const char* peer : {" beside fused", " beside foreach"})  // of PyTorch's two ways
      report((name + peer).c_str(), "gradus", seconds, accesses * 4e8, "B");
  };
  optim::SGD sgd(parameters, optim::SGDOptions(1e-4).momentum(0.9));
  time("SGD momentum 100 x 1e6", sgd, 5);
  optim::AdamW adamw(parameters, optim::AdamWOptions(1e-4));
  time("AdamW 100 x 1e6", adamw, 7);
}

// What a model returns first.
const Tensor& first(const Tensor& y) { return y; }
template <class State>
const Tensor& first(const std::tuple<Tensor, State>& y) {
  return std::get<0>(y);
}

void training_steps() {
  const auto time_step = [](const std::string& name, const auto& model, const Tensor& x,
                            const Tensor& y, auto loss, int steps = 200, bool captured = false) {
    optim::SGD sgd(model->parameters(), optim::SGDOptions(0.01).momentum(0.9));
    const auto step = [&](const Tensor& input, const Tensor& target) {
      sgd.zero_grad();
      loss(first(model->forward(input)), target).backward();
      sgd.step();
    };
    const auto time = [&](const std::string& what, auto&& f) {
      const double seconds =
          bench::host_seconds([&] { f(x, y); }, 11, steps, [] { cuda::synchronize(); });
      report(what.c_str(), "gradus", seconds, 1, "step");
    };
    time(name, step);
    if (captured) time("captured " + name, cuda::make_graphed(step, x, y));
  };
  nn::Linear fc(10, 1);
  fc->to(kCUDA);
  time_step("step Linear(10, 1) batch 64", fc, randn({64, 10}, kCUDA), randn({64, 1}, kCUDA),
            nn::MSELoss(), 200, true);
  const nn::Sequential mlp = bench::mlp(), lenet = bench::lenet();
  mlp->to(kCUDA);
  time_step("step MLP 784-512-10 batch 128", mlp, randn({128, 784}, kCUDA),
            randint(10, {128}, kCUDA), nn::CrossEntropyLoss(), 200, true);
  lenet->to(kCUDA);
  time_step("step LeNet-5 batch 128", lenet, randn({128, 1, 28, 28}, kCUDA),
            randint(10, {128}, kCUDA), nn::CrossEntropyLoss(), 200, true);
  nn::LSTM lstm(nn::LSTMOptions(256, 256).num_layers(2));
  lstm->to(kCUDA);
  time_step("step LSTM 256x2 64 x batch 32", lstm, randn({64, 32, 256}, kCUDA),
            randn({64, 32, 256}, kCUDA), nn::MSELoss(), 20);
  nn::TransformerEncoderLayer encoder(384, 6);
  encoder->to(kCUDA);
  time_step("step TransformerEncoderLayer 384 64 x batch 128", encoder,
            randn({64, 128, 384}, kCUDA), randn({64, 128, 384}, kCUDA), nn::MSELoss(), 20);
  nn::Linear wide(100000, 10);
  wide->to(kCUDA);
  time_step("step Linear(100000, 10) batch 10000", wide, randn({10000, 100000}, kCUDA),
            randn({10000, 10}, kCUDA), nn::MSELoss(), 10);
  const auto resnet = std::make_shared<bench::ResNet18>(10);
  resnet->to(kCUDA);
  time_step("step ResNet-18 batch 128", resnet, randn({128, 3, 32, 32}, kCUDA),
            randint(10, {128}, kCUDA), nn::CrossEntropyLoss(), 10);
}

}  // namespace

int main(int argc, char** argv) {
  if (!cuda::is_available()) {
    std::fprintf(stderr, "bench/gpu: %s\n", cuda::why_unavailable().c_str());
    return 1;
  }
  manual_seed(1);
  const NoGradGuard guard;
  const auto run = [&](const char* group, void (*measure)()) {
    const auto is_group = [&](const char* word) { return std::strcmp(word, group) == 0; };
    if (argc == 1 || std::any_of(argv + 1, argv + argc, is_group)) measure();
  };
  run("elementwise", elementwise);
  run("reductions", reductions);
  run("extents", extents);
  run("permutations", permutations);
  run("softmaxes", softmaxes);
  run("losses", losses);
  run("order", order);
  run("lookups", lookups);
  run("products", products);
  run("conv", convolutions);
  run("half_conv", half_convolutions);
  run("small_conv", small_convolutions);
  run("pools", pools);
  run("norms", norms);
  run("optimizers", optimizers);
  run("chains", chains);
  run("own_kernels", own_kernels);
  run("one_query", bench::one_query);
  const AutoGradMode grad(true);
  run("attention", bench::attention);
  run("steps", training_steps);
}
