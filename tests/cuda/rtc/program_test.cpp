// Programs that are compiled at run time: kernels, errors with lines, the cache on disk.
#include "gradus/cuda/rtc/program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "gradus/cuda/runtime/launch.h"
#include "tests/cuda/rtc/rtc_test.h"
#include "tests/support.h"
#ifdef GRADUS_SIMULATED
#include "gradus/cuda/sim/simulator.h"
#endif

namespace gradus {
namespace {

using cuda::Program;

constexpr const char* kFill =
    "__global__ void fill(float* out, int64_t n, float value) {"
    "  for (int64_t i = threadIdx.x; i < n; i += blockDim.x)"
    "    out[i] = value; }";

float filled_by(const Program& program, float value) {
  const Tensor out = zeros({5}, kCUDA);
  float* data = out.data_ptr<float>();
  int64_t n = 5;
  void* args[] = {&data, &n, &value};
  cuda::detail::launch(program.kernel(), {1, 32}, args);
  EXPECT_TRUE(out.eq(out[0]).all().item<bool>());
  return out[0].item<float>();
}

TEST_F(Rtc, AProgramsKernelIsLaunched) {
  EXPECT_EQ(filled_by(Program(std::string(kFill), {"fill"}), 3), 3);
}

TEST_F(Rtc, TheSameTextIsCompiledOnce) {
  const int64_t before = cuda::compilations();
  const std::string text = own_text(kFill);
  for (const float value : {1.0f, 2.0f}) {
    EXPECT_EQ(filled_by(Program(text, {"fill"}), value), value);
    EXPECT_EQ(cuda::compilations(), before + 1);
  }
}

TEST_F(Rtc, PreparedProgramsAreCompiledOnceAndSayTheirErrorsLater) {
  const int64_t before = cuda::compilations();
  std::vector<Program> programs;
  for (int i = 0; i < 3; ++i)
    programs.emplace_back(own_text(kFill), std::vector<std::string>{"fill"});
  for (int twice = 0; twice < 2; ++twice)
    for (const Program& each : programs) each.prepare(0);
  for (const Program& each : programs) EXPECT_EQ(filled_by(each, 2), 2);
  EXPECT_EQ(cuda::compilations(), before + 3);
  programs[0].prepare(0);
  EXPECT_EQ(filled_by(programs[0], 4), 4);
  EXPECT_EQ(cuda::compilations(), before + 3);

  const Program broken(own_text("__global__ void broken() { nonsense(); }"), {"broken"});
  EXPECT_NO_THROW(broken.prepare(0));
  for (int twice = 0; twice < 2; ++twice)
    expect_error<CompileError>([&] { broken.kernel(); }, "nonsense");
}

TEST_F(Rtc, OptionsDefineNamesAndTemplatesHaveInstances) {
  const Program program(R"(
template <class T>
__global__ void fill(T* out, int64_t n, T value) { if (threadIdx.x < n) out[threadIdx.x] = value * FACTOR; })",
                        {"fill<float>"}, {"-DFACTOR=4"});
  EXPECT_EQ(filled_by(program, 2), 8);
}

TEST_F(Rtc, SharedMemoryAndVariablesOfAProgramAreItsOwn) {
  // Two programs with the same names, and other sizes.
  const auto text = [](int n) {
    return "template <class T> __device__ T* rows() { __shared__ T all[" + std::to_string(n) +
           "]; return all; }\n"
           "__device__ int last = " +
           std::to_string(n) +
           ";\n"
           "__global__ void fill(float* out, int64_t n, float value) {\n"
           "  float* const tile = rows<float>();\n"
           "  tile[last - 1 - threadIdx.x] = value;\n"
           "  __syncthreads();\n"
           "  if (threadIdx.x < n) out[threadIdx.x] = tile[last - 5 + threadIdx.x] + last; }";
  };
  EXPECT_EQ(filled_by(Program(text(32), {"fill"}), 1), 33);
  EXPECT_EQ(filled_by(Program(text(64), {"fill"}), 1), 65);
}

TEST_F(Rtc, TextThatDoesNotCompileNamesFileAndLine) {
  const Program program(
      R"(
__global__ void wrong(float* out) {
  out[0] = vaule;
})",
      {"wrong"});
  const int line = __LINE__ - 3;
  const std::string said = message_of<CompileError>([&] { program.kernel(); });
  EXPECT_CONTAINS(said, "program_test.cpp:" + std::to_string(line) + ":");
  EXPECT_CONTAINS(said, "vaule");
  EXPECT_CONTAINS(said, "given at program_test.cpp:" + std::to_string(line - 2));
  // It is said each time.
  EXPECT_EQ(message_of<CompileError>([&] { program.kernel(); }), said);
}

