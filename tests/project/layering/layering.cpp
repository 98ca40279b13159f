#include "layering.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <utility>

namespace fs = std::filesystem;

namespace {

using Names = std::set<std::string>;

constexpr int max_lines = 500;

// Which folders each folder of the library may include, besides itself.
const std::map<std::string, Names> below = {
    {"tensor", {}},
    {"cpu", {"tensor"}},
    {"cuda", {"tensor"}},
    {"autograd", {"tensor"}},
    {"nn", {"tensor", "autograd"}},
    {"optim", {"tensor", "autograd"}},
    {"data", {"tensor", "autograd"}},
    {"serialize", {"tensor", "autograd", "nn", "optim", "data"}},
    {"nn/parallel", {"tensor", "autograd", "nn", "optim", "serialize", "data"}},
    {"distributed", {"tensor", "autograd", "nn", "optim", "serialize", "data"}},
};
// Users of the library, which may include all of it.
const Names top = {"gradus.h", "compat", "examples", "bench", "tests", "course", "python"};
const Names with_public_headers = {"tensor", "autograd",    "nn",          "optim",    "serialize",
                                   "data",   "nn/parallel", "distributed", "gradus.h", "compat"};
// Folders whose headers are not installed.
const Names without_public_headers = {"distributed/mpi", "distributed/nccl", "distributed/net"};
const Names skipped = {"build", "install", "docs", "cmake", "scripts"};

// "nn/parallel/x.h" is in nn/parallel; "nn/functional/x.h" is in nn.
std::string folder_of(const std::string& path) {
  if (path.starts_with("nn/parallel/")) return "nn/parallel";
  return path.substr(0, path.find('/'));
}

bool has_extension(const std::string& path, const Names& extensions) {
  return extensions.contains(fs::path(path).extension());
}

class Reader {
 public:
  Reader(fs::path root, const std::vector<std::string>& public_cuda) : root_(std::move(root)) {
    for (const auto& header : public_cuda) public_cuda_.insert("cuda/" + header);
  }

  std::vector<std::string> read_tree() {
    for (const auto& top_entry : fs::directory_iterator(root_)) {
      auto name = top_entry.path().filename().string();
      if (name.starts_with('.') || skipped.contains(name)) continue;
      if (!top_entry.is_directory()) {
        read_file(top_entry.path());
        continue;
      }
      for (const auto& entry : fs::recursive_directory_iterator(top_entry))
        if (entry.is_regular_file()) read_file(entry.path());
    }
    std::sort(found_.begin(), found_.end());
    return std::move(found_);
  }

 private:
  void read_file(const fs::path& file) {
    path_ = fs::relative(file, root_).generic_string();
    if (!has_extension(path_, {".h", ".cpp", ".cu", ".cuh", ".def", ".py"})) return;
    folder_ = folder_of(path_);
    line_ = 1;
    if (!top.contains(folder_) && !below.contains(folder_)) {
      report("folder " + folder_ +
             " has no place in tests/project/layering/layering.cpp; give it one");
      return;
    }
    std::ifstream in(file);
    static const std::regex pattern(R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
    std::smatch match;
    for (std::string text; std::getline(in, text); ++line_)
      if (std::regex_search(text, match, pattern)) check(match[2], match[1] == "\"");
    if (--line_ > max_lines)
      report("has " + std::to_string(line_) + " lines, more than " + std::to_string(max_lines) +
             "; give a part of it a file of its own");
  }

  void check(const std::string& included, bool quoted) {
    if (included.starts_with("gradus/")) {
      check_arrow(included.substr(7));
    } else if (quoted && !top.contains(folder_)) {
      report("includes \"" + included + "\"; write it as \"gradus/FOLDER/...\"");
    } else if (is_public() && is_cuda_header(included)) {
      report("is a public header and includes <" + included + ">");
    }
  }

  void check_arrow(const std::string& target) {
    if (is_public() && target.starts_with("cuda/") && !public_cuda_.contains(target))
      report("is a public header and includes " + target + ", which is not");
    if (is_public() &&
        without_public_headers.contains(fs::path(target).parent_path().generic_string()))
      report("is a public header and includes " + target + ", which is not");
    if (top.contains(folder_)) return;
    auto to = folder_of(target);
    if (to == folder_ || below.at(folder_).contains(to)) return;
    if (to == "cuda" && public_cuda_.contains(target) && folder_ != "tensor" && folder_ != "cpu")
      return;
    report(folder_ + "/ includes " + target + ", which is not below it");
  }

  bool is_public() const {
    if (public_cuda_.contains(path_)) return true;
    if (without_public_headers.contains(fs::path(path_).parent_path().generic_string()))
      return false;
    return with_public_headers.contains(folder_) && has_extension(path_, {".h", ".def"});
  }

  static bool is_cuda_header(const std::string& included) {
    static const std::regex pattern(
        R"(^(cu[a-z0-9_]*|nccl|nv[a-z]*|cooperative_groups)(\.h|\.hpp|/))");
    return std::regex_search(included, pattern) || included.ends_with(".cuh");
  }

  void report(const std::string& what) {
    found_.push_back(path_ + ":" + std::to_string(line_) + ": " + what);
  }

  fs::path root_;
  Names public_cuda_;
  std::vector<std::string> found_;
  std::string path_, folder_;
  int line_ = 0;
};

}  // namespace

std::vector<std::string> breaches(const fs::path& root,
                                  const std::vector<std::string>& public_cuda) {
  return Reader(root, public_cuda).read_tree();
}
