// Printing, byte for byte against what libtorch wrote (tests/conformance/golden/make_print.cpp).
#include <gtest/gtest.h>

#include <map>
#include <string_view>

#include "gradus/autograd/functions.h"
#include "gradus/cuda/cuda.h"
#include "gradus/tensor/factories.h"

#include "tests/conformance/recorded.h"

namespace lib = gradus;
#include "tests/conformance/golden/print_cases.h"

namespace {

// Name -> text. A record is "=== name\ntext\n".
std::map<std::string, std::string> records() {
  std::map<std::string, std::string> out;
  constexpr std::string_view kMark = "=== ";
  const std::string golden = gradus::test::recorded("golden/print.txt");
  for (size_t at = golden.find(kMark); at < golden.size();) {
    const size_t name = at + kMark.size(), text = golden.find('\n', name) + 1;
    const size_t next = std::min(golden.find("\n=== ", text - 1) + 1, golden.size());
    const size_t end = next == 0 ? golden.size() : next;
    out[std::string(golden.substr(name, text - 1 - name))] = golden.substr(text, end - text - 1);
    at = end;
  }
  return out;
}

TEST(Print, MatchesLibtorchByteForByte) {
  const auto golden = records();
  const auto printed = print_cases::printed();
  ASSERT_EQ(golden.size(), printed.size()) << "print.txt is older than print_cases.h";
  for (const auto& [name, text] : printed) {
    const auto expected = golden.find(name);
    ASSERT_NE(expected, golden.end()) << name;
    EXPECT_EQ(text, expected->second) << name;
  }
}

TEST(Print, NamesTheDeviceOfATensorOnAGpu) {
  if (!gradus::cuda::is_available()) GTEST_SKIP() << gradus::cuda::why_unavailable();
  std::ostringstream out;
  out << gradus::ones({2}, gradus::kCUDA);
  EXPECT_EQ(out.str(), " 1\n 1\n[ CUDAFloatType{2} ]");
}

}  // namespace