// On simulated devices the host's compiler would take it.
TEST_F(Rtc, WhatAGpuRefusesIsRefusedEverywhere) {
  const auto uses = [](const std::string& text) {
    return Program("__global__ void f(float* p) {\n  /* std:: */ " + text + " }", {"f"});
  };
  for (const char* text : {"p[0] = std::sqrt(p[1]);", "p[0] = std::max(p[1], p[2]);",
                           "::std::size_t n = 1; p[n] = 0;", "\n#include <cmath>\n"})
    EXPECT_CONTAINS(message_of<CompileError>([&] { uses(text).kernel(); }),
                    "text of program_test.cpp:");
  EXPECT_NE(uses("p[0] = sqrt(p[1]);  // std::sqrt\n").kernel(), nullptr);
  EXPECT_NE(uses("struct { float* ptr; } my_std; p = my_std.ptr;").kernel(), nullptr);
}

TEST_F(Rtc, TextThatWasMadeAtRunTimeHasLinesOfItsOwn) {
  const Program program(std::string("\n\nint x = y;"), {"f"});
  const int line = __LINE__ - 1;
  EXPECT_CONTAINS(message_of<CompileError>([&] { program.kernel(); }),
                  "text of program_test.cpp:" + std::to_string(line) + ":3:");
}

TEST_F(Rtc, AMissingKernelIsNamed) {
  const Program program("__global__ void f() {}", {"g"});
  EXPECT_CONTAINS(message_of<CompileError>([&] { program.kernel(); }),
                  kSimulated ? "kernel name 'g'" : "\"g\" is undefined");
}

TEST_F(Rtc, EachDeviceLaunchesIt) {
  if (cuda::device_count() < 2) GTEST_SKIP() << "needs two devices";
  const Program program(std::string(kFill), {"fill"});
  const void* const on_first = program.kernel();
  const cuda::DeviceGuard second(1);
  EXPECT_EQ(filled_by(program, 7), 7);
  EXPECT_EQ(program.kernel(), on_first);
}

#ifdef GRADUS_SIMULATED
TEST_F(Rtc, TheSimulatorNamesTheLineOfAMistake) {
  const Program program(R"(
__device__ float first[4];
__constant__ float scale[4] = {2, 2, 2, 2};
__global__ void off_by_one(float* out, int64_t n, float value) {
  __shared__ float tile[32];
  tile[threadIdx.x] = value * scale[0];
  if (threadIdx.x == 0) first[0] = value;
  if (threadIdx.x <= n) out[threadIdx.x] = tile[threadIdx.x];
})",
                        {"off_by_one"});
  const int line = __LINE__ - 3;
  cuda::sim::take_findings();
  EXPECT_THROW(filled_by(program, 1), Error);
  const auto findings = cuda::sim::take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, cuda::sim::Kind::out_of_bounds);
  EXPECT_EQ(findings[0].kernel, "off_by_one");
  ASSERT_FALSE(findings[0].sides.empty());
  EXPECT_EQ(findings[0].sides[0].frames.back().line, line);
  EXPECT_CONTAINS(findings[0].sides[0].frames.back().file, "program_test.cpp");
}

TEST_F(Rtc, TheSimulatorSeesARaceInSharedMemory) {
  const Program program(R"(
__global__ void shift(float* out, int64_t n, float value) {
  __shared__ float tile[64];
  tile[threadIdx.x] = value;
  if (threadIdx.x < n) out[threadIdx.x] = tile[threadIdx.x + 1];
})",
                        {"shift"});
  cuda::sim::take_findings();
  EXPECT_THROW(filled_by(program, 1), Error);
  const auto findings = cuda::sim::take_findings();
  ASSERT_FALSE(findings.empty());
  EXPECT_CONTAINS(findings.back().message, "tile");
}
#endif

