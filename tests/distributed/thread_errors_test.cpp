// An exception that leaves a thread of the library arrives at its caller with its type and its
// message, whichever thread it is: of a loop, a backward pass, a replica, a rank, a group, a
// loader.
#include <barrier>
#include <thread>

#include "gradus/cpu/parallel.h"
#include "gradus/distributed/distributed.h"
#include "tests/nn/parallel/devices.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace dist = distributed;
using Raise = std::function<void()>;

// Two threads meet here, and the one that is not the caller raises.
class Elsewhere {
 public:
  explicit Elsewhere(Raise raise) : raise_(std::move(raise)) {}
  void run() {
    both_.arrive_and_wait();
    if (std::this_thread::get_id() != caller_) raise_();
  }

 private:
  Raise raise_;
  std::thread::id caller_ = std::this_thread::get_id();
  std::barrier<> both_{2};
};

struct Raiser : data::Dataset<Raiser, int64_t> {
  explicit Raiser(Raise raise) : raise_(std::move(raise)) {}
  int64_t get(size_t) override { return raise_(), 0; }
  std::optional<size_t> size() const override { return 4; }
  Raise raise_;
};

struct RaisingChunks : data::datasets::ChunkDataReader<int64_t> {
  explicit RaisingChunks(Raise raise) : raise_(std::move(raise)) {}
  std::vector<int64_t> read_chunk(size_t) override { return raise_(), std::vector<int64_t>(); }
  size_t chunk_count() override { return 1; }
  void reset() override {}
  Raise raise_;
};

struct RaisingImpl : nn::Cloneable<RaisingImpl> {
  explicit RaisingImpl(Raise raise) : raise_(std::move(raise)) { reset(); }
  void reset() override { w = register_parameter("w", ones({1})); }
  Tensor forward(const Tensor& x) {
    if (x[0].item<int64_t>() == 1) raise_();
    return w * x;
  }
  Raise raise_;
  Tensor w;
};
GRADUS_MODULE(Raising);

// A backward pass within `depth` others.
struct Within : autograd::Function<Within> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x, int depth, Raise* raise) {
    ctx->saved_data["depth"] = depth;
    ctx->saved_data["raise"] = reinterpret_cast<int64_t>(raise);
    return x.clone();
  }
  static Tensors backward(autograd::AutogradContext* ctx, Tensors grads) {
    const auto depth = static_cast<int>(ctx->saved_data["depth"].toInt());
    auto* const raise = reinterpret_cast<Raise*>(ctx->saved_data["raise"].toInt());
    if (depth == 0) (*raise)();
    const AutoGradMode mode(true);
    const Tensor inner = grads[0].detach().requires_grad_();
    Within::apply(inner, depth - 1, raise).backward(ones_like(inner));
    return {grads[0], Tensor(), Tensor()};
  }
};

struct Place {
  const char* name;
  void (*run)(const Raise& raise);
  const char* context = "";  // behind the message
};

const Place places[] = {
    {"a loop of the CPU",
     [](const Raise& raise) {
       Elsewhere both(raise);
       cpu::parallel_for(0, 2, 1, [&](int64_t, int64_t) { both.run(); });
     }},
    {"a loop of at::parallel_for",
     [](const Raise& raise) {
       Elsewhere both(raise);
       detail::run_parts(2, [&](int64_t) { both.run(); });
     }},
    {"a deep backward pass",
     [](const Raise& raise) {
       Raise own = raise;
       Within::apply(ones({1}, requires_grad()), 100, &own).sum().backward();
     }},
    {"a replica",
     [](const Raise& raise) {
       nn::DataParallel parallel(Raising(raise), Devices{kCPU, kCPU});
       parallel(tensor({0.f, 1.f}));
     },
     " (in replica 1 on cpu)"},
    {"a rank",
     [](const Raise& raise) {
       dist::spawn_threads(2, [&](int rank) {
         if (rank == 1) raise();
         dist::barrier();
       });
     },
     " (rank 1)"},
    {"a process group",
     [](const Raise& raise) {
       dist::spawn_threads(1,
                           [&](int) { dist::new_group({0})->submit("mine", {}, raise)->wait(); });
     },
     " (rank 0)"},
    {"a loader",
     [](const Raise& raise) {
       data::DataLoader loader(Raiser(raise), data::DataLoaderOptions(4).workers(1));
       for ([[maybe_unused]] const auto& batch : loader) continue;
     },
     "; sample 0 of the data set"},
    {"a reader of chunks",
     [](const Raise& raise) {
       using Sampler = data::samplers::SequentialSampler;
       data::datasets::ChunkDataset<RaisingChunks, Sampler, Sampler> chunks(
           RaisingChunks(raise), Sampler(0), Sampler(0), data::datasets::ChunkDatasetOptions(1, 4));
       chunks.reset();
       chunks.get_batch(4);
     },
     "; chunk 0 of the data set"},
};

template <class E>
void expect_original(const std::exception_ptr& got) {
  try {
    std::rethrow_exception(got);
  } catch (const E& error) {
    EXPECT_EQ(typeid(error), typeid(E)) << error.what();
    EXPECT_EQ(std::string(error.what()).find("lost"), 0U) << error.what();
  } catch (const std::exception& other) {
    ADD_FAILURE() << typeid(other).name() << ": " << other.what();
  }
}

// What was thrown where an exception holds it: one of another library, or of a loader's worker.
std::exception_ptr held_by(const std::exception_ptr& outer) {
  try {
    std::rethrow_exception(outer);
  } catch (const data::WorkerException& error) {
    return error.original_exception;
  } catch (const std::nested_exception& error) {
    return error.nested_ptr();
  } catch (...) {
    return outer;
  }
}

struct Kind {
  const char* name;
  Raise raise;
  void (*expect)(const std::exception_ptr& got);
  bool has_text = true;
};

template <class E>
Kind kind_of(const char* name) {
  return {name, [] { throw E("lost"); }, expect_original<E>};
}

TEST(ThreadErrors, KeepTheirTypeAndTheirMessage) {
  const Kind kinds[] = {
      kind_of<Error>("Error"),
      kind_of<IndexError>("IndexError"),
      kind_of<ValueError>("ValueError"),
      kind_of<TypeError>("TypeError"),
      kind_of<NotImplementedError>("NotImplementedError"),
      kind_of<LinAlgError>("LinAlgError"),
      kind_of<OutOfMemoryError>("OutOfMemoryError"),
      kind_of<dist::DistributedError>("DistributedError"),
      kind_of<std::runtime_error>("runtime_error"),
      kind_of<std::out_of_range>("out_of_range"),
      {"a number", [] { throw 7; },  // NOLINT
       [](const std::exception_ptr& got) { EXPECT_THROW(std::rethrow_exception(got), int); },
       false}};
  const int threads = get_num_threads();
  set_num_threads(2);
  for (const Place& place : places)
    for (const Kind& kind : kinds) {
      SCOPED_TRACE(place.name + std::string(": ") + kind.name);
      std::exception_ptr got;
      try {
        place.run(kind.raise);
      } catch (...) {
        got = std::current_exception();
      }
      ASSERT_TRUE(got);
      kind.expect(held_by(got));
      const std::string text = detail::text_of(got);
      EXPECT_TRUE(!kind.has_text || text.find("lost") != std::string::npos) << text;
      EXPECT_NE(text.find(place.context), std::string::npos) << text;
    }
  set_num_threads(threads);
}

}  // namespace
}  // namespace gradus
