// profile: what is seen of a training step, tables, traces and the timeline of memory.
#include "gradus/watch/profiler/profile.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "gradus/cuda/nvtx.h"
#include "gradus/tensor/base/recycled.h"
#include "tests/forked.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace profiling {

using profiler::EventKind, profiler::FunctionEvent, profiler::profile;

struct NetImpl : nn::Module {
  NetImpl() {
    layers = register_module("layers", nn::Sequential(nn::Linear(8, 16), nn::ReLU()));
    head = register_module("head", nn::Linear(16, 2));
  }
  Tensor forward(const Tensor& x) { return head(layers(x)); }
  nn::Sequential layers{nullptr};
  nn::Linear head{nullptr};
};
GRADUS_MODULE(Net);

void train(Net& net, optim::Optimizer& optimizer, Device device) {
  const Tensor x = ones({4, 8}, TensorOptions().device(device));
  optimizer.zero_grad();
  net(x).square().sum().backward();
  optimizer.step();
}

const FunctionEvent* find(const std::vector<FunctionEvent>& events, const std::string& name,
                          const std::string& module = "") {
  for (const FunctionEvent& event : events)
    if (event.name == name && (module.empty() || event.module == module)) return &event;
  return nullptr;
}

int64_t count_of(const profiler::EventList& list, const std::string& key) {
  for (const auto& row : list)
    if (row.key == key) return row.count;
  return 0;
}

TEST(Profiler, SeesOperationsModulesBackwardAndSteps) {
  for (const Device device : cpu_and_cuda()) {
    SCOPED_TRACE(device.str());
    Net net;
    net->to(device);
    optim::SGD sgd(net->parameters(), 0.1);
    train(net, sgd, device);
    profile prof({.record_shapes = true, .profile_memory = true, .with_modules = true});
    for (int i = 0; i < 3; ++i) {
      const profiler::record_function range("step");
      train(net, sgd, device);
    }
    prof.stop();
    const auto& events = prof.events();
    const profiler::EventList averages = prof.key_averages();
    EXPECT_EQ(count_of(averages, "step"), 3);
    EXPECT_EQ(count_of(averages, "Net"), 3);
    EXPECT_EQ(count_of(averages, "Linear"), 6);
    EXPECT_EQ(count_of(averages, "Optimizer.step#SGD.step"), 3);
    EXPECT_EQ(count_of(averages, "sgd"), 3);
    EXPECT_EQ(count_of(averages, "relu"), 3);
    ASSERT_NE(find(events, "matmul", "Net.layers.0"), nullptr);
    const FunctionEvent& product = *find(events, "matmul", "Net.layers.0");
    EXPECT_EQ(product.kind, EventKind::Operator);
    EXPECT_EQ(product.device.type(), device.type());
    // a (4, 8), b (8, 16), bias (16) and the result (4, 16), of 4 bytes each
    EXPECT_EQ(product.bytes, 4 * (4 * 8 + 8 * 16 + 16 + 4 * 16));
    ASSERT_FALSE(product.input_shapes.empty());
    EXPECT_EQ(product.input_shapes[0].back(), 8);
    EXPECT_EQ(events[static_cast<size_t>(product.parent)].name, "Linear");
    ASSERT_NE(find(events, "matmul", "Net.head"), nullptr);
    EXPECT_NE(find(events, "relu", "Net.layers.1"), nullptr);
    // The backward pass counts for the module of the forward pass.
    bool backward = false;
    for (const FunctionEvent& event : events) {
      backward |= event.is_backward && event.kind == EventKind::Operator &&
                  event.name == "matmul" && event.module == "Net.head";
      EXPECT_GE(event.cpu_time, 0);
      EXPECT_LE(event.self_cpu_time, event.cpu_time);
      EXPECT_LE(event.parent, &event - events.data());
      if (event.parent < 0) continue;
      const FunctionEvent& parent = events[static_cast<size_t>(event.parent)];
      EXPECT_GE(event.start, parent.start);
      EXPECT_LE(event.start + event.cpu_time, parent.start + parent.cpu_time + 1);
    }
    EXPECT_TRUE(backward);
    const auto modules = prof.module_averages();
    std::vector<std::string> paths;
    for (const auto& row : modules) paths.push_back(row.path + ' ' + row.type);
    EXPECT_EQ(paths,
              (std::vector<std::string>{"Net Net", "Net.layers Sequential", "Net.layers.0 Linear",
                                        "Net.layers.1 ReLU", "Net.head Linear"}));
    EXPECT_EQ(modules[0].count, 3);
    EXPECT_GT(modules[4].backward_cpu_time_total, 0);
    EXPECT_GE(modules[0].backward_cpu_time_total, modules[4].backward_cpu_time_total);
    EXPECT_GE(modules[0].bytes, modules[1].bytes + modules[4].bytes);
    if (device.is_cuda()) {
      EXPECT_GT(product.device_time, 0);
      EXPECT_GE(product.device_start, product.start - 1e3);
      EXPECT_GT(modules[0].device_time_total, 0);
      EXPECT_GT(product.device_memory, 0);
    } else {
      EXPECT_EQ(product.cpu_memory, 4 * 4 * 16);
    }
  }
}

