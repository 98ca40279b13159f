// Every public module has a row in tests/nn/rows.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace gradus::test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What the first group matches in the files of a folder with this extension.
void collect_names(std::set<std::string>& out, const fs::path& folder, const char* extension,
                   const std::regex& pattern) {
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.path().extension() != extension) continue;
    const std::string text = text_of(file.path());
    for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
      out.insert((*at)[1]);
  }
}

// Modules are declared by macros, GRADUS_MODULE(Linear), and by rows, PLAIN(Tanh, ...).
TEST(EveryModule, HasARow) {
  const fs::path source = GRADUS_SOURCE_DIR;
  const std::regex declaration("\n[A-Z_]+\\(([A-Z]\\w*[a-z]\\w*)[,)]"), use("nn::(\\w+)\\(");
  std::set<std::string> modules, tested;
  collect_names(modules, source / "nn", ".h", declaration);
  collect_names(modules, source / "nn", ".def", declaration);
  collect_names(modules, source / "nn/modules", ".h", declaration);
  collect_names(tested, source / "tests/nn/rows", ".def", use);
  EXPECT_GT(modules.size(), 60u);
  // Containers have no forward() of their own.
  for (const char* name : {"ModuleDict", "ModuleList", "ParameterDict", "ParameterList"})
    EXPECT_EQ(modules.erase(name), 1u) << name;
  for (const std::string& name : modules)
    EXPECT_TRUE(tested.contains(name)) << "nn::" << name << " has no row in tests/nn/rows/*.def";
}

}  // namespace
}  // namespace gradus::test
