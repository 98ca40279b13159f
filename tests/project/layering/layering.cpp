// Reads every source of the tree and checks it against the rules that layering.h lists.
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

constexpr int max_files = 45;  // of one folder

constexpr int max_lines_of_core = 150;  // of a file of course/core

// Which folders each folder of the library may include, besides itself.
const std::map<std::string, Names> below = {
    {"tensor", {}},
    {"cpu", {"tensor"}},
    {"cuda", {"tensor"}},
    {"cuda/sim", {}},  // a project of its own
    {"autograd", {"tensor"}},
    {"nn", {"tensor", "autograd"}},
    {"optim", {"tensor", "autograd"}},
    {"data", {"tensor", "autograd", "nn"}},
    {"serialize", {"tensor", "autograd", "nn", "optim", "data"}},
    {"watch", {"tensor", "autograd", "nn", "optim", "serialize"}},
    {"nn/parallel", {"tensor", "autograd", "nn", "optim", "serialize", "data"}},
    {"distributed", {"tensor", "autograd", "nn", "optim", "serialize", "data"}},
};
// Which rooms of the same folder each room may include, besides itself.
const std::map<std::string, Names> below_in_folder = {
    {"tensor/base", {}},
    {"tensor/table", {"tensor/base"}},
    {"tensor/math", {"tensor/base", "tensor/table"}},
    {"tensor", {"tensor/base", "tensor/table", "tensor/math"}},
    {"tensor/raw", {"tensor/base", "tensor/table", "tensor/math", "tensor"}},
    {"tensor/batching", {"tensor/base", "tensor/table", "tensor", "tensor/raw"}},
    {"tensor/codegen", {"tensor/base", "tensor"}},
    {"tensor/fused", {"tensor/base", "tensor/table", "tensor", "tensor/raw", "tensor/codegen"}},
    {"autograd", {}},
    {"autograd/engine", {"autograd"}},
    {"autograd/tools", {"autograd", "autograd/engine"}},
    {"autograd/ops", {"autograd", "autograd/engine"}},
    {"autograd/ops/index", {"autograd", "autograd/engine", "autograd/ops"}},
    {"autograd/ops/linalg", {"autograd", "autograd/engine", "autograd/ops"}},
    {"autograd/ops/pointwise", {"autograd", "autograd/engine", "autograd/ops"}},
    {"autograd/ops/product", {"autograd", "autograd/engine", "autograd/ops"}},
    {"autograd/ops/random", {"autograd", "autograd/engine", "autograd/ops"}},
    {"autograd/ops/reduce", {"autograd", "autograd/engine", "autograd/ops"}},
    {"autograd/ops/shape", {"autograd", "autograd/engine", "autograd/ops"}},
    {"autograd/ops/spectral", {"autograd", "autograd/engine", "autograd/ops"}},
    {"autograd/ops/window", {"autograd", "autograd/engine", "autograd/ops"}},
    {"cpu", {}},
    {"cpu/simd", {"cpu"}},
    {"cpu/walk", {"cpu", "cpu/simd"}},
    {"cpu/ops", {"cpu", "cpu/simd", "cpu/walk"}},
    {"cpu/matmul", {"cpu", "cpu/simd", "cpu/walk"}},
    {"cpu/convolution", {"cpu", "cpu/simd", "cpu/matmul"}},
    {"cpu/fft", {"cpu", "cpu/simd"}},
    {"cuda/kernels",
     {"cuda/runtime/capture.h", "cuda/runtime/fault.h", "cuda/runtime/nonfinite.h"}},
    {"cuda/runtime", {}},
    {"cuda/rtc", {"cuda/runtime"}},
    {"cuda", {"cuda/runtime", "cuda/rtc"}},
    {"cuda/ops", {"cuda/kernels", "cuda/runtime", "cuda/rtc", "cuda"}},
    {"nn", {}},
    {"nn/utils", {"nn"}},
    {"nn/modules", {"nn", "nn/utils"}},
    {"nn/parallel", {}},
    {"optim", {}},
    {"optim/schedulers", {"optim"}},
    {"data", {}},
    {"data/readers", {}},
    {"data/samplers", {}},
    {"data/datasets", {"data", "data/readers", "data/samplers"}},
    {"data/transforms", {"data", "data/datasets"}},
    {"data/loader", {"data/datasets", "data/samplers"}},
    {"watch", {}},
    {"watch/dashboard", {"watch", "watch/guard"}},
    {"watch/guard", {"watch", "watch/profiler"}},
    {"watch/metrics", {"watch"}},
    {"watch/pictures", {"watch"}},
    {"watch/profiler", {"watch", "watch/pictures"}},
    {"watch/tensorboard", {"watch", "watch/pictures"}},
    {"distributed/job", {}},
    {"distributed/net", {"distributed/job"}},
    {"distributed", {"distributed/job", "distributed/net"}},
    {"distributed/ddp", {"distributed/job", "distributed"}},
    {"distributed/mpi", {"distributed/job", "distributed/net", "distributed"}},
    {"distributed/nccl", {"distributed/job", "distributed"}},
    {"distributed/threads", {"distributed/job", "distributed"}},
};
// Rooms above a room that its sources may include, though its headers may not.
const std::map<std::string, Names> of_sources = {
    {"tensor", {"tensor/raw", "tensor/batching", "tensor/fused"}},
    {"nn", {"nn/modules"}},
};
// Files that stand for their whole folder, and may include all of it.
const Names umbrellas = {"cuda/cuda.h", "cuda/stub.cpp", "data/data.h", "distributed/distributed.h",
                         "nn/nn.h",     "optim/optim.h"};
