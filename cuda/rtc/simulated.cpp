// Programs for simulated devices: the host's g++ makes a library of them, as
// cuda/sim/simulate.cmake has the kernels of the project compiled.
#ifdef GRADUS_SIMULATED
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "gradus/cuda/rtc/compiler.h"

namespace gradus::cuda::rtc {

namespace fs = std::filesystem;

namespace {

// Where the simulator is: in the tree it was built from, or where it was installed.
struct Simulator {
  fs::path scripts;  // compile and kernel.options
  std::vector<fs::path> includes;
};

const Simulator& simulator() {
  static const Simulator found = [] {
    const Simulator known[] = {
        {GRADUS_SIM_SOURCE, {GRADUS_SIM_SOURCE "/include", GRADUS_SIM_BUILD_INCLUDE}},
        {GRADUS_SIM_INSTALLED,
         {GRADUS_SIM_INSTALLED_INCLUDE "/gradus/cuda/sim/include", GRADUS_SIM_INSTALLED_INCLUDE}}};
    for (const Simulator& each : known)
      if (fs::exists(each.scripts / "kernel.options")) return each;
    fail<Error>("Program: kernels for simulated devices need the simulator's headers, and neither ",
                GRADUS_SIM_SOURCE, " nor ", GRADUS_SIM_INSTALLED,
                " has kernel.options; install gradus there, or keep the tree it was built from");
  }();
  return found;
}

struct Outcome {
  bool succeeded;
  std::string output;
};

Outcome run(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) {
    command += '\'';
    for (const char c : word) c == '\'' ? command += "'\\''" : command += c;
    command += "' ";
  }
  std::FILE* out = popen((command + "2>&1 </dev/null").c_str(), "r");
  if (!out) return {false, "the shell could not be started"};
  std::string text;
  char piece[4096];
  while (const size_t n = std::fread(piece, 1, sizeof piece, out)) text.append(piece, n);
  const int status = pclose(out);
  return {WIFEXITED(status) && WEXITSTATUS(status) == 0, std::move(text)};
}

// A folder of its own, while it lives.
class Folder {
 public:
  Folder() {
    std::error_code none;
    std::string name = (fs::temp_directory_path(none) / "gradus-XXXXXX").string();
    check<Error>(!none && mkdtemp(name.data()), "Program: no folder can be made in ",
                 fs::temp_directory_path(none).string(),
                 ", where kernels are compiled; set TMPDIR to a folder that can be written");
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    if (getpid() == owner_) fs::remove_all(path, ignored);  // not a child of the process
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  fs::path path;

 private:
  const pid_t owner_ = getpid();
};

void write(const fs::path& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out << bytes;
  out.close();
  check<Error>(bool(out), "Program: ", path.string(), " cannot be written; is the disk full?");
}

// Where a comment or a text in quotes that begins at `at` ends; `at` where none begins there.
size_t end_of_text(std::string_view text, size_t at) {
  const auto after = [&](std::string_view end, size_t from) {
    return std::min(text.find(end, from), text.size() - end.size()) + end.size();
  };
  if (text.substr(at).starts_with("//")) return after("\n", at) - 1;
  if (text.substr(at).starts_with("/*")) return after("*/", at + 2);
  if (text[at] != '"' && text[at] != '\'') return at;
  size_t end = at + 1;
  while (end < text.size() && text[end] != text[at] && text[end] != '\n')
    end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

// NVRTC has little of the standard library, and none of its headers. The host's compiler has them:
// what a GPU would refuse gets a name that it does not know either, at the same line.
std::string for_nvrtc(const std::string& text) {
  const std::regex use(
      R"(std::(?!(move|forward|initializer_list)\b)|#[ \t]*include[ \t]*<(?=\w+>))",
      std::regex::optimize);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    std::smatch found;
    const bool is_word =
        at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_');
    if (const size_t end = end_of_text(text, at); end > at) {
      out.append(text, at, end - at);
      at = end;
    } else if ((text[at] == 's' || text[at] == '#') && !is_word &&
               std::regex_search(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), found,
                                 use, std::regex_constants::match_continuous)) {
      out += text[at] == '#' ? found.str() + "NVRTC_has_no_" : "NVRTC_has_no_std::";
      at += static_cast<size_t>(found.length());
    } else {
      out += text[at++];
    }
  }
  return out;
}

// The text is the user's, its lines too; then comes a function for each kernel, which makes it
// known to the simulator.
std::string unit_of(const Job& job) {
  std::string out =
      line_directive(job.source.file(), job.source.line()) + for_nvrtc(job.source.text()) + '\n';
  for (size_t i = 0; i < job.kernels.size(); ++i)
    out += line_directive("kernel name '" + job.kernels[i] + "'", 1) +
           "extern \"C\" const void* gradus_kernel_" + std::to_string(i) +
           "() { return gradus::cuda::sim::handle(" + job.kernels[i] + "); }\n";
  return out;
}

bool is_for_simulator(const std::string& option) {
  return std::ranges::any_of(std::initializer_list<const char*>{"-D", "-U", "-I", "-std="},
                             [&](const char* each) { return option.starts_with(each); });
}

// The notes of the script `compile` name the file that it was given.
std::string in_users_terms(std::string text, const std::string& file, const Source& source) {
  for (size_t at; (at = text.find(file + ":")) != std::string::npos;) {
    char* end = nullptr;
    const long line = std::strtol(text.c_str() + at + file.size() + 1, &end, 10);
    const size_t length = static_cast<size_t>(end - text.c_str()) - at;
    text.replace(at, length, source.file() + ":" + std::to_string(source.line() + line - 2));
  }
  return text;
}

}  // namespace

