// Captures and replays: what they compute, their memory, random numbers and errors.
#include "gradus/cuda/runtime/graph.h"

#include "gradus/cuda/ops/matmul.h"
#include "gradus/gradus.h"
#include "tests/cuda/gpu_test.h"

namespace gradus {
namespace {

using cuda::Graph;

class GraphTest : public GpuTest {
 protected:
  static cuda::Stream side() {
    static const cuda::Stream one = cuda::getStreamFromPool();
    return one;
  }
  // Captures f on the side stream.
  template <class F>
  void capture(Graph& graph, const F& f, cuda::MempoolId_t pool = {0, 0}) {
    const cuda::StreamGuard guard(side());
    graph.capture_begin(pool);
    f();
    graph.capture_end();
  }
};

void expect_same(const Tensor& got, const Tensor& expected) {
  EXPECT_TRUE(got.cpu().equal(expected.cpu())) << got << '\n' << expected;
}

TEST_F(GraphTest, ComputesAtEachReplayFromWhatItsInputsHoldThen) {
  const Tensor x = ones({33, 20}, kCUDA), w = randn({20, 40}, kCUDA);
  Tensor y = zeros({33, 40}, kCUDA), z;
  Graph graph;
  capture(graph, [&] {
    EXPECT_TRUE(cuda::is_current_stream_capturing());
    y.fill_(2);
    y.add_(x.matmul(w));
    z = (y * 3).sum(1);
  });
  EXPECT_FALSE(cuda::is_current_stream_capturing());
  expect_same(y, zeros({33, 40}));  // nothing has run
  for (int i = 0; i < 3; ++i) {
    x.copy_(randn({33, 20}, kCUDA));
    graph.replay();
    const Tensor expected = full({33, 40}, 2.0, kCUDA).add_(x.matmul(w));
    expect_same(y, expected);
    expect_same(z, (expected * 3).sum(1));
  }
}

TEST_F(GraphTest, ReplaysOnAnyStreamInItsOrder) {
  const Tensor x = zeros({1000}, kCUDA);
  Graph graph;
  capture(graph, [&] { x.mul_(2).add_(1); });
  const cuda::Stream other = cuda::getStreamFromPool();
  cuda::Event before;
  before.record();
  before.block(other);
  {
    const cuda::StreamGuard guard(other);
    for (int i = 0; i < 5; ++i) graph.replay();
  }
  other.synchronize();
  expect_same(x, full({1000}, 31.0));
}

// What all kinds of kernels draw.
Tensors draws(const Tensor& x, const Tensor& rates) {
  Tensors out = {randn({100}, kCUDA), x.bernoulli(), binomial(rates, x.narrow(0, 0, 50)),
                 randperm(300, kCUDA)};
  const Tensor q = x.view({1, 2, 5, 10});
  out.push_back(scaled_dot_product_attention(q, q, q, {}, 0.5));
  Tensor leaf = x.detach().set_requires_grad(true);
  const Tensor dropped = dropout(leaf, 0.5, true);
  out.push_back(dropped.detach());
  out.push_back(autograd::grad({dropped.sum()}, {leaf})[0]);
  return out;
}

TEST_F(GraphTest, DrawsTheNumbersThatTheSameWorkDrawsWithoutIt) {
  const Tensor x = rand({100}, kCUDA), rates = full({50}, 5.0, kCUDA);
  manual_seed(11);
  std::vector<Tensors> expected;
  for (int i = 0; i < 4; ++i) expected.push_back(draws(x, rates));
  const Tensor after = rand({7}, kCUDA);

  manual_seed(11);
  Tensors got = draws(x, rates);
  for (size_t k = 0; k < got.size(); ++k) expect_same(got[k], expected[0][k]);
  Graph graph;
  capture(graph, [&] { got = draws(x, rates); });
  for (size_t i = 1; i < 4; ++i) {
    graph.replay();
    for (size_t k = 0; k < got.size(); ++k) expect_same(got[k], expected[i][k]);
  }
  expect_same(rand({7}, kCUDA), after);
  manual_seed(11);
  graph.replay();
  expect_same(got[0], expected[0][0]);
}

TEST_F(GraphTest, AGeneratorIsRegisteredOrRefused) {
  Generator own = cuda::detail::createCUDAGenerator(0);
  own.set_current_seed(5);
  const Tensor first = rand({9}, own, kCUDA), second = rand({9}, own, kCUDA);
  own.set_current_seed(5);
  Graph graph;
  EXPECT_CONTAINS(message_of<Error>([&] { capture(graph, [&] { rand({9}, own, kCUDA); }); }),
                  "call register_generator_state() before capture_begin()");
  graph.reset();
  own.set_current_seed(5);
  graph.register_generator_state(own);
  Tensor x;
  capture(graph, [&] { x = rand({9}, own, kCUDA); });
  graph.replay();
  expect_same(x, first);
  graph.replay();
  expect_same(x, second);
}

TEST_F(GraphTest, AReplayTakesNoMemoryAndWaitsForNothing) {
  const Tensor x = randn({64, 64}, kCUDA);
  Tensor y;
  Graph graph;
  capture(graph, [&] { y = dropout(x.matmul(x).relu().softmax(1), 0.5, true).sum(); });
  graph.replay();
  const cuda::Stats before = cuda::stats();
  for (int i = 0; i < 10; ++i) graph.replay();
  const cuda::Stats after = cuda::stats();
  EXPECT_EQ(after.mallocs, before.mallocs);
  EXPECT_EQ(after.frees, before.frees);
  EXPECT_EQ(after.synchronizations, before.synchronizations);
  EXPECT_EQ(after.kernel_launches, before.kernel_launches);
}

// While a graph is captured nothing can be given back, so what models of before have left is first.
TEST_F(GraphTest, CachedMemoryIsGivenBackFirst) {
  { const Tensor left = empty({32 << 20}, kCUDA); }
  const int64_t before = cuda::memory_stats().reserved;
  Tensor y;
  Graph graph;
  capture(graph, [&] { y = ones({4}, kCUDA) + 1; });
  EXPECT_LE(cuda::memory_stats().reserved, before - (int64_t{100} << 20));
  graph.replay();
  expect_same(y, full({4}, 2.0));
}

TEST_F(GraphTest, NobodyElseGetsItsMemoryWhileItLives) {
  const Tensor before = full({500}, 3.0, kCUDA);
  Tensor sum;
  Graph graph;
  {
    const cuda::StreamGuard guard(side());
    graph.capture_begin();
    Tensor x = before;
    for (int i = 0; i < 5; ++i) x = x + 1;  // in two blocks
    sum = x.sum();
    graph.capture_end();
  }
  Tensors others;
  for (const cuda::Stream& stream : {side(), cuda::getDefaultCUDAStream()}) {
    const cuda::StreamGuard guard(stream);
    for (int i = 0; i < 8; ++i) others.push_back(full({500}, 9.0, kCUDA));
    stream.synchronize();
  }
  cuda::empty_cache();
  for (int i = 0; i < 2; ++i) {
    graph.replay();
    EXPECT_EQ(sum.item<float>(), 500 * 8);
    sum.zero_();
  }
  for (const Tensor& other : others) expect_same(other, full({500}, 9.0));
  expect_same(before, full({500}, 3.0));
}

TEST_F(GraphTest, WithTheGraphItsMemoryBecomesOrdinary) {
  const Tensor x = full({100'000}, 1.0, kCUDA);
  cuda::empty_cache();
  const int64_t reserved = cuda::memory_stats().reserved;
  Tensor kept;
  {
    Graph graph;
    capture(graph, [&] { kept = (x + 1) * 2; });
    graph.replay();
    cuda::empty_cache();
    EXPECT_GT(cuda::memory_stats().reserved, reserved + 2 * x.nbytes());
  }
  const int64_t mallocs = cuda::stats().mallocs;
  const Tensor again = x + 1;  // of what the graph had for x + 1
  EXPECT_EQ(cuda::stats().mallocs, mallocs);
  expect_same(kept, full({100'000}, 4.0));
  kept = Tensor();
  const Tensor more = x + 2;
  EXPECT_EQ(cuda::stats().mallocs, mallocs);
}

TEST_F(GraphTest, GraphsShareAPool) {
  const Tensor x = full({100'000}, 1.0, kCUDA);
  Graph first, second;
  Tensor y, z;
  capture(first, [&] { y = (x + 1).sum(); });
  const int64_t mallocs = cuda::stats().mallocs;
  capture(
      second, [&] { z = (x + 2).sum(); }, first.pool());
  EXPECT_EQ(second.pool(), first.pool());
  EXPECT_LE(cuda::stats().mallocs, mallocs + 2) << "for z, and what it is summed up in";
  first.replay();
  EXPECT_EQ(y.item<float>(), 2e5);
  second.replay();
  first.reset();
  second.replay();
  EXPECT_EQ(z.item<float>(), 3e5);
  EXPECT_CONTAINS(message_of<Error>([&] { first.pool(); }), "pool: the graph has no memory yet");
}

TEST_F(GraphTest, WhatCannotBeCapturedSaysSoAndLeavesTheLibraryWell) {
  const Tensor x = randn({10}, kCUDA);
  const Tensor cpu = ones({10});
  const auto expect_refused = [&](const char* part, const std::function<void()>& f) {
    Graph graph;
    const std::string message = message_of<Error>([&] { capture(graph, f); });
    EXPECT_CONTAINS(message, part);
    EXPECT_CONTAINS(message, "before capture_begin() or after replay()");
    graph.reset();
    EXPECT_FALSE(cuda::is_current_stream_capturing());
    EXPECT_EQ((x.detach() * 0 + 2).sum().item<float>(), 20);
    Tensor y;  // and the same graph can be used
    capture(graph, [&] { y = x + x; });
    graph.replay();
    expect_same(y, x + x);
  };
  expect_refused("transfer: a copy to the CPU, as by item()", [&] { x.sum().item<float>(); });
  expect_refused("transfer: a copy to the CPU", [&] { x.cpu(); });
  expect_refused("transfer: a copy to the CPU", [&] { x.to(kCPU, true); });
  expect_refused("transfer: a copy from the CPU", [&] { cpu.to(kCUDA); });
  expect_refused("nonzero: it cannot be captured for a graph, because the size of its result",
                 [&] { x.nonzero(); });
  expect_refused("masked_select: it cannot", [&] { x.masked_select(x > 0); });
  expect_refused("synchronize: CUDA error cudaErrorStreamCaptureUnsupported",
                 [] { cuda::synchronize(); });
  expect_refused("Stream::synchronize: CUDA error cudaErrorStreamCaptureUnsupported",
                 [] { cuda::getCurrentCUDAStream().synchronize(); });
  expect_refused("Event::synchronize: CUDA error", [] {
    cuda::Event event;
    event.record();
    event.synchronize();
  });
  Graph inner;
  capture(inner, [] {});
  expect_refused("replay: a graph cannot", [&] { inner.replay(); });
}

TEST_F(GraphTest, TheKernelsOfCublasAreRefused) {
  const Tensor x = randn({64, 64}, kCUDA);
  cuda::set_matmul_kernel("cublas");
  Graph graph;
  const std::string message = message_of<Error>([&] { capture(graph, [&] { x.matmul(x); }); });
  cuda::set_matmul_kernel("automatic");
  EXPECT_CONTAINS(message, "matmul: a product by cuBLAS cannot be captured for a graph");
  EXPECT_CONTAINS(message, "set_matmul_kernel(\"automatic\")");
}

TEST_F(GraphTest, WrongOrderOfCallsIsAnError) {
  Graph graph;
  EXPECT_CONTAINS(message_of<Error>([&] { graph.replay(); }),
                  "replay: nothing is captured; call capture_begin() and capture_end() first");
  EXPECT_CONTAINS(message_of<Error>([&] { graph.capture_end(); }),
                  "capture_end: the graph is not being captured; call capture_begin() first");
  EXPECT_CONTAINS(message_of<Error>([&] { graph.capture_begin(); }),
                  "capture_begin: the default stream cannot be captured; make another one current");
  capture(graph, [] {});
  graph.replay();  // nothing to do
  const cuda::StreamGuard guard(cuda::getStreamFromPool());
  EXPECT_CONTAINS(message_of<Error>([&] { graph.capture_begin(); }),
                  "capture_begin: the graph holds work already; call reset() first");
  Graph other;
  other.capture_begin();
  EXPECT_CONTAINS(message_of<Error>([&] { Graph().capture_begin(); }),
                  "capture_begin: the current stream cannot be captured for a graph, because it is "
                  "captured already");
  other.capture_end();
}

TEST_F(GraphTest, AStreamThatIsNotJoinedIsAnError) {
  const Tensor x = zeros({10}, kCUDA);
  Graph graph;
  const std::string message = message_of<Error>([&] {
    capture(graph, [&] {
      cuda::Event fork;
      fork.record();
      const cuda::Stream other = cuda::getStreamFromPool();
      fork.block(other);
      const cuda::StreamGuard guard(other);
      x.add_(1);
    });
  });
  EXPECT_CONTAINS(message, "capture_end: CUDA error cudaErrorStreamCaptureUnjoined");
  EXPECT_CONTAINS(message, "let the captured stream wait for an event");
  expect_same(x + 1, ones({10}));
}

TEST_F(GraphTest, AnIndexOutOfRangeOfAReplayComesUp) {
  const Tensor x = arange(5, kCUDA), index = zeros({3}, TensorOptions(kCUDA).dtype(kLong));
  Tensor y;
  Graph graph;
  capture(graph, [&] { y = x.index_select(0, index); });
  graph.replay();
  cuda::synchronize();
  index.fill_(9);
  graph.replay();
  EXPECT_CONTAINS(message_of<IndexError>([] { cuda::synchronize(); }), "9");
  index.fill_(4);
  graph.replay();
  expect_same(y, full({3}, 4, kLong));
}

}  // namespace
}  // namespace gradus