// Users of the library, which may include all of it, and what builds it.
const Names top = {"gradus.h", "version.h", "version.cpp", "compat", "examples", "bench",
                   "tests",    "course",    "python",      "cmake",  "scripts"};
// Rooms whose headers are internal, all of them.
const Names internal = {"autograd/ops",   "distributed/mpi", "distributed/nccl", "distributed/net",
                        "tensor/codegen", "tensor/fused",    "tensor/raw",       "tensor/batching"};
// Rooms that do not ask which device a tensor is on: a column of tensor/table/backend.def says what
// devices take. The files that may: PyTorch's defaults and arguments by device, and copies between
// devices.
const Names without_devices = {"autograd/ops/", "tensor/raw/", "tensor/batching/", "nn/modules/"};
const Names with_devices = {"autograd/ops/linalg/pinv.cpp", "autograd/ops/linalg/svd.cpp",
                            "autograd/ops/random/multinomial.cpp", "tensor/raw/copy.cpp"};
const Names skipped = {"build", "install", "docs"};
// What folders of the course may include of the library; other folders of it may include nothing. A
// student's repository holds the simulator alone.
const std::map<std::string, Names> of_library_in_course = {
    {"course/runner",
     {"cuda/sim/simulator.h", "cuda/sim/check/findings.h", "cuda/sim/check/symbols.h",
      "cuda/sim/exec/current.h", "cuda/sim/exec/place.h", "cuda/sim/runtime/variables.h"}},
    {"course/test", {"cuda/sim/simulator.h"}},
};
const Names course_with_library = {"course/plug", "course/model"};  // which may include all of it
// What students write: it includes headers of course/core alone.
const Names solutions = {"course/core/", "course/wrong/"};

// Which include no public header of cuda/ either.
const Names without_cuda = {"tensor", "cpu", "cuda/sim"};

// "nn/parallel/x.h" is in nn/parallel; "nn/modules/x.h" is in nn.
std::string folder_of(const std::string& path) {
  for (const char* room : {"nn/parallel", "cuda/sim"})
    if (path.starts_with(std::string(room) + '/')) return room;
  return path.substr(0, path.find('/'));
}

// The longest folder of a path that has a rule: "autograd/ops/index" of
// autograd/ops/index/sort.cpp.
std::string room_of(const std::string& path) {
  fs::path room = fs::path(path).parent_path();
  while (room.has_parent_path() && !below_in_folder.contains(room.generic_string()))
    room = room.parent_path();
  return room.generic_string();
}

bool is_within(const std::string& path, const Names& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](const auto& folder) { return path.starts_with(folder); });
}
bool is_solution(const std::string& path) { return is_within(path, solutions); }