std::string compiler_version() {
  static const std::string once = [] {
    const Simulator& sim = simulator();
    auto last = std::max(fs::last_write_time(sim.scripts / "kernel.options"),
                         fs::last_write_time(sim.scripts / "compile"));
    for (const auto& each : fs::recursive_directory_iterator(sim.includes[0]))
      last = std::max(last, each.last_write_time());
    return "simulator without std::, " GRADUS_SIM_COMPILER ", " GRADUS_SIM_COMPILER_VERSION ", " +
           sim.scripts.string() + " of " + std::to_string(last.time_since_epoch().count());
  }();
  return once;
}

std::string compile(const Job& job) {
  const Simulator& sim = simulator();
  const Folder folder;
  const std::string source = folder.path / "kernel.cu", object = folder.path / "kernel.o",
                    library = folder.path / "kernel.so";
  write(source, unit_of(job));
  // Two programs may have functions of the same name, which are not the same.
  std::vector<std::string> command{
      sim.scripts / "compile", GRADUS_SIM_COMPILER, "-std=c++20", "-fPIC", "-fno-gnu-unique", "-w",
      "-DGRADUS_SIMULATED"};
  for (const fs::path& each : sim.includes) command.insert(command.end(), {"-isystem", each});
  command.insert(command.end(), {"-x", "c++", "@" + (sim.scripts / "kernel.options").string()});
  std::ranges::copy_if(job.options, std::back_inserter(command), is_for_simulator);
  command.insert(command.end(), {"-c", source, "-o", object});
  const Outcome compiled = run(command);
  check<CompileError>(compiled.succeeded, "the kernel given at ", job.source.place(),
                      " does not compile:\n", in_users_terms(compiled.output, source, job.source));
  const Outcome linked =
      run({GRADUS_SIM_COMPILER, "-shared", "-Wl,-Bsymbolic", object, "-o", library});
  check<Error>(linked.succeeded, "Program: the kernel given at ", job.source.place(),
               " does not link:\n", linked.output);
  std::ifstream in(library, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Kernels find the simulator by name, also where a plugin or Python has loaded it for itself alone.
void show_simulator() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&show_simulator), &self))
    dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

std::vector<const void*> load(const std::string& program, const Job& job) {
  static const bool shown = (show_simulator(), true);
  static_cast<void>(shown);
  static const Folder folder;  // findings read names and lines from it
  static std::atomic<int> number{0};
  const std::string file = folder.path / ("kernel-" + std::to_string(number++) + ".so");
  write(file, program);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail<Error>("Program: the kernel given at ", job.source.place(),
                " cannot be loaded: ", dlerror(),
                "; a program that does not link gradus by CMake needs -rdynamic");
  std::vector<const void*> out;
  for (size_t i = 0; i < job.kernels.size(); ++i) {
    const std::string name = "gradus_kernel_" + std::to_string(i);
    const auto declare = reinterpret_cast<const void* (*)()>(dlsym(library, name.c_str()));
    check<Error>(declare, "Program: the kernel given at ", job.source.place(), " has no ", name);
    out.push_back(declare());
  }
  return out;
}

}  // namespace gradus::cuda::rtc
#endif