// forward() itself begins no module, so these layers have no holder, and one path.
TEST(Profiler, TellsModulesOfOneNameApart) {
  nn::Linear first(2, 3), second(3, 4);
  profile prof({.with_modules = true});
  for (int i = 0; i < 2; ++i) second(first(ones({1, 2})));
  first(ones({1, 2}));
  prof.stop();
  const auto rows = prof.module_averages();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].path, "Linear");
  EXPECT_EQ(rows[0].count, 3);
  EXPECT_EQ(rows[1].path, "Linear (2)");
  EXPECT_EQ(rows[1].count, 2);
}

TEST(Profiler, ChangesNoResult) {
  for (const Device device : cpu_and_cuda()) {
    const auto trained = [&](bool profiled) {
      manual_seed(3);
      Net net;
      net->to(device);
      optim::Adam adam(net->parameters(), 0.1);
      std::optional<profile> prof;
      if (profiled) prof.emplace(profiler::ProfileOptions{.profile_memory = true});
      for (int i = 0; i < 3; ++i) train(net, adam, device);
      return to_vector(nn::utils::parameters_to_vector(net->parameters()));
    };
    EXPECT_EQ(trained(true), trained(false));
  }
}

TEST(Profiler, OneRunsAtATimeAndTellsNothingBeforeItStops) {
  profile prof;
  expect_error<Error>([] { profile other; }, "a profile or an emit_nvtx runs already");
  expect_error<Error>([&] { prof.key_averages(); }, "call stop() before you ask");
  prof.stop();
  expect_error<Error>([&] { prof.stop(); }, "call start() first");
  EXPECT_TRUE(prof.events().empty());
  expect_error<Error>([&] { prof.module_averages(); }, "set with_modules = true");
  expect_error<Error>([&] { prof.memory_timeline(); }, "set profile_memory = true");
  expect_error<ValueError>([&] { prof.key_averages().table("speed"); }, "sort_by = \"speed\"");
  expect_error<ValueError>([&] { prof.key_averages().table("", 0); }, "row_limit = 0");
  prof.start();
  ones({3}).exp();
  prof.stop();
  EXPECT_EQ(count_of(prof.key_averages(), "exp"), 1);
  ones({3}).exp();
  EXPECT_EQ(count_of(prof.key_averages(), "exp"), 1) << "it has stopped";
}

TEST(Profiler, RecordsTheStepsOfItsSchedule) {
  using profiler::ProfilerAction, profiler::profile;
  const auto plan =
      profiler::schedule({.wait = 1, .warmup = 1, .active = 2, .repeat = 2, .skip_first = 1});
  std::string actions;
  for (int64_t step = 0; step < 12; ++step) actions += "NWRS"[static_cast<int>(plan(step))];
  EXPECT_EQ(actions, "NNWRSNWRSNNN");
  std::vector<int64_t> counts;
  const Tensor x = ones({3});
  {
    profile prof({.schedule = plan, .on_trace_ready = [&](profile& of) {
                    for (const auto& row : of.key_averages())
                      if (row.key == "exp") counts.push_back(row.count);
                  }});
    for (int step = 0; step < 12; ++step) {
      for (int i = 0; i <= step; ++i) exp(x);
      prof.step();
    }
    prof.stop();  // waits
  }
  EXPECT_EQ(counts, (std::vector<int64_t>{4 + 5, 8 + 9}));
  // What is under way at the end is told, too.
  counts.clear();
  {
    profile prof(
        {.schedule = profiler::schedule({.active = 5}),
         .on_trace_ready = [&](profile& of) { counts.push_back(of.key_averages()[0].count); }});
    exp(x), prof.step(), exp(x);
  }
  EXPECT_EQ(counts, std::vector<int64_t>{2});
  expect_error<ValueError>([] { profiler::schedule({.active = 0}); },
                           "1 or more steps that are active");
}