// --- The cache on disk
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> out;
  for (const auto& each : std::filesystem::directory_iterator(folder)) out.push_back(each.path());
  return out;
}

// Another process, since memory keeps what this one compiled.
int compilations_of_another_process(const std::string& text) {
  // In a shard of the tests the child would leave out the one that it is to run.
  const std::string command = "unset GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX; GRADUS_RTC_TEXT='" +
                              text + "' '" +
                              std::filesystem::read_symlink("/proc/self/exe").string() +
                              "' --gtest_filter=RtcChild.Compiles >/dev/null 2>&1";
  const int status = std::system(command.c_str());
  return WEXITSTATUS(status) - 100;
}
TEST(RtcChild, Compiles) {
  const char* const text = std::getenv("GRADUS_RTC_TEXT");
  if (!text) GTEST_SKIP() << "is started by the tests of the cache";
  const char* const option = std::getenv("GRADUS_RTC_OPTION");
  const std::vector<std::string> options(option ? 1 : 0, option ? option : "");
  if (filled_by(Program(std::string(text), {"fill"}, options), 3) != 3) std::exit(99);
  const auto count = static_cast<int>(cuda::compilations());
  if (std::getenv("GRADUS_RTC_PREPARE")) Program(own_text(text), {"fill"}).prepare(0);
  std::exit(100 + count);
}

TEST_F(Rtc, AnotherProcessFindsIt) {
  EXPECT_EQ(compilations_of_another_process(kFill), 1);
  ASSERT_EQ(files_in(folder.path()).size(), 1u);
  EXPECT_EQ(compilations_of_another_process(kFill), 0);
  EXPECT_EQ(compilations_of_another_process(own_text(kFill)), 1);
}

TEST_F(Rtc, TheEndOfAProcessWaitsForWhatItPrepares) {
  setenv("GRADUS_RTC_PREPARE", "1", 1);
  EXPECT_EQ(compilations_of_another_process(kFill), 1);
  EXPECT_EQ(files_in(folder.path()).size(), 2u);
  unsetenv("GRADUS_RTC_PREPARE");
}

// Files that a text includes may change.
TEST_F(Rtc, WhatMayIncludeFilesIsNotKeptOnDisk) {
  setenv("GRADUS_RTC_OPTION", ("-I" + folder.path()).c_str(), 1);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(compilations_of_another_process(kFill), 1);
  EXPECT_TRUE(files_in(folder.path()).empty());
  unsetenv("GRADUS_RTC_OPTION");
}

TEST_F(Rtc, ABrokenFileIsCompiledAgain) {
  EXPECT_EQ(compilations_of_another_process(kFill), 1);
  const auto file = files_in(folder.path()).at(0);
  const auto size = std::filesystem::file_size(file);
  for (const uintmax_t kept : {uintmax_t{0}, uintmax_t{10}, size / 2, size - 1}) {
    std::filesystem::resize_file(file, kept);
    EXPECT_EQ(compilations_of_another_process(kFill), 1) << kept;
    EXPECT_EQ(std::filesystem::file_size(file), size);
  }
  {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(static_cast<std::streamoff>(size / 2));
    out.put('!').put('?');
  }
  EXPECT_EQ(compilations_of_another_process(kFill), 1);
  EXPECT_EQ(compilations_of_another_process(kFill), 0);
}

TEST_F(Rtc, AFolderThatCannotBeWrittenOnlyKeepsNothing) {
  std::ofstream(folder / "file") << "no folder";
  setenv("GRADUS_KERNEL_CACHE", (folder / "file/below").c_str(), 1);
  EXPECT_EQ(compilations_of_another_process(kFill), 1);
  EXPECT_EQ(compilations_of_another_process(kFill), 1);
  setenv("GRADUS_KERNEL_CACHE", "", 1);
  EXPECT_EQ(compilations_of_another_process(kFill), 1);
  EXPECT_EQ(files_in(folder.path()).size(), 1u);
}

}  // namespace
}  // namespace gradus