// "course/tests/3.7_matmul_tiled.py": folders of the course hold such a file for each task.
bool is_of_task(const std::string& path) {
  static const std::regex pattern(R"(^course/.*/[0-9]\.[0-9]_[^/]*$)");
  return std::regex_search(path, pattern);
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
    for (const Names roots = public_cuda_; const auto& header : roots) publish(header);
    publish("gradus.h");
    if (fs::exists(root_ / "compat"))
      for (const auto& entry : fs::recursive_directory_iterator(root_ / "compat"))
        if (entry.path().extension() == ".h")
          publish(entry.path().lexically_relative(root_).generic_string());
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
    const bool is_cpp = has_extension(path_, {".h", ".cpp", ".cu", ".cuh", ".inc", ".def"});
    if (!is_cpp && !has_extension(path_, {".py", ".sh"}) && !begins_with(file, "#!")) return;
    folder_ = folder_of(path_);
    line_ = 1;
    if (!top.contains(folder_) && !below.contains(folder_)) {
      report("folder " + folder_ +
             " has no place in tests/project/layering/layering.cpp; give it one");
      return;
    }
    if (!is_of_task(path_) && ++files_[fs::path(path_).parent_path()] == max_files + 1)
      report("its folder holds more than " + std::to_string(max_files) +
             " files; give some of them a folder of their own");
    std::ifstream in(file);
    static const std::regex pattern(R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
    static const std::regex directive(R"(^\s*(module|import|export)\b)");
    const bool asks_no_device = is_within(path_, without_devices) && !with_devices.contains(path_);
    const bool nvcc_reads = has_extension(path_, {".h", ".cuh", ".cu"});
    std::smatch match;
    bool is_data = false;  // of a test: a literal that a program wrote
    for (std::string text; std::getline(in, text); ++line_) {
      const bool is_shebang = line_ == 1 && text.starts_with("#!");
      if (is_shebang && std::getline(in, text)) ++line_;
      if (line_ == (is_shebang ? 2 : 1)) check_first_line(text, is_cpp);
      is_data |= text.starts_with("R\"golden(");
      if (!is_data && std::regex_search(text, match, pattern)) check(match[2], match[1] == "\"");
      if (asks_no_device && text.find("is_cuda()") != std::string::npos)
        report(
            "asks which device a tensor is on; give the row of tensor/table/backend.def a column");
      if (nvcc_reads && std::regex_search(text, match, directive))
        report("begins with '" + match.str(1) +
               "', which nvcc takes for a directive of C++20's modules; break the line elsewhere");
    }
    const int most = path_.starts_with("course/core/") ? max_lines_of_core : max_lines;
    if (--line_ > most && !is_data)
      report("has " + std::to_string(line_) + " lines, more than " + std::to_string(most) +
             "; give a part of it a file of its own");
  }

  static bool begins_with(const fs::path& file, const std::string& text) {
    std::string begin(text.size(), '\0');
    std::ifstream(file).read(begin.data(), static_cast<std::streamsize>(begin.size()));
    return begin == text;
  }

  void check_first_line(const std::string& text, bool is_cpp) {
    static const std::regex of_cpp(R"(^// .*\w)"), of_script(R"(^(# |r?""").*\w)");
    if (!std::regex_search(text, is_cpp ? of_cpp : of_script))
      report("opens without a comment; say in one line what the file holds");
  }

  void check(const std::string& included, bool quoted) {
    if (included.starts_with("gradus/")) {
      check_arrow(included.substr(7));
    } else if (quoted && is_solution(path_) && !included.starts_with("core/")) {
      report("includes \"" + included + "\"; a solution includes headers of course/core alone");
    } else if (quoted && !top.contains(folder_)) {
      report("includes \"" + included + "\"; write it as \"gradus/FOLDER/...\"");
    } else if (is_public() && is_cuda_header(included)) {
      report("is a public header and includes <" + included + ">");
    }
  }

  void check_arrow(const std::string& target) {
    if (is_public() && target.starts_with("cuda/") && !public_cuda_.contains(target))
      report("is a public header and includes " + target + ", which is not");
    if (is_public() && is_internal(target))
      report("is a public header and includes " + target + ", which is internal");
    if (folder_ == "course") check_course(target);
    if (top.contains(folder_)) return;
    auto to = folder_of(target);
    if (to == folder_) return check_room(target);
    if (below.at(folder_).contains(to)) return;
    if (to == "cuda" && public_cuda_.contains(target) && !without_cuda.contains(folder_)) return;
    report(folder_ + "/ includes " + target + ", which is not below it");
  }

  void check_course(const std::string& target) {
    const std::string from = path_.substr(0, path_.find('/', std::string("course/").size()));
    if (course_with_library.contains(from)) return;
    const auto allowed = of_library_in_course.find(from);
    if (allowed == of_library_in_course.end() || !allowed->second.contains(target))
      report(from + "/ includes " + target + " of the library, and may not");
  }

  // Both in one folder.
  void check_room(const std::string& target) {
    const std::string from = room_of(path_), to = room_of(target);
    if (from == to || umbrellas.contains(path_)) return;
    const Names& allowed = below_in_folder.at(from);
    if (allowed.contains(to) || allowed.contains(target)) return;
    const auto above = of_sources.find(from);
    if (above != of_sources.end() && above->second.contains(to) && has_extension(path_, {".cpp"}))
      return;
    report(from + "/ includes " + target + ", which is not below it");
  }

  // A public header is one that users include, or one that it includes.
  void publish(const std::string& path) {
    if (path.starts_with("cuda/") && !public_cuda_.contains(path)) return;
    if (is_internal(path) || !public_.insert(path).second) return;
    static const std::regex include(R"re(^#include "gradus/([^"]*)")re");
    std::ifstream file(root_ / path);
    std::smatch found;
    for (std::string line; std::getline(file, line);)
      if (std::regex_search(line, found, include)) publish(found[1]);
  }
  bool is_public() const { return public_.contains(path_); }
  static bool is_internal(const std::string& path) {
    return std::any_of(internal.begin(), internal.end(),
                       [&](const auto& room) { return path.starts_with(room + '/'); });
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
  Names public_cuda_, public_;
  std::vector<std::string> found_;
  std::map<std::string, int> files_;  // by folder
  std::string path_, folder_;
  int line_ = 0;
};

}  // namespace

std::vector<std::string> breaches(const fs::path& root,
                                  const std::vector<std::string>& public_cuda) {
  return Reader(root, public_cuda).read_tree();
}
