// The library's kernels for Hopper on the simulator: against float64, and with one mistake at a
// time (mutated.h), each of which is found.
//
// The kernels come after what changes them, and before headers whose names would hide theirs.
// clang-format off
#include "tests/sim/hopper/mutated.h"
#include "gradus/cuda/kernels/hopper/attention_wgmma.cuh"
#include "gradus/cuda/kernels/hopper/attention_wgmma_grad.cuh"
#include "gradus/cuda/kernels/hopper/convolution_wgmma.cuh"
#include "gradus/cuda/kernels/hopper/lstm_clusters.cuh"
#include "gradus/cuda/kernels/hopper/matmul_wgmma_split.cuh"
#include "gradus/cuda/ops/attention/attention.cuh"
// clang-format on

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gradus/cuda/runtime/tensor_maps.h"
#include "gradus/gradus.h"
#include "tests/sim/hopper/lstm_cases.h"
#include "tests/sim/sim_test.h"

namespace gradus {
namespace {

using cuda::Boxes, cuda::map_of, cuda::hopper::Mutation, cuda::hopper::mutation;
using cuda::sim::Finding, cuda::sim::Kind;
using SimHopperKernelsTest = SimTest;

constexpr auto kBrain = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;

template <class T>
T* at(const Tensor& x) {
  return static_cast<T*>(x.data_ptr());
}
double error_of(const Tensor& got, const Tensor& expected) {
  const Tensor exact = expected.to(kDouble);
  return ((got.cpu().to(kDouble) - exact).norm() / exact.norm()).item<double>();
}

// Each function runs a kernel, and returns how far its results are from those in float64.

// Tiles of clusters of two blocks, which share b by multicast.
double product_of_halves() {
  using Tile = cuda::WgmmaTile<2, 128, 2>;
  const int m = 270, n = 136, k = 200;
  const Tensor a = randn({m, k}).to(kBFloat16), b = randn({n, k}).to(kBFloat16);
  const Tensor on_a = a.cuda(), on_b = b.cuda(), out = zeros({m, n}, a.options().device(kCUDA));
  const auto map = [](const Tensor& x) {
    return map_of(Boxes{x.data_ptr(),
                        kBrain,
                        2,
                        {x.size(1), x.size(0), 1},
                        {x.size(1), x.numel()},
                        {64, 64, 1}},
                  "test", "nothing");
  };
  const cuda::WgmmaArgs<BFloat16> args = {map(on_a), map(on_b), map(out), nullptr, nullptr,
                                          m,         n,         k,        1};
  launch(cuda::matmul_wgmma<BFloat16, Tile, false, false>, {2, Tile::kThreads, Tile::kSharedBytes},
         args);
  return error_of(out, a.to(kDouble).matmul(b.to(kDouble).t()));
}

// Floats as three planes of bfloat16.
double product_of_planes() {
  using Tile = cuda::WgmmaSplitTile;
  const int m = 140, n = 70, k = 136;
  const Tensor a = randn({m, k}), b = randn({n, k}), on_a = a.cuda(), on_b = b.cuda();
  const Tensor out = zeros({m, n}, on_a.options());
  const auto planes_of = [&](const Tensor& x) {
    const int64_t lines = x.size(0), pitch = (x.size(1) + 7) / 8 * 8;
    const Tensor planes = empty({3, lines, pitch}, on_a.options().dtype(kBFloat16));
    launch(cuda::split_planes, {8, 128},
           cuda::PlanesSource{at<float>(x), 1, lines, x.size(1), 0, x.size(1), 1}, pitch,
           at<uint16_t>(planes));
    return planes;
  };
  const Tensor of_a = planes_of(on_a), of_b = planes_of(on_b);
  const auto map = [&](const Tensor& x) {
    return map_of(
        Boxes{x.data_ptr(), kBrain, 2, {k, x.size(1), 3}, {k, k * x.size(1)}, {64, 64, 1}}, "test",
        "nothing");
  };
  cuda::WgmmaSplitArgs args{map(of_a), map(of_b), {}, 1, 1, (k + 63) / 64, 3, 3};
  args.product.a = {at<float>(on_a), 0, k, 1, false, true};
  args.product.b = {at<float>(on_b), 0, k, 1, false, true};
  args.product.out = at<float>(out);
  args.product.m = m, args.product.n = n, args.product.k = k;
  launch(cuda::matmul_wgmma_split<false, false>, {2, Tile::kThreads, Tile::kSharedBytes}, args);
  return error_of(out, a.to(kDouble).matmul(b.to(kDouble).t()));
}

// --- Attention of two heads, causal, whose last tiles are not whole
struct AttentionCase {
  Tensor q, k, v, grad;  // of float64
  AttentionCase() {
    const auto random = [] { return randn({1, 2, 150, 64}).to(kBFloat16).to(kDouble); };
    q = random(), k = random(), v = random(), grad = random();
    for (Tensor* each : {&q, &k, &v}) each->set_requires_grad(true);
  }
  static Tensor there(const Tensor& x) { return x.detach().to(kBFloat16).cuda(); }
};

CUtensorMap map_of_rows(const Tensor& x, int rows) {
  return map_of(Boxes{x.data_ptr(),
                      kBrain,
                      2,
                      {x.size(3), x.size(2), x.size(1), x.size(0)},
                      {x.stride(2), x.stride(1), x.stride(0)},
                      {64, rows, 1, 1}},
                "test", "nothing");
}
template <class Tile>
void run_attention(void (*kernel)(cuda::AttentionWgmmaArgs<BFloat16>),
                   cuda::AttentionWgmmaArgs<BFloat16> args, const std::vector<Tensor>& own,
                   const std::vector<Tensor>& streams) {
  for (size_t i = 0; i < own.size(); ++i) args.own[i] = map_of_rows(own[i], Tile::kRows);
  for (size_t i = 0; i < streams.size(); ++i)
    args.streams[i] = map_of_rows(streams[i], Tile::kColumns);
  args.own_rows = own[0].size(2), args.stream_rows = streams[0].size(2);
  args.items = static_cast<int>(2 * ((args.own_rows + Tile::kRows - 1) / Tile::kRows));
  launch(kernel, {2, Tile::kThreads, Tile::kSharedBytes}, args);
}
void read_steps(int64_t (&to)[3], const Tensor& x) { std::copy_n(x.strides().begin(), 3, to); }

struct AttentionResult {
  Tensor out, log_sums;
};
AttentionResult attend(const AttentionCase& of) {
  using Tile = cuda::AttentionWgmmaTile<BFloat16, 64, 128, 1, 1>;
  const Tensor q = of.there(of.q), k = of.there(of.k), v = of.there(of.v);
  const AttentionResult to = {zeros_like(q), zeros({1, 2, 150}, q.options().dtype(kFloat))};
  cuda::AttentionWgmmaArgs<BFloat16> args{
      {}, {}, cuda::attention_args<BFloat16, float>({0.125, true}, q, k, v, Tensor())};
  read_steps(args.of.out_step, to.out);
  args.out = at<BFloat16>(to.out), args.log_sums = at<float>(to.log_sums);
  run_attention<Tile>(cuda::attention_wgmma<Tile, false>, args, {q}, {k, v});
  return to;
}
Tensor exact_attention(const AttentionCase& of) {
  return scaled_dot_product_attention(of.q, of.k, of.v, Tensor(), 0, true, 0.125);
}
double attention() {
  const AttentionCase of;
  return error_of(attend(of).out, exact_attention(of).detach());
}

double attention_grads() {
  using T = BFloat16;
  using OfQueries = cuda::AttentionWgmmaTile<T, 64, 128, 1, 2>;
  using OfKeys = cuda::AttentionWgmmaTile<T, 64, 64, 1, 2, true>;
  const AttentionCase of;
  const Mutation wanted = std::exchange(mutation, Mutation::none);
  const AttentionResult before = attend(of);
  mutation = wanted;
  const Tensor q = of.there(of.q), k = of.there(of.k), v = of.there(of.v), grad = of.there(of.grad);
  const Tensor grads[] = {zeros_like(q), zeros_like(k), zeros_like(v)};
  cuda::AttentionWgmmaArgs<T> args{
      {}, {}, cuda::attention_args<T, float>({0.125, true}, q, k, v, Tensor())};
  read_steps(args.of.out_step, before.out), read_steps(args.of.grad_step, grad);
  read_steps(args.of.q_grad_step, grads[0]), read_steps(args.of.k_grad_step, grads[1]);
  read_steps(args.of.v_grad_step, grads[2]);
  args.grad_q = at<T>(grads[0]), args.grad_k = at<T>(grads[1]), args.grad_v = at<T>(grads[2]);
  args.pitch = 256;
  const Tensor lines = empty({2 * args.pitch, 2}, q.options().dtype(kFloat));
  args.lines = reinterpret_cast<float2*>(lines.data_ptr());
  launch(cuda::attention_lines<T, 64>, {16, 256}, args.of, at<T>(grad), at<T>(before.out),
         at<float>(before.log_sums), args.pitch, 2 * args.pitch, args.lines);
  run_attention<OfQueries>(cuda::attention_wgmma_grad_q<OfQueries, false>, args, {q, grad}, {k, v});
  run_attention<OfKeys>(cuda::attention_wgmma_grad_kv<OfKeys, false>, args, {k, v}, {q, grad});
  exact_attention(of).backward(of.grad);
  double most = 0;
  const Tensor expected[] = {of.q.grad(), of.k.grad(), of.v.grad()};
  for (int i = 0; i < 3; ++i) most = std::max(most, error_of(grads[i], expected[i]));
  return most;
}

// A convolution of 3 x 3 with a border, whose pixels the accelerator gathers (im2col), by tiles of
// N columns.
template <int N>
double convolution() {
  using T = BFloat16;
  using Tile = cuda::ConvolutionWgmmaTile<T, N>;
  const int channels = 72, filters = N == 64 ? 40 : N + 8, size = 9, samples = 3;
  const Tensor x = randn({samples, channels, size, size}).to(kBFloat16),
               weight = randn({filters, channels, 3, 3}).to(kBFloat16);
  const Tensor pixels = x.cuda().permute({0, 2, 3, 1}).contiguous(),
               taps = weight.cuda().permute({0, 2, 3, 1}).contiguous();
  const Tensor out = zeros({samples, size, size, filters}, pixels.options());
  cuda::ConvolutionWgmmaArgs<T> args{};
  const cuda::GatheredDim dim = {size, size, 1, -1, 3, 1, size, 1, 0, 3, 1, 0};
  args.dim[0] = args.dim[1] = dim;
  args.rows = samples * size * size, args.columns = filters, args.channels = channels;
  args.in_order = true;
  args.gathered = map_of(cuda::PixelColumns{pixels.data_ptr(),
                                            kBrain,
                                            2,
                                            {channels, size, size, samples},
                                            channels,
                                            {-1, -1},
                                            {-1, -1},
                                            {1, 1},
                                            Tile::kRows,
                                            Tile::kLine},
                         "test", "nothing");
  args.weight = map_of(Boxes{taps.data_ptr(),
                             kBrain,
                             2,
                             {channels, 9, filters},
                             {channels, 9 * channels},
                             {64, 1, N / 2}},
                       "test", "nothing");
  args.out = map_of(
      Boxes{
          out.data_ptr(), kBrain, 2, {filters, args.rows, 1}, {filters, out.numel()}, {64, 64, 1}},
      "test", "nothing");
  launch(cuda::convolution_wgmma<T, N, false>, {2, Tile::kThreads, Tile::kSharedBytes}, args);
  return error_of(out.permute({0, 3, 1, 2}),
                  conv2d(x.to(kDouble), weight.to(kDouble), Tensor(), 1, 1));
}

double lstm() { return LstmRun<BFloat16, 4, 1>({3, 5, false}).forward(); }
double lstm_grads() {
  LstmRun<BFloat16, 4, 1> run({3, 5, true});
  const Mutation wanted = std::exchange(mutation, Mutation::none);
  run.forward();
  mutation = wanted;
  return run.backward();
}

struct NamedKernel {
  const char* name;
  double (*run)();
  double allowed;
};
constexpr NamedKernel kKernels[] = {{"product of halves", product_of_halves, 4e-3},
                                    {"product of planes", product_of_planes, 1e-6},
                                    {"attention", attention, 8e-3},
                                    {"gradients of attention", attention_grads, 2e-2},
                                    {"convolution", convolution<64>, 4e-3},
                                    {"convolution by wide tiles", convolution<128>, 4e-3},
                                    {"convolution by the widest tiles", convolution<256>, 4e-3},
                                    {"LSTM", lstm, 6e-3},
                                    {"gradients of LSTM", lstm_grads, 1.2e-2}};

TEST_F(SimHopperKernelsTest, GiveTheResultsOfFloat64) {
  for (const NamedKernel& each : kKernels) EXPECT_LE(each.run(), each.allowed) << each.name;
}

// Which kernels have what the mutation changes, and go wrong by it.
bool concerns(Mutation which, const std::string& kernel) {
  const bool attends = kernel.find("attention") != std::string::npos;
  if (kernel.find("LSTM") != std::string::npos)
    return which <= Mutation::no_release || which == Mutation::no_cluster_barrier;
  switch (which) {
    case Mutation::fewer_arrivals:  // the warps of a warpgroup have read a tile when one has
    case Mutation::own_blocks_alone:
    case Mutation::no_remote_arrival:
    case Mutation::no_cluster_barrier:
      return !attends;
    case Mutation::no_proxy_fence:
    case Mutation::no_store_wait:
      return !attends && kernel != "product of planes";
    case Mutation::many_registers:
    case Mutation::odd_registers:
      return kernel.find("convolution") == std::string::npos || kernel.ends_with("widest tiles");
    case Mutation::no_release:  // more stages than steps
      return kernel != "product of planes";
    default:
      return true;
  }
}

// What is found, where that does not depend on the kernel.
std::optional<Kind> kind_of(Mutation which, const std::string& kernel) {
  // Numbers of other blocks have no time under way: a phase without their bytes ends too early.
  const bool sends = kernel.find("LSTM") != std::string::npos;
  if (sends && which == Mutation::no_expected_bytes) return Kind::unwritten;
  switch (which) {
    case Mutation::more_bytes:
    case Mutation::fewer_bytes:
    case Mutation::no_release:
    case Mutation::own_blocks_alone:
    case Mutation::no_remote_arrival:
    case Mutation::many_registers:
      return Kind::stuck;
    case Mutation::no_expected_bytes:
    case Mutation::early_release:
    case Mutation::no_product_fence:
    case Mutation::no_product_wait:
    case Mutation::no_store_wait:
      return Kind::under_way;
    case Mutation::no_proxy_fence:
      return Kind::race;
    case Mutation::other_swizzle:
      return Kind::layout;
    case Mutation::odd_registers:
      return Kind::launch;
    default:
      return std::nullopt;
  }
}

bool names_a_line(const Finding& finding) {
  return std::ranges::any_of(finding.sides, [](const cuda::sim::Side& side) {
    return std::ranges::any_of(side.frames, [](const cuda::sim::Frame& frame) {
      return frame.file.find("/hopper/") != std::string::npos && frame.line > 0;
    });
  });
}

TEST_F(SimHopperKernelsTest, EachMistakeIsFound) {
  if (!cuda::sim::checks()) GTEST_SKIP() << "GRADUS_SIM_CHECK=0: the simulator does not check";
  int planted = 0;
  for (int i = 1; i <= static_cast<int>(Mutation::odd_registers); ++i)
    for (const NamedKernel& each : kKernels) {
      const auto which = static_cast<Mutation>(i);
      if (!concerns(which, each.name)) continue;
      mutation = which;
      try {
        each.run();
      } catch (const Error&) {
        // The findings name it, too.
      }
      mutation = Mutation::none;
      const std::vector<Finding> findings = cuda::sim::take_findings();
      ++planted;
      const std::optional<Kind> kind = kind_of(which, each.name);
      EXPECT_TRUE(std::ranges::any_of(findings,
                                      [&](const Finding& finding) {
                                        return names_a_line(finding) &&
                                               (!kind || finding.kind == *kind);
                                      }))
          << "mutation " << i << " of " << each.name << "; found: " << text_of(findings);
    }
  EXPECT_EQ(planted, 139);
}

}  // namespace
}  // namespace gradus

// Files that are compiled together with this one call the functions themselves.
#undef init_barrier
#undef wait_for
#undef arrive_and_expect
#undef arrive
#undef arrive_at
#undef begin_products
#undef wait_for_products
#undef publish_to_copies
#undef wait_for_stores
#undef describe
#undef copy_box_to_all
#undef sync_cluster
#undef take_registers