TEST(Profiler, ThreadsStandApart) {
  profile prof;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 50; ++i) {
        const profiler::record_function range("work");
        ones({5}).exp();
      }
    });
  for (std::thread& thread : threads) thread.join();
  prof.stop();
  EXPECT_EQ(count_of(prof.key_averages(), "work"), 200);
  EXPECT_EQ(count_of(prof.key_averages(), "exp"), 200);
  for (const FunctionEvent& event : prof.events())
    if (event.name == "exp") {
      const FunctionEvent& parent = prof.events()[static_cast<size_t>(event.parent)];
      EXPECT_EQ(parent.name, "work");
      EXPECT_EQ(parent.thread, event.thread);
    }
}

TEST(Profiler, TableSortsAndLimits) {
  profile prof({.record_shapes = true});
  for (int i = 0; i < 5; ++i) ones({1000}).exp();
  ones({3}).log();
  prof.stop();
  const std::string table = prof.key_averages().table("count", 2);
  for (const char* part : {"Name", "Self CPU %", "CPU time avg", "Bytes", "% of copy", "# of Calls",
                           "Self CPU time total: "})
    EXPECT_NE(table.find(part), std::string::npos) << table;
  EXPECT_NE(table.find("exp "), std::string::npos) << table;
  EXPECT_EQ(table.find("log "), std::string::npos) << table;
  EXPECT_NE(table.find("40 kB"), std::string::npos) << table;  // 5 * 2 * 4000
  const auto by_shape = prof.key_averages(/*group_by_input_shape=*/true);
  EXPECT_NE(by_shape.table().find("[[1000], [1000]]"), std::string::npos) << by_shape.table();
  EXPECT_GT(profiler::copy_bandwidth(kCPU), 0);
}

TEST(Profiler, MemoryTimelineFollowsWhatLives) {
  for (const Device device : cpu_and_cuda()) {
    SCOPED_TRACE(device.str());
    const TemporaryFolder folder;
    profile prof({.profile_memory = true});
    {
      const Tensor x = ones({1000}, TensorOptions().device(device));
      const Tensor y = x.exp();
    }
    prof.stop();
    prof.export_memory_timeline(folder / "memory.json", device);
    std::ostringstream text;
    text << std::ifstream(folder / "memory.json").rdbuf();
    EXPECT_NE(text.str().find("\"bytes\": [4000, 8000, 4000, 0]"), std::string::npos) << text.str();
    expect_error<Error>([&] { prof.export_chrome_trace(folder.path()); }, "export_chrome_trace: ");
    expect_error<Error>([&] { prof.export_memory_timeline(folder.path(), device); },
                        "export_memory_timeline: ");
    prof.export_memory_timeline(folder / "memory.svg", device);
    const std::string svg = prof.memory_timeline(device);
    EXPECT_EQ(svg.find("<svg"), 0u);
    for (const char* part : {">exp<", ">fill<", "<polygon", "at most 8 kB"})
      EXPECT_NE(svg.find(part), std::string::npos) << svg;
  }
}

TEST(Profiler, OutOfMemoryNamesWhatLives) {
  for (const Device device : cpu_and_cuda()) {
    SCOPED_TRACE(device.str());
    const auto options = TensorOptions().device(device);
    const auto too_much = [&] {
      empty({int64_t{1} << 50}, options);  // more than addresses reach
    };
    expect_error<OutOfMemoryError>(too_much, device.is_cuda() ? " are free" : "this process holds");
    Net net;
    net->to(device);
    const profile prof({.profile_memory = true, .with_modules = true});
    const Tensor large = ones({1 << 20}, options), y = large.exp();
    const Tensor z = net(ones({1000, 8}, options));
    expect_error<OutOfMemoryError>(too_much, "live tensors since the profile started:\n");
    expect_error<OutOfMemoryError>(too_much, "\n  4.19 MB [1048576] made by exp");
    expect_error<OutOfMemoryError>(too_much, "[1, 1000, 2] made by matmul in Net.head");
  }
}

