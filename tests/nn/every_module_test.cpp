// Every public module has a row in tests/nn/rows, and is named in the README.
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

const fs::path source = GRADUS_SOURCE_DIR;

// Modules are declared by macros, GRADUS_MODULE(Linear), by rows, PLAIN(Tanh, ...), and as holders
// with more members than those of the macro.
std::set<std::string> all_modules() {
  const std::regex made("\n[A-Z_]+\\(([A-Z]\\w*[a-zU]\\w*)[,)]");
  const std::regex written("\nclass (\\w+) : public ModuleHolder<");
  std::set<std::string> out;
  collect_names(out, source / "nn", ".def", made);
  for (const auto& [folder, pattern] :
       {std::pair("nn", made), std::pair("nn", written), std::pair("nn/modules", made),
        std::pair("nn/modules", written)})
    collect_names(out, source / folder, ".h", pattern);
  return out;
}

TEST(EveryModule, IsNamedInTheReference) {
  const std::string reference = text_of(source / "docs/api.md");
  for (const std::string& name : all_modules())
    EXPECT_NE(reference.find(name), std::string::npos) << "nn::" << name;
}

TEST(EveryModule, HasARow) {
  std::set<std::string> modules = all_modules(), tested;
  collect_names(tested, source / "tests/nn/rows", ".def", std::regex("nn::(\\w+)\\("));
  EXPECT_GT(modules.size(), 60u);
  // Containers have no forward() of their own.
  for (const char* name : {"ModuleDict", "ModuleList", "ParameterDict", "ParameterList"})
    EXPECT_EQ(modules.erase(name), 1u) << name;
  for (const std::string& name : modules)
    EXPECT_TRUE(tested.contains(name)) << "nn::" << name << " has no row in tests/nn/rows/*.def";
}

}  // namespace
}  // namespace gradus::test