TEST(Profiler, OutOfMemoryBelowALimitNamesBoth) {
  if (kSanitized) GTEST_SKIP() << "sanitizers need more addresses than any limit leaves";
  EXPECT_TRUE(test::holds_in_child([] {
    int64_t pages = 0;  // simulated devices take many
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most =
        static_cast<rlim_t>(pages) * static_cast<rlim_t>(getpagesize()) + (rlim_t{1} << 28);
    const rlimit limit{most, most};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return false;
    const profile prof({.profile_memory = true});
    Tensors kept;
    try {
      while (true) kept.push_back(ones({1 << 22}).exp());  // 16 MiB each
    } catch (const OutOfMemoryError& error) {
      const std::string text = error.what();
      return text.find("ulimit -v) is " + std::to_string(most) + " bytes") != std::string::npos &&
             text.find("16.8 MB [4194304] made by exp") != std::string::npos;
    }
  }));
}

TEST(Profiler, LeavesACaptureAsItIs) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const cuda::StreamGuard guard(cuda::getStreamFromPool());
  const Tensor x = ones({100}, TensorOptions().device(kCUDA));
  cuda::Graph graph;
  Tensor y;
  profile prof({.profile_memory = true});
  graph.capture_begin();
  y = (x * 2).exp();
  graph.capture_end();
  x.fill_(0);
  graph.replay();
  prof.stop();
  expect_values(y, std::vector<double>(100, 1));
  ASSERT_NE(find(prof.events(), "exp"), nullptr);
  EXPECT_EQ(find(prof.events(), "exp")->device_time, 0);
  EXPECT_GT(find(prof.events(), "fill")->device_time, 0);
}

// What tests/watch/read_trace.py says of a trace.
std::string checked(const std::string& arguments) {
  const char* chosen = std::getenv("GRADUS_PYTHON");
  const std::string command = std::string(chosen != nullptr ? chosen : "python3") + " -B " +
                              GRADUS_SOURCE_DIR "/tests/watch/read_trace.py " + arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "no shell";
  std::string out;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
  pclose(pipe);
  return out;
}

class TraceTest : public testing::Test {
 protected:
  void SetUp() override {
    Net net;
    const Device device = cpu_and_cuda().back();
    net->to(device);
    optim::SGD sgd(net->parameters(), 0.1);
    profile prof({.record_shapes = true, .profile_memory = true, .with_modules = true});
    const profiler::record_function range("a \"name\"\n\\ with signs");
    train(net, sgd, device);
    prof.stop();
    events = std::to_string(prof.events().size());
    prof.export_chrome_trace(folder / "trace.json");
  }
  TemporaryFolder folder;
  std::string events;
};

TEST_F(TraceTest, IsOfTheTraceEventFormat) {
  EXPECT_EQ(checked("format " + (folder / "trace.json")), events + " spans, nested\n");
}

TEST_F(TraceTest, PerfettoReadsIt) {
  const std::string found = checked("perfetto " + (folder / "trace.json"));
  if (const size_t at = found.find("skip: "); at != std::string::npos)
    GTEST_SKIP() << found.substr(at);
  EXPECT_EQ(found, events + " spans, no errors\n");
}

TEST(Nvtx, RangesAreToldOrItIsMissing) {
  try {
    cuda::nvtx::check_available();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("libnvToolsExt.so.1"), std::string::npos)
        << error.what();
    expect_error<Error>([] { profiler::emit_nvtx ranges; }, "nvtx: ranges are told to");
    profile prof;  // the failed one is none that runs
    prof.stop();
    GTEST_SKIP() << error.what();
  }
  const profiler::emit_nvtx ranges;
  const profiler::record_function range("range");
  ones({3}).exp();
}

}  // namespace profiling
}  // namespace gradus
